from pmlbook.per_record.queries import Query as Query, SumQuery as SumQuery, counting as counting
from pmlbook.per_record.queries import modular_sum as modular_sum
from pmlbook.per_record.queries import pairwise_products as pairwise_products, parity as parity
from pmlbook.per_record.queries import threshold as threshold

from pmlbook.per_record.certificate import Adversary as Adversary, leakage_curve as leakage_curve
from pmlbook.per_record.parity import parity_leakage as parity_leakage
from pmlbook.per_record.dp_bound import dp_leakage_bound as dp_leakage_bound

from pmlbook.foundations.classic import randomized_response as randomized_response
from pmlbook.foundations.classic import exponential as exponential, geometric as geometric
from pmlbook.foundations.classic import binary_symmetric as binary_symmetric
from pmlbook.foundations.classic import laplace_threshold as laplace_threshold
from pmlbook.extremal.randomized_response import randomized_response_for_pml as randomized_response_for_pml
from pmlbook.extremal.privacy_regions import privacy_regions as privacy_regions
from pmlbook.extremal.privacy_regions import privacy_region as privacy_region
from pmlbook.extremal.binary import binary_mechanism as binary_mechanism
from pmlbook.extremal.high_privacy import high_privacy_mechanism as high_privacy_mechanism
from pmlbook.extremal.uniform import uniform_mechanism as uniform_mechanism
from pmlbook.worst_case.utility_safe import utility_safe_mechanism as utility_safe_mechanism
from pmlbook.worst_case.expected_utility import expected_utility_mechanism as expected_utility_mechanism
from pmlbook.worst_case.frontier import worst_case_frontier as worst_case_frontier
from pmlbook.extremal.cardinality import reduce_outputs as reduce_outputs
from pmlbook.extremal.atlas import optimum_under as optimum_under, AtlasEntry as AtlasEntry
from pmlbook.beyond.delta_mechanism import delta_mechanism as delta_mechanism, DeltaDesign as DeltaDesign

from .utility_safe import utility_safe_mechanism as utility_safe_mechanism
from .least_leakage import min_leakage as min_leakage
from .frontier import worst_case_frontier as worst_case_frontier
from .frontier import worst_case_mechanism as worst_case_mechanism
from .expected_utility import expected_utility_mechanism as expected_utility_mechanism

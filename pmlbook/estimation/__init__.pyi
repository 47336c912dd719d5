from .two_way_table import two_way as two_way
from .two_way_table import TwoWay as TwoWay
from .regression import regression_of_release as regression_of_release
from .regression import regression_on_release as regression_on_release
from .optimal_design import estimation_variance as estimation_variance
from .enumerated_design import estimation_mechanism as estimation_mechanism
from .regression_scores import Regression as Regression

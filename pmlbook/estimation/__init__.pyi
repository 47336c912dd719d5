from .two_way_table import two_way as two_way
from .two_way_table import TwoWay as TwoWay
from .regression import regress as regress
from .optimal_design import estimation_variance as estimation_variance
from .enumerated_design import estimation_mechanism as estimation_mechanism
from .regression_scores import Regression as Regression
from .accuracy import Accuracy as Accuracy
from .accuracy import level_for_error as level_for_error

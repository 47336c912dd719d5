from pmlbook.release.estimation import Estimate as Estimate
from pmlbook.estimation.targets import estimation_variance as estimation_variance
from pmlbook.release.two_way import two_way as two_way, TwoWay as TwoWay
from pmlbook.release.regression import regression_on_release as regression_on_release
from pmlbook.release.regression import regression_of_release as regression_of_release
from pmlbook.release.regression_scores import Regression as Regression
from pmlbook.beyond.line_design import mean_mechanism as mean_mechanism, LineDesign as LineDesign
from pmlbook.beyond.line_quantile import quantile_mechanism as quantile_mechanism
from pmlbook.beyond.line_quantile import QuantileDesign as QuantileDesign
from pmlbook.beyond.line_quantile import QuantileEstimate as QuantileEstimate

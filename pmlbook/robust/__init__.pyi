from .estimated_prior import ball_region as ball_region
from .estimated_prior import box_region as box_region
from .estimated_prior import prior_from_counts as prior_from_counts
from .estimated_prior import worst_leakage as worst_leakage
from .robust_design import robust_mechanism as robust_mechanism

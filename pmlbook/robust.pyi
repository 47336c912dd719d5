from pmlbook.practice.estimated_prior import prior_from_counts as prior_from_counts
from pmlbook.practice.estimated_prior import box_region as box_region, ball_region as ball_region
from pmlbook.practice.estimated_prior import worst_leakage as worst_leakage
from pmlbook.practice.robust import robust_mechanism as robust_mechanism
from pmlbook.hamming.source_sets import SourceSet as SourceSet

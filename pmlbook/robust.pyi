from pmlbook.practice.estimated_prior import prior_from_counts as prior_from_counts
from pmlbook.practice.estimated_prior import box_region as box_region, ball_region as ball_region
from pmlbook.practice.estimated_prior import worst_leakage as worst_leakage
from pmlbook.beyond.cost_adversaries import worst_cost_leakage as worst_cost_leakage
from pmlbook.practice.robust import robust_mechanism as robust_mechanism
from pmlbook.practice.region_frontier import robust_min_leakage as robust_min_leakage
from pmlbook.practice.region_frontier import robust_frontier as robust_frontier
from pmlbook.hamming.source_sets import SourceSet as SourceSet
from pmlbook.hamming.intervals import IntervalSet as IntervalSet
from pmlbook.hamming.shared_labels import min_loss as min_loss

from pmlbook.practice.composition import compose as compose, composed_level as composed_level
from pmlbook.practice.composition import JointRelease as JointRelease
from pmlbook.beyond.repeated_releases import repeated_leakage as repeated_leakage
from pmlbook.beyond.repeated_releases import RepeatedLeakage as RepeatedLeakage
from pmlbook.budget.log import ReleaseLog as ReleaseLog

from .source_sets import SourceSet as SourceSet
from .exact import dp_leakage as dp_leakage
from .exact import min_distortion as min_distortion
from .mutual_information import mi_leakage as mi_leakage

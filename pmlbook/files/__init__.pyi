from .release import release_file as release_file
from .engines import release_frame as release_frame
from .tables import Layout as Layout

from .release import release_file as release_file
from .large_tables import release_dask as release_dask
from .tables import Layout as Layout

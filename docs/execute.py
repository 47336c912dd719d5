"""Execute the notebooks of the book in parallel and fill the cache that Sphinx reads."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

import conf
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from nbdev_reader import read

NBS = conf.here.parent / "nbs"
STARTS = 4  # a port chosen for a kernel may be taken before the kernel binds it


def cached(cache, notebook):
    """Whether the cache holds this notebook."""
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def execute(path):
    """Run one notebook in a kernel of its own, where it stands."""
    notebook = read(path.read_text(encoding="utf-8"))
    where, seconds = str(path.parent), conf.nb_execution_timeout
    for _ in range(STARTS - 1):
        try:
            return path, single_nb_execution(notebook, where, seconds, False)
        except RuntimeError as error:  # the kernel died before its first answer
            print(f"        {path.relative_to(NBS)}: {error}; starting it again", flush=True)
    return path, single_nb_execution(notebook, where, seconds, False)


if __name__ == "__main__":
    cache = get_cache(conf.nb_execution_cache_path)
    paths = [p for p in sorted(NBS.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]
    missing = [p for p in paths if not cached(cache, read(p.read_text(encoding="utf-8")))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for its own kernel
        for done in as_completed([pool.submit(execute, path) for path in missing]):
            path, result = done.result()
            if result.err is not None:
                sys.exit(f"{path.relative_to(NBS)} failed:\n{result.exc_string}")
            bundle = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            print(f"{result.time:6.1f} s  {path.relative_to(NBS)}", flush=True)

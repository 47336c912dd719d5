"""Execute the notebooks of the book in parallel and fill the cache that Sphinx reads.

usage: execute.py [--test]

With ``--test`` all are executed as a reader of the live chapters does it, with widgets; nothing is kept, and
every notebook that fails is told.

Every notebook gets a process of its own, forked from a server that has imported the slow packages:
a chapter costs what it computes, not another import of SciPy and Matplotlib. On Windows, where nothing
forks, each imports them.
"""

import gc
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pkgutil import walk_packages

import conf
from course import blank
from execnb.shell import CaptureShell, format_exc
from matplotlib.pyplot import uninstall_repl_displayhook
from nbdev_reader import read
from nbformat import from_dict

import pmlbook
from pmlbook.display.plots import themed

NBS = conf.here.parent / "nbs"
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
SERVER = multiprocessing.get_context("forkserver" if FORKS else "spawn")
SLOW = """execute matplotlib.pyplot scipy.optimize scipy.stats pandas sympy statsmodels.api z3 ipywidgets""".split()


def cached(cache, notebook):
    """Whether the cache holds this notebook."""
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def inlined(output, name):
    """An output whose SVG has become a part of the page, so that it follows the theme."""
    svg = output.get("data", {}).pop("image/svg+xml", None)
    if svg is not None:
        output["data"]["text/html"] = themed("".join(svg), f"fig-{name}")
    return from_dict(output)


def complaint(shell, outputs):
    """The traceback of a cell: of its code, or of a result that could not be shown, which IPython only prints."""
    if shell.exc is not None:
        return "".join(format_exc(shell.exc))
    printed = ["".join(output.get("text", "")) for output in outputs]
    return next((text for text in printed if "Traceback (most recent call last)" in text), None)


def execute(path, book=True):
    """Run one notebook where it stands: path, notebook with its outputs, error, seconds."""
    start, notebook = time.perf_counter(), read(path.read_text(encoding="utf-8"))
    os.chdir(path.parent)
    gc.freeze()  # what was imported is no garbage; looking through it again takes long
    if not book:
        os.environ.pop("PMLBOOK_STATIC", None)
    timeout = conf.nb_execution_timeout if hasattr(signal, "SIGALRM") else None  # else none rings
    shell = CaptureShell(mpl_format="svg" if book else "png", timeout=timeout)
    uninstall_repl_displayhook()  # else each figure is drawn once more, for nobody
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for count, cell in enumerate(code, start=1):
        if "skip-execution" in cell.metadata.get("tags", []):
            continue
        if (unanswered := blank(cell.source)) is not None:
            shell.run(unanswered)
            if shell.exc is None:
                error = f"an exercise is right without an answer:\n{unanswered}"
                return path, notebook, error, time.perf_counter() - start
        cell.outputs = [inlined(output, cell.id) for output in shell.run(cell.source)]
        cell.execution_count = count
        error = complaint(shell, cell.outputs)
        if error is not None:
            return path, notebook, error, time.perf_counter() - start
    return path, notebook, None, time.perf_counter() - start


def report(path, book, sender):
    """Execute a notebook and send what came of it."""
    sender.send(execute(path, book))


def execute_apart(path, book=True):
    """What `execute` returns, from a process of its own."""
    receiver, sender = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=report, args=(path, book, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return path, None, "its process died", 0.0
    finally:
        process.join()


if __name__ == "__main__":
    os.chdir(conf.here)  # from where the server can import this file
    if FORKS:
        from multiprocessing.forkserver import ensure_running

        own = [module.name for module in walk_packages(pmlbook.__path__, "pmlbook.")]
        SERVER.set_forkserver_preload(SLOW + own)
        ensure_running()  # it loads them while the cache is asked
    book, failed = "--test" not in sys.argv[1:], []
    paths = [p for p in sorted(NBS.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]
    if book:
        from jupyter_cache import get_cache  # slow to import, and no chapter needs it
        from jupyter_cache.base import CacheBundleIn

        cache = get_cache(conf.nb_execution_cache_path)
        paths = [p for p in paths if not cached(cache, read(p.read_text(encoding="utf-8")))]
    paths.sort(key=lambda path: -path.stat().st_size)  # no long chapter alone at the end
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for its own process
        for done in as_completed([pool.submit(execute_apart, path, book) for path in paths]):
            path, notebook, error, seconds = done.result()
            if error is not None:
                failed.append(str(path.relative_to(NBS)))
                print(f"{failed[-1]} failed:\n{error}", file=sys.stderr, flush=True)
                if book:
                    pool.shutdown(cancel_futures=True)
                    break
            elif book:
                bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
                print(f"{seconds:6.1f} s  {path.relative_to(NBS)}", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    if not book:
        print(f"{len(paths)} notebooks ran")

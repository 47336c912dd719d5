"""Change exported code at random, one small change at a time, and say who notices.

usage: mutants.py COUNT SEED [PART ...]

The changes are those of ``evidence.py``, of every kind. One is *noticed* if its own chapter fails or does not
end, or else the tests that mention what the chapter exports. Each is made in a clone of the last commit, never
here. This is a report, not a test: some changes alter nothing, and a reader decides which.
"""

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from evidence import changed, changes

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
UNTOUCHED = ("plots", "explore", "progress", "command_line", "experiments", "scale")
WORKERS = 2


def places(root, parts):
    """All changes of the exported cells: triples of notebook, cell and number within the cell."""
    for path in sorted((root / "nbs").rglob("*.ipynb")):
        if (parts and path.parent.name not in parts) or any(
            word in path.stem for word in UNTOUCHED
        ):
            continue
        for cell, source in enumerate(sources(path)):
            if source.startswith("#| export") and "def " in source:
                yield from (
                    (path.relative_to(root), cell, k)
                    for k in range(len(changes(ast.parse(source), every=True)))
                )


def mutant(source, place):
    """A cell with the change at one place, still exported, and that change in words."""
    new, words = changed(source, place, every=True)
    magic = [line for line in source.splitlines() if line.startswith("#|")]
    return "\n".join([*magic, new]), words[:160]


def sources(path):
    """The sources of a notebook's cells; of texts an empty one."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(c["source"]) if c["cell_type"] == "code" else "" for c in cells]


def witnesses(root, path):
    """The test files that mention what a notebook exports, most mentions first, at most eight."""
    exported = [s for s in sources(root / path) if s.startswith("#| export")]
    defined = {d.name for s in exported for d in ast.parse(s).body if hasattr(d, "name")}
    words = {
        name: Counter(re.findall(r"\w+", name.read_text(encoding="utf-8")))
        for name in root.glob("tests/**/test_*.py")
    }
    counts = {name: sum(found[d] for d in defined) for name, found in words.items()}
    return [str(name) for name in sorted(counts, key=counts.get, reverse=True) if counts[name]][:8]


def passes(root, seconds, *command):
    """Whether a command of the environment ends well, and in time, in a clone."""
    environment = os.environ | {
        "PYTHONPATH": str(root),
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
    }
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    with subprocess.Popen(
        [BIN / command[0], *command[1:]], cwd=root, env=environment, **quiet
    ) as process:
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return False


def verdict(root, path, cell, source):
    """Who notices a cell's new source: 'chapter', 'tests' or 'nobody'. The clone is as before afterwards."""
    book = json.loads((root / path).read_text(encoding="utf-8"))
    book["cells"][cell]["source"] = source
    try:
        (root / path).write_text(json.dumps(book), encoding="utf-8")
        if not passes(root, 300, "nbdev_test", "--path", str(path), "--n_workers", "1"):
            return "chapter"
        passes(root, 120, "nbdev_export")
        module = f"pmlbook/{path.parent.name}/{re.sub(r'^[0-9]+_', '', path.stem)}.py"
        found = passes(
            root, 900, "pytest", "-xq", "--doctest-modules", module, *witnesses(root, path)
        )
        return "nobody" if found else "tests"
    finally:
        subprocess.run(["git", "checkout", "-q", "."], cwd=root, check=True)


def drawn(root, count, seed, parts):
    """As many random mutants as asked for: notebook, cell, source, and the change in words."""
    everything = list(places(root, parts))
    for path, cell, place in random.Random(seed).sample(everything, min(count, len(everything))):
        source, words = mutant(sources(root / path)[cell], place)
        name = path.relative_to("nbs").with_suffix("").as_posix()
        yield path, cell, source, f"{name}: {words}"


def main(count, seed, parts):
    """Judge the mutants in clones, a line each."""
    clones, free = [tempfile.mkdtemp(prefix="mutants") for _ in range(WORKERS)], SimpleQueue()
    for clone in clones:
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        free.put(Path(clone))

    def judge(job):
        path, cell, source, words = job
        root = free.get()
        try:
            said = verdict(root, path, cell, source)
        finally:
            free.put(root)
        print(f"{said:8} {words}", flush=True)
        return said

    try:
        with ThreadPoolExecutor(WORKERS) as pool:
            said = Counter(pool.map(judge, list(drawn(Path(clones[0]), count, seed, parts))))
    finally:
        for clone in clones:
            shutil.rmtree(clone)
    print(
        f"{said.total()} mutants: "
        + ", ".join(f"{said[who]} by {who}" for who in ("chapter", "tests", "nobody"))
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])

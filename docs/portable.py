"""Run the notebooks and the tests as other processors compute them, and print a line for each.

usage: portable.py [--notebooks] [NAME ...]

NumPy and SciPy multiply matrices with OpenBLAS, which has other code, hence other last digits, for each
family of processors; NumPy has other loops, and the C library other logarithms, where a processor lacks
AVX. Each can be asked for here. A name that this processor cannot run is said and skipped. The exit is 1
if anything fails. ``--notebooks`` leaves the tests out.
"""

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__ as loops

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# What NumPy and the C library would find on a processor of 2008.
NO_AVX = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(loops),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4",
}
KERNELS = ("SkylakeX", "Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott")
SETTINGS = {name: {"OPENBLAS_CORETYPE": name} for name in KERNELS}
SETTINGS["Haswell-two-threads"] = {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "2"}
SETTINGS["Prescott-no-AVX"] = {"OPENBLAS_CORETYPE": "Prescott"} | NO_AVX
TRIAL = "import numpy, scipy.linalg; scipy.linalg.inv(numpy.eye(9) + numpy.ones((9, 9)))"
NOTEBOOKS = ("python", "docs/execute.py", "--test")
TESTS = ("pytest", "-n", "2", "--dist", "loadfile", "--doctest-modules", "tests", "pmlbook")
TESTS += ("--ignore=tests/browser",)
BROKEN = re.compile(r"^(\S+\.ipynb) failed:$|^(?:FAILED|ERROR) (\S+)", re.M)


def failures(environment, command, *options):
    """What a command of the environment says has failed: none, or names."""
    done = subprocess.run(
        [BIN / command, *options], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    named = sorted({book or test for book, test in BROKEN.findall(done.stdout + done.stderr)})
    unnamed = [] if done.returncode == 0 else [f"{command} ends with {done.returncode}"]
    return named or unnamed


def runs(environment):
    """Whether this processor has the instructions that a setting asks for; elsewhere than on x86 they are ignored."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    return subprocess.run([sys.executable, "-c", TRIAL], env=environment).returncode == 0


def main(names, commands):
    """Print a line for each setting: what fails, and the seconds. Whether anything failed."""
    failed = False
    for name in names:
        environment = os.environ | {"OMP_NUM_THREADS": "1"} | SETTINGS[name]
        if not runs(environment):
            print(f"| {name} | not on this processor |", flush=True)
            continue
        start = time.monotonic()
        found = [failures(environment, *command) for command in commands]
        failed |= any(found)
        cells = [", ".join(broken) or "none" for broken in found]
        print(f"| {name} | {' | '.join(cells)} | {time.monotonic() - start:.0f} s |", flush=True)
    return failed


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--notebooks"]
    commands = [NOTEBOOKS] if "--notebooks" in sys.argv else [NOTEBOOKS, TESTS]
    if unknown := set(names) - set(SETTINGS):
        sys.exit(f"{', '.join(sorted(unknown))}: none of {', '.join(SETTINGS)}")
    titles = ["notebooks that fail", "tests that fail"][: len(commands)]
    print(f"| processor | {' | '.join(titles)} | time |", flush=True)
    sys.exit(main(names or SETTINGS, commands))

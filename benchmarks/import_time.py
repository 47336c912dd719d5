"""How long `import pmlbook`, all of its names, and `pmlbook --help` take, beside Python alone and what the library stands on."""

import subprocess
import sys
from pathlib import Path
from time import perf_counter

RUNS = 15
ALL = """import pmlbook
for name in pmlbook.__all__:
    part = getattr(pmlbook, name)
    [getattr(part, each) for each in getattr(part, "__all__", ())]"""
PROGRAM = str(Path(sys.executable).with_name("pmlbook"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import numpy, scipy.optimize": [sys.executable, "-c", "import numpy, scipy.optimize"],
    "import pmlbook": [sys.executable, "-c", "import pmlbook"],
    "all public names": [sys.executable, "-c", ALL],
    "pmlbook --version": [PROGRAM, "--version"],
    "pmlbook --help": [PROGRAM, "--help"],
}


def seconds(command: list[str]) -> float:
    """Time of a whole process."""
    start = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - start


if __name__ == "__main__":
    runs = [{name: seconds(command) for name, command in COMMANDS.items()} for _ in range(RUNS)]
    least = {name: min(run[name] for run in runs) for name in COMMANDS}
    bare, numpy = least["python -c pass"], least["import numpy"]
    for name, time in least.items():
        print(f"{name}: {time:.3f} s, {time / bare:.1f} times Python alone")
    print(f"help: {least['pmlbook --help'] / numpy:.2f} times Python with NumPy (goal: under 3)")
    ours = least["all public names"] / least["import numpy, scipy.optimize"]
    print(f"all names: {ours:.2f} times numpy and scipy")

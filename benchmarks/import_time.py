"""How much longer `import pmlbook` takes than importing the numpy and scipy it stands on."""

import subprocess
import sys

TIMED = "from time import perf_counter; start = perf_counter(); {}; print(perf_counter() - start)"
RUNS = 15


def seconds(statement: str) -> float:
    """Time of an import in a fresh interpreter."""
    command = [sys.executable, "-c", TIMED.format(statement)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    statements = ("import numpy, scipy.optimize", "import pmlbook")
    base, ours = (min(times) for times in zip(*(map(seconds, statements) for _ in range(RUNS))))
    print(f"{statements[0]}: {base:.3f} s")
    print(f"{statements[1]}: {ours:.3f} s, {ours / base:.2f} times as long (goal: at most 1.3)")

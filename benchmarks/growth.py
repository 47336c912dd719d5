"""Growth of the search from a hundred to a hundred thousand secrets: processor seconds, peak of memory, relative gap.

Run: OMP_NUM_THREADS=1 python benchmarks/growth.py [--sizes 100 1000] [--levels 1] [--seeds 3] [--write benchmarks/growth.csv]
Each call has a process of its own, so that its memory can be told. The prior is random, 1e-3 + uniform, normalised.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import warnings
from time import process_time

import numpy as np

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
FIELDS = ("secrets", "epsilon", "seed", "seconds", "megabytes", "relative_gap", "outcomes")


def once(n: int, epsilon: float, seed: int) -> None:
    """Measure one call in this process, and print a line."""
    from pmlbook import optimal_mechanism

    prior = 1e-3 + np.random.default_rng(seed).random(n)
    prior /= prior.sum()
    warnings.simplefilter("ignore")
    optimal_mechanism([0.4, 0.3, 0.2, 0.1], 0.5)  # loads what is needed
    began = process_time()
    design = optimal_mechanism(prior, epsilon)
    seconds = process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    outcomes = design.mechanism.channel.shape[1]
    gap = design.gap / design.value
    print(f"{n},{epsilon:g},{seed},{seconds:.2f},{peak:.0f},{gap:.1e},{outcomes}")


def main() -> None:
    """Print all lines, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--levels", type=float, nargs="*", default=[1.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write")
    parser.add_argument("--once", nargs=3)
    asked = parser.parse_args()
    if asked.once:
        once(int(asked.once[0]), float(asked.once[1]), int(asked.once[2]))
        return
    lines = [",".join(FIELDS)]
    print(lines[0])
    for n in asked.sizes:
        for epsilon in asked.levels:
            for seed in range(asked.seeds):
                call = [sys.executable, __file__, "--once", str(n), str(epsilon), str(seed)]
                lines.append(
                    subprocess.run(call, capture_output=True, text=True, check=True).stdout
                )
                print(lines[-1], end="", flush=True)
    if asked.write:
        with open(asked.write, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                line.strip().split(",") for line in lines
            )


if __name__ == "__main__":
    main()

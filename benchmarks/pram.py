"""The most answers that PRAM keeps at a level, against two-stage PRAM at the level that it has.

Run: OMP_NUM_THREADS=1 python benchmarks/pram.py [--sizes 4 10 50 100 300] [--keep 0.8] [--alpha 0.5]
`alpha` is the part of the two stages that sdcMicro mixes with the matrix that changes nothing; 1 is two-stage PRAM.
Seconds and gap are those of the invariant optimum; the last column is the optimum without invariance.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from pmlbook.extremal import pram_mechanism, two_stage_pram
from pmlbook.foundations.leakage import epsilon_pml


def main() -> None:
    """A line for each size and kind of prior."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[4, 10, 50, 100, 300])
    parser.add_argument("--keep", type=float, default=0.8)
    parser.add_argument("--alpha", type=float, default=1.0)
    asked = parser.parse_args()
    print("   N  prior      level  two-stage  invariant  seconds      gap  any matrix")
    for n in asked.sizes:
        harmonic = 1 / np.arange(1.0, n + 1)
        drawn = np.random.default_rng(n).dirichlet(np.ones(n)) + 1e-6
        for name, weights in (("harmonic", harmonic), ("random", drawn)):
            prior = weights / weights.sum()
            classic = asked.alpha * two_stage_pram(prior, asked.keep)
            classic += (1 - asked.alpha) * np.eye(n)
            level = epsilon_pml(classic, prior)
            begin = perf_counter()
            best = pram_mechanism(prior, level)
            seconds = perf_counter() - begin
            free = pram_mechanism(prior, level, invariant=False)
            print(
                f"{n:4d}  {name:8s} {level:7.3f} {prior @ classic.diagonal():10.3f} {best.value:10.3f}"
                f" {seconds:8.2f} {best.gap:8.1e} {free.value:11.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

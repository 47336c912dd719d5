"""Mechanisms for every prior of a region: certified gap and time for more secrets than can be listed.

Run: python benchmarks/robust.py [--sizes 12 20 30 50] [--level 0.5] [--people 2000]
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time

import numpy as np

import pmlbook as pb


def shares(kind: str, n: int) -> np.ndarray:
    """Shares of n answers, drawn at random or in proportion to 1/k."""
    if kind == "random":
        return np.random.default_rng(n).dirichlet(np.full(n, 2.0))
    harmonic = 1 / np.arange(1, n + 1)
    return harmonic / harmonic.sum()


def row(kind: str, n: int, people: int, level: float) -> None:
    """Value, bound, open gap as a part of the value, and processor seconds."""
    counts = np.random.default_rng(4).multinomial(people, shares(kind, n))
    region, begin = pb.box_region(counts, zeros="add"), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.robust_mechanism(region, level)
    print(
        f"{kind:>7} {n:4d} {design.value:10.6f} {design.bound:10.6f} {design.gap / design.value:9.1e}"
        f" {process_time() - begin:8.1f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[12, 20, 30, 50])
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--level", type=float, default=0.5)
    options = parser.parse_args()
    print(" shares    N      value      bound       gap  seconds")
    for kind in ("random", "1/k"):
        for n in options.sizes:
            row(kind, n, options.people, options.level)

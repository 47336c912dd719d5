"""Mechanisms for every prior of a region: columns made when they are needed against all of them, then alone.

Run: python benchmarks/robust.py [--against 7 8 9] [--sizes 12 20 30 50] [--level 0.5] [--people 2000]
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time
from unittest.mock import patch

import numpy as np

import pmlbook as pb
from pmlbook.robust import robust_design as robust


def shares(kind: str, n: int) -> np.ndarray:
    """Shares of n answers, drawn at random or in proportion to 1/k."""
    if kind == "random":
        return np.random.default_rng(n).dirichlet(np.full(n, 2.0))
    harmonic = 1 / np.arange(1, n + 1)
    return harmonic / harmonic.sum()


def designed(kind: str, n: int, people: int, level: float) -> tuple[pb.Design, float]:
    """A design for the region of a sample, and its processor seconds."""
    counts = np.random.default_rng(4).multinomial(people, shares(kind, n))
    region, begin = pb.robust.box_region(counts, zeros="add"), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.robust.robust_mechanism(region, level)
    return design, process_time() - begin


def against(kind: str, n: int, people: int, level: float) -> None:
    """Ratio of seconds and of values: all columns listed, then as if there were too many for that."""
    listed, slow = designed(kind, n, people, level)
    with patch.object(robust, "MAX_REGION_SECRETS", n - 1):
        made, fast = designed(kind, n, people, level)
    print(
        f"{kind:>7} {n:4d} {slow:9.1f} {fast:7.1f} {slow / fast:7.2f} {made.value / listed.value:12.5f}"
        f" {listed.gap / listed.value:12.1e} {made.gap / made.value:9.1e}",
        flush=True,
    )


def alone(kind: str, n: int, people: int, level: float) -> None:
    """Value, bound, open gap as a part of the value, and processor seconds."""
    design, seconds = designed(kind, n, people, level)
    print(
        f"{kind:>7} {n:4d} {design.value:10.6f} {design.bound:10.6f} {design.gap / design.value:9.1e}"
        f" {seconds:8.1f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=int, nargs="*", default=[7, 8, 9])
    parser.add_argument("--sizes", type=int, nargs="*", default=[12, 20, 30, 50])
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--level", type=float, default=0.5)
    options = parser.parse_args()
    print(" shares    N  listed s  made s   ratio  value ratio   gap listed  gap made")
    for kind in ("random", "1/k"):
        for n in options.against:
            against(kind, n, options.people, options.level)
    print("\n shares    N      value      bound       gap  seconds")
    for kind in ("random", "1/k"):
        for n in options.sizes:
            alone(kind, n, options.people, options.level)

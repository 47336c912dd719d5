"""Least leakage under a worst case: the search against bisection, against a single programme by simplex, then alone.

Run: OMP_NUM_THREADS=1 python benchmarks/worst_case.py [--against 7 10 20 30] [--programme 60 100] [--alone 150 300 500]

The search by simplex that this one replaced solved between four and sixty such programmes. All times are processor
seconds, and both sides of a ratio are measured in one run.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from pmlbook.numerics.linear_programmes import OutOfTime
from pmlbook.numerics.validation import check_prior
from pmlbook.worst_case.dual_certificate import coverage
from pmlbook.worst_case.least_leakage import min_leakage_of_mask

HALVINGS = 40


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result and processor seconds."""
    begin = process_time()
    result = call()
    return result, process_time() - begin


def tables(n: int) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.float64]]]:
    """Random tables with about 30, 60 and 85 % of the pairs forbidden, and a random prior."""
    rng = np.random.default_rng(n)
    utilities, prior = rng.normal(size=(n, n)), check_prior(rng.dirichlet(np.ones(n)))
    found = {}
    for share in (0.3, 0.6, 0.85):
        allowed = utilities >= np.quantile(utilities, share)
        allowed[np.arange(n), utilities.argmax(axis=1)] = True
        found[f"{share:.0%}"] = (allowed, prior)
    return found


def bisection(allowed: NDArray[np.bool_], prior: NDArray[np.float64]) -> float:
    """Least epsilon by halving, on sparse feasibility programmes (Song & Oechtering 2026, eq. (10))."""
    row, column = np.nonzero(allowed)
    size, (n, m) = len(row), allowed.shape
    entry, ones = np.arange(size), np.ones(size)
    whole = sparse.csr_array((ones, (row, entry)), shape=(n, size + m))
    by_column = sparse.csr_array((prior[row], (column, entry)), shape=(m, size))
    own = sparse.csr_array((ones, (entry, column)), shape=(size, m))
    equal = sparse.vstack([whole, sparse.hstack([by_column, -sparse.eye_array(m)])])
    right, mass = np.r_[np.ones(n), np.zeros(m)], prior @ allowed
    low, high = 1.0, 1 / prior.min()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        caps = sparse.hstack([sparse.eye_array(size), -middle * own])
        bounds = [(0, None)] * size + [(0, int(p >= 1 / middle)) for p in mass]
        goal, zero = np.zeros(size + m), np.zeros(size)
        status = linprog(goal, caps, zero, equal, right, bounds, method="highs").status
        low, high = (low, middle) if status == 0 else (middle, high)
    return math.log(high)


def against(sizes: list[int]) -> None:
    """Ratio of times, certified gap of the search, and how far bisection is from its bracket."""
    print("  N  forbidden  bisection s  search s   ratio   gap      bisection off by")
    for n in sizes:
        for name, (allowed, prior) in tables(n).items():
            (_, value, bound), fast = timed(partial(min_leakage_of_mask, allowed, prior))
            level, slow = timed(partial(bisection, allowed, prior))
            off = max(level - value, bound - level, 0)
            print(
                f"{n:3d} {name:>10s} {slow:12.2f} {fast:9.3f} {slow / fast:7.1f}"
                f"   {value - bound:.0e}  {off:.0e}",
                flush=True,
            )


def covered(allowed: NDArray[np.bool_], prior: NDArray[np.float64], lift: float) -> float:
    """The share that everyone can get, by simplex; not a number if the solver's minute was too short."""
    try:
        return coverage(allowed, prior, lift).share
    except OutOfTime:
        return math.nan


def programme(sizes: list[int]) -> None:
    """Ratio of times of one programme by simplex, at the least largest lift, and of the whole search."""
    print("  N  forbidden  one programme s  search s   ratio   gap      not covered")
    for n in sizes:
        for name, (allowed, prior) in tables(n).items():
            (_, value, bound), fast = timed(partial(min_leakage_of_mask, allowed, prior))
            share, slow = timed(partial(covered, allowed, prior, math.exp(value)))
            print(
                f"{n:3d} {name:>10s} {slow:15.2f} {fast:9.2f} {slow / fast:7.1f}"
                f"   {value - bound:.0e}  {1 - share:.0e}",
                flush=True,
            )


def alone(sizes: list[int]) -> None:
    """Seconds and certified gap, exact arithmetic included."""
    print("  N  forbidden  seconds   least leakage      gap")
    for n in sizes:
        for name, (allowed, prior) in tables(n).items():
            (_, value, bound), seconds = timed(partial(min_leakage_of_mask, allowed, prior))
            print(
                f"{n:3d} {name:>10s} {seconds:8.2f} {value:15.9f} {value - bound:8.0e}", flush=True
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=int, nargs="*", default=[7, 10, 20, 30])
    parser.add_argument("--programme", type=int, nargs="*", default=[60, 100])
    parser.add_argument("--alone", type=int, nargs="*", default=[150, 300, 500])
    options = parser.parse_args()
    against(options.against)
    programme(options.programme)
    alone(options.alone)

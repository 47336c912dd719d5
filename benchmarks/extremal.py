"""Optimal PML mechanisms: column generation against Algorithm 1 with HiGHS, then alone.

Run: python benchmarks/extremal.py [--against 12 14 16] [--alone 20 30 50 100 200] [--max-time 20]
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from pmlbook.extremal.column_generation import column_generation
from pmlbook.extremal.enumeration import enumerate_optimum, mixture
from pmlbook.foundations.utility import NAMED

INFORMATION = NAMED["mutual_information"]


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result and seconds."""
    begin = perf_counter()
    result = call()
    return result, perf_counter() - begin


def peak(call: Callable[[], Any]) -> float:
    """Peak of traced Python and NumPy memory in megabytes (the solvers' own memory is not seen)."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most


def priors(n: int) -> dict[str, np.ndarray]:
    """The four kinds of priors."""
    rank = np.arange(1, n + 1)
    kinds = {"dirichlet": np.random.default_rng(n).dirichlet(np.ones(n)), "zipf": 1 / rank}
    kinds |= {"geometric .9": 0.9**rank, "uniform": np.ones(n)}
    return {kind: p / p.sum() for kind, p in kinds.items()}


def against(sizes: list[int]) -> None:
    """Ratio of times and peak memory, random prior, epsilon 1, mutual information."""
    print("  N  enumerate s  columns s   ratio   MB enum   MB cols   difference of bounds")
    for n in sizes:
        p = priors(n)["dirichlet"]
        methods = (enumerate_optimum, column_generation)
        calls = [partial(method, p, 1.0, INFORMATION) for method in methods]
        (slow, t_slow), (fast, t_fast) = (timed(call) for call in calls)
        memory = [peak(call) for call in calls]
        print(
            f"{n:3d} {t_slow:12.2f} {t_fast:10.2f} {t_slow / t_fast:7.1f} {memory[0]:9.1f}"
            f" {memory[1]:9.1f}   {fast[1] - slow[1]:.1e}",
            flush=True,
        )


def alone(sizes: list[int], max_time: float) -> None:
    """Time and certified relative gap; the value is recomputed from the channel."""
    print("   N  prior         epsilon  seconds   relative gap  outcomes")
    for n in sizes:
        for kind, p in priors(n).items():
            for epsilon in (0.3, 1.0, 2.0):
                (lifts, bound), seconds = timed(
                    partial(column_generation, p, epsilon, INFORMATION, max_time=max_time)
                )
                gap = 1 - INFORMATION(mixture(lifts, p, shave=0), p) / bound
                print(
                    f"{n:4d}  {kind:12s} {epsilon:8.1f} {seconds:8.2f} {gap:14.1e}"
                    f" {lifts.shape[1]:9d}",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=int, nargs="*", default=[12, 14, 16])
    parser.add_argument("--alone", type=int, nargs="*", default=[20, 30, 50, 100, 200])
    parser.add_argument("--max-time", type=float, default=20.0)
    options = parser.parse_args()
    against(options.against)
    alone(options.alone, options.max_time)

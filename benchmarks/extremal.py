"""Optimal PML mechanisms: listing against Algorithm 1 in NumPy and HiGHS, column generation against listing, then alone.

Run: OMP_NUM_THREADS=1 python benchmarks/extremal.py [--plain 12 14 16] [--against 12 14 16 18]  (18 takes minutes)
[--alone 20 50 100 200 500 1000]
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.optimize import linprog

from pmlbook import optimal_mechanism
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
    """The five kinds of priors."""
    rank = np.arange(1, n + 1)
    kinds = {"dirichlet": np.random.default_rng(n).dirichlet(np.ones(n)), "zipf": 1 / rank}
    kinds |= {"geometric .9": 0.9**rank, "uniform": np.ones(n)}
    answers = np.random.default_rng(n).multinomial(20 * n, kinds["zipf"] / kinds["zipf"].sum())
    kinds["counts"] = answers + 1.0
    return {kind: p / p.sum() for kind, p in kinds.items()}


def algorithm_1(prior: np.ndarray, epsilon: float) -> float:
    """The optimum by all vertices and one linear programme, as printed: in floats, without a bound."""
    n, c = len(prior), np.exp(epsilon)
    full = np.arange(2**n)[:, None] >> np.arange(n) & 1
    rest = (1 - c * full @ prior)[:, None] / prior
    which, taker = np.nonzero((full == 0) & (rest >= 0) & (rest < c))
    lifts = c * full[which]
    lifts[np.arange(len(which)), taker] = rest[which, taker]
    values = np.where(lifts > 0, lifts * np.log(np.maximum(lifts, 1e-300)), 0) @ prior
    return -float(linprog(-values, A_eq=lifts.T, b_eq=np.ones(n), method="highs").fun)


def plain(sizes: list[int], seeds: int) -> None:
    """Processor seconds of `optimal_mechanism` by listing, with its certificate, and of the line above."""
    print("  N  seed  listing s  Algorithm 1 s   ratio  difference")
    for n in sizes:
        for seed in range(seeds):
            p = np.random.default_rng(seed).dirichlet(np.ones(n)) + 1e-4
            p /= p.sum()
            found, seconds = [], []
            for call in (
                lambda: optimal_mechanism(p, 1.0, method="enumeration").value,  # noqa: B023
                lambda: algorithm_1(p, 1.0),  # noqa: B023
            ):
                begin = process_time()
                found.append(call())
                seconds.append(process_time() - begin)
            ratio, apart = seconds[1] / seconds[0], abs(found[0] - found[1])
            print(
                f"{n:3d} {seed:5d} {seconds[0]:10.3f} {seconds[1]:14.3f} {ratio:7.1f} {apart:11.1e}",
                flush=True,
            )


def against(sizes: list[int], memory: bool) -> None:
    """Ratio of times (and peak memory), random prior, epsilon 1, mutual information."""
    print("  N  enumerate s  columns s    ratio  difference of bounds   MB enum   MB cols")
    for n in sizes:
        p = priors(n)["dirichlet"]
        methods = (enumerate_optimum, column_generation)
        calls = [partial(method, p, 1.0, INFORMATION) for method in methods]
        (slow, t_slow), (fast, t_fast) = (timed(call) for call in calls)
        used = "".join(f"{peak(call):10.1f}" for call in calls) if memory else ""
        difference = f"{fast[-1] - slow[-1]:.1e}"
        print(
            f"{n:3d} {t_slow:12.2f} {t_fast:10.3f} {t_slow / t_fast:8.1f} {difference:>21s}{used}",
            flush=True,
        )


def alone(sizes: list[int], kinds: list[str], tol: float | None, max_time: float) -> None:
    """Seconds and certified relative gap; the value is recomputed from the channel."""
    print("   N  prior         epsilon      tol  seconds   relative gap  outcomes")
    for n in sizes:
        target = tol or (1e-9 if n <= 50 else 1e-6)
        for kind in kinds:
            p = priors(n)[kind]
            for epsilon in (0.5, 1.0, 2.0):
                design = partial(
                    column_generation, p, epsilon, INFORMATION, tol=target, max_time=max_time
                )
                (lifts, _, bound), seconds = timed(design)
                gap = 1 - INFORMATION(mixture(lifts, p, shave=0), p) / bound
                print(
                    f"{n:4d}  {kind:12s} {epsilon:8.1f} {target:8.0e} {seconds:8.2f} {gap:14.1e}"
                    f" {lifts.shape[1]:9d}",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plain", type=int, nargs="*", default=[12, 13, 14, 15, 16])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--against", type=int, nargs="*", default=[12, 14, 16])
    parser.add_argument("--memory", action="store_true", help="trace peak memory too (slow)")
    parser.add_argument("--alone", type=int, nargs="*", default=[20, 50, 100, 200, 500, 1000])
    parser.add_argument("--kinds", nargs="*", default=["dirichlet", "zipf", "counts"])
    parser.add_argument("--tol", type=float, help="1e-9 up to 50 symbols, else 1e-6, if left out")
    parser.add_argument("--max-time", type=float, default=10.0)
    options = parser.parse_args()
    plain(options.plain, options.seeds)
    against(options.against, options.memory)
    alone(options.alone, options.kinds, options.tol, options.max_time)

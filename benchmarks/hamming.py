"""Least leakage under Hamming distortion: one linear programme against whole channels, then alone.

Run: python benchmarks/hamming.py [--against 6 10 20 30] [--alone 100 500 2000] [--vertices 4 50 500]
     [--information 100 500] [--listed 6 8 10] [--intervals 14 100 300 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from pmlbook.hamming.exact import dp_leakage
from pmlbook.hamming.mechanisms import full_programme
from pmlbook.hamming.mutual_information import mi_leakage


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result and seconds."""
    begin = perf_counter()
    result = call()
    return result, perf_counter() - begin


def vertices(m: int, k: int) -> np.ndarray:
    """Random vertices, the same for every run."""
    return np.random.default_rng([m, k]).dirichlet(np.ones(m), k)


def against(sizes: list[int]) -> None:
    """Ratio of times with four vertices at D = 0.5; the difference is that of the two answers."""
    print("   M  whole channels s  exact s   ratio  difference      gap")
    for m in sizes:
        table = vertices(m, 4)
        (_, slow), t_slow = timed(partial(full_programme, table, 0.5))
        fast, t_fast = min(
            (timed(partial(dp_leakage, table, 0.5)) for _ in range(3)), key=lambda r: r[1]
        )
        difference = abs(fast.value - slow)
        print(
            f"{m:4d} {t_slow:17.3f} {t_fast:8.4f} {t_slow / t_fast:7.0f}"
            f" {difference:11.1e} {fast.gap:8.1e}",
            flush=True,
        )


def alone(sizes: list[int], counts: list[int]) -> None:
    """Time and certified gap in nats of the exact method at D = 0.8."""
    print("   M  vertices  seconds    leakage      gap  censored")
    for m in sizes:
        for k in counts:
            design, seconds = timed(partial(dp_leakage, vertices(m, k), 0.8))
            censored = int((design.mechanism.channel.max(axis=0) == 0).sum())
            print(
                f"{m:4d} {k:9d} {seconds:8.3f} {design.value:10.6f} {design.gap:8.1e} {censored:9d}",
                flush=True,
            )


def information(sizes: list[int]) -> None:
    """Time and certified gap in nats of least worst-case mutual information, four vertices, D = 0.8."""
    print("   M  seconds  information      gap")
    for m in sizes:
        design, seconds = timed(partial(mi_leakage, vertices(m, 4), 0.8))
        print(f"{m:4d} {seconds:8.3f} {design.value:12.6f} {design.gap:8.1e}", flush=True)


def sampled(m: int, people: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Intervals as a sample of so many people leaves them, the same for every run."""
    p = np.random.default_rng([m, people]).dirichlet(np.ones(m))
    reach = 2 * np.sqrt(p * (1 - p) / people) + 1 / people
    return np.maximum(p - reach, 0), np.minimum(p + reach, 1)


def vertices_of_box(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """All shares but one at an end, the last takes what is left."""
    found = []
    for k in range(len(low)):
        ends = np.delete([low, high], k, axis=1).T
        others = np.array(np.meshgrid(*ends)).reshape(len(ends), -1)
        left = 1 - others.sum(axis=0)
        found.append(np.insert(others, k, left, axis=0).T[(low[k] <= left) & (left <= high[k])])
    return np.vstack(found)


def intervals(solve: Callable[..., Any], listed: list[int], alone: list[int]) -> None:
    """Intervals for the shares against the list of their vertices, at D = 0.4."""
    print(f"{solve.__name__}\n   M  vertices  listed s    box s   leakage  difference      gap")
    for m in listed + alone:
        known = sampled(m)
        design, seconds = timed(partial(solve, known, 0.4))
        vertices, slow, difference = "-", float("nan"), float("nan")
        if m in listed:
            table, first = timed(partial(vertices_of_box, *known))
            judge, second = timed(partial(solve, table, 0.4))
            vertices, slow = str(len(table)), first + second
            difference = abs(judge.value - design.value)
        print(
            f"{m:4d} {vertices:>8} {slow:9.3f} {seconds:8.4f} {design.value:9.6f}"
            f" {difference:11.1e} {design.gap:8.1e}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=int, nargs="*", default=[6, 10, 20, 30])
    parser.add_argument("--alone", type=int, nargs="*", default=[100, 500, 2000])
    parser.add_argument("--vertices", type=int, nargs="*", default=[4, 50, 500])
    parser.add_argument("--information", type=int, nargs="*", default=[100, 500])
    parser.add_argument("--listed", type=int, nargs="*", default=[6, 8, 10])
    parser.add_argument("--intervals", type=int, nargs="*", default=[14, 100, 300, 1000])
    options = parser.parse_args()
    against(options.against)
    alone(options.alone, options.vertices)
    information(options.information)
    intervals(dp_leakage, options.listed, options.intervals)
    intervals(mi_leakage, options.listed[:2], [m for m in options.intervals if m <= 100])

"""Per-record leakage: the printed Algorithm 1 against the certified search, then the search alone.

Run: python benchmarks/per_record.py [--against 4 5 6] [--records 10 100 1000 10000] [--times 5 60]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from pmlbook.foundations.classic import binary_symmetric, geometric
from pmlbook.record_design.algorithms import restarts
from pmlbook.record_design.conditionals import NoRoot
from pmlbook.records.certificate import per_record_leakage
from pmlbook.records.queries import Query, counting, modular_sum, parity, threshold


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result and seconds."""
    begin = perf_counter()
    result = call()
    return result, perf_counter() - begin


def printed(query: Query, channel: np.ndarray, b: float) -> Any:
    """One run of Algorithm 1 as printed, on all datasets, from a random prior; None where it fails."""
    rng = np.random.default_rng(0)
    try:
        return restarts(channel[query.table.ravel()], query.shape, b, 1, rng)[0]
    except NoRoot:
        return None


def against(sizes: list[int]) -> None:
    """Value and seconds of both on the same queries."""
    print(" n  query        b/max   printed value  seconds   ours: value  bound      seconds")
    for n in sizes:
        for name, query, channel in (
            ("parity", parity(n), binary_symmetric(0.3)),
            ("modulo 3", modular_sum(n, 3), binary_symmetric(0.2, 3)),
            ("count", counting(n), geometric(n + 1, 1.0)),
        ):
            for share in (0.5, 0.9):
                b = share * n * math.log(2)
                old, t_old = timed(partial(printed, query, channel, b))
                new, t_new = timed(partial(per_record_leakage, query, channel, b))
                value = math.nan if old is None else old.value
                print(
                    f"{n:2d}  {name:10s} {share:5.2f} {value:15.6f} {t_old:9.2f}"
                    f" {new.value:13.6f} {new.bound:9.6f} {t_new:9.2f}",
                    flush=True,
                )


def thresholds(records: list[int]) -> None:
    """Threshold of a count, output flipped with probability 0.2, to a gap of 1e-5."""
    print("records  b below max   value      gap        seconds")
    for n in records:
        for missing in (0.05, 0.3, 0.7):
            b = n * math.log(2) - missing
            asked = threshold(n, n // 2)
            found, seconds = timed(
                partial(per_record_leakage, asked, binary_symmetric(0.2), b, tol=1e-5)
            )
            print(f"{n:7d} {missing:10.2f} {found.value:11.6f} {found.gap:9.1e} {seconds:9.2f}")


def open_cases(times: list[float]) -> None:
    """Modular sums and full counts: gap after so many seconds (tolerance 1e-6)."""
    cases = [
        (f"modulo {m}, n={n}", modular_sum(n, m), binary_symmetric(0.2, m), n)
        for m in (3, 4, 5)
        for n in (5, 8)
    ]
    cases += [
        (f"count, n={n}", counting(n), geometric(n + 1, 1.0), n) for n in (4, 5, 6, 7, 8, 12, 20)
    ]
    print("case              b/max   limit s   value       gap       seconds")
    for name, query, channel, n in cases:
        for share in (0.5, 0.9):
            for limit in times:
                b = share * n * math.log(2)
                found, seconds = timed(
                    partial(per_record_leakage, query, channel, b, max_time=limit)
                )
                print(
                    f"{name:16s} {share:6.2f} {limit:8.0f} {found.value:11.6f} {found.gap:10.1e}"
                    f" {seconds:8.2f}",
                    flush=True,
                )
                if found.gap <= 1e-6:
                    break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=int, nargs="*", default=[4, 5, 6])
    parser.add_argument("--records", type=int, nargs="*", default=[10, 100, 1000, 10000])
    parser.add_argument("--times", type=float, nargs="*", default=[5.0, 60.0])
    options = parser.parse_args()
    against(options.against)
    thresholds(options.records)
    open_cases(options.times)

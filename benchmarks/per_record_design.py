"""Design of mechanisms: the printed Algorithm 6 against cutting planes, then many records by symmetry.

Run: python benchmarks/per_record_design.py [--parity 2 3 4] [--modular 2 3] [--records 8 16 64]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from pmlbook.record_design.conditionals import NoRoot
from pmlbook.record_design.game import alternating_design
from pmlbook.record_design.symmetry import setting
from pmlbook.record_design.worst_adversary import leakage_distortion
from pmlbook.records.certificate import per_record_leakage
from pmlbook.records.queries import Query, modular_sum, parity


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result and seconds."""
    begin = perf_counter()
    result = call()
    return result, perf_counter() - begin


def printed(query: Query, D: float, b: float) -> Any:
    """One run of Algorithm 6 as printed; None where Algorithm 5 finds no root."""
    try:
        return alternating_design(query, D, b, np.random.default_rng(0), starts=1, max_rounds=5)
    except NoRoot:
        return None


def against(cases: list[tuple[str, Query]], D: float) -> None:
    """Both on the same queries; leakages are certified by the same search, whatever is reported."""
    print(
        "query             b   Alg. 6: reports   leaks  distortion  seconds     ours      gap  seconds"
    )
    for name, query in cases:
        for share in (0.3, 0.9):
            b = share * len(query.shape) * math.log(2)
            run, t_old = timed(partial(printed, query, D, b))
            ours, t_new = timed(partial(leakage_distortion, query, D, b))
            old = [math.nan] * 3
            if run is not None:
                rows = run.channel.reshape(-1, run.channel.shape[-1])
                everything = setting(query, reduce_symmetry=False)
                leaks = per_record_leakage(
                    everything.observes, rows, b, tol=1e-4, max_time=20
                ).value
                old = [run.value, leaks, float((everything.cost * rows).sum())]
            print(
                f"{name:12s} {b:6.2f} {old[0]:17.5f} {old[1]:7.5f} {old[2]:11.4f} {t_old:8.2f}"
                f" {ours.value:8.5f} {ours.gap:8.1e} {t_new:8.2f}",
                flush=True,
            )


def alone(sizes: list[int], D: float, max_time: float) -> None:
    """Many records: everything is seen, or for the modular sum the answer only as well."""
    print("records  query                cells   leakage      gap  seconds")
    for n in sizes:
        b = (n - 0.5) * math.log(2)
        three = modular_sum(n, 3)
        for name, query, observes in (
            ("parity", parity(n), None),
            ("modulo 3, answer", three, three),
            ("modulo 3, all", three, None),
        ):
            call = partial(leakage_distortion, query, D, b, observes=observes, max_time=max_time)
            design, seconds = timed(call)
            cells = setting(query, observes=observes).size
            print(
                f"{n:7d}  {name:18s} {cells:7d} {design.value:9.6f} {design.gap:8.1e} {seconds:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parity", type=int, nargs="*", default=[2, 3, 4])
    parser.add_argument("--modular", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--records", type=int, nargs="*", default=[8, 16, 64])
    parser.add_argument("--distortion", type=float, default=0.25)
    parser.add_argument("--max-time", type=float, default=20.0)
    options = parser.parse_args()
    cases: list[tuple[str, Query]] = [(f"parity {n}", parity(n)) for n in options.parity]
    cases += [(f"modulo 3, {n}", modular_sum(n, 3)) for n in options.modular]
    against(cases, options.distortion)
    alone(options.records, options.distortion, options.max_time)

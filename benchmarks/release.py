"""One release of a column of ten million values: ours, the usual calls, other packages, raw entropy; then text and CSV.

Run: python benchmarks/release.py [--values 10000000] [--symbols 10 100] [--seconds 60]
The other packages come with `pip install 'pmlbook[benchmark]'`; what is not installed is skipped.
"""

from __future__ import annotations

import argparse
import os
import ssl
import tempfile
from collections.abc import Callable
from functools import partial
from math import log
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from pmlbook import Mechanism
from pmlbook.files.release import release_file
from pmlbook.foundations import randomized_response

EPSILON = 1.0


def best_of(call: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Fewest seconds of wall clock and of processor time."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = perf_counter(), process_time()
        call()
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    return min(walls), min(cpus)


def grouped(channel: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Generator.choice, once for each symbol."""
    rng, released = np.random.default_rng(), np.empty_like(values)
    for symbol, row in enumerate(channel):
        places = np.flatnonzero(values == symbol)
        released[places] = rng.choice(len(row), size=len(places), p=row)
    return released


def raw(source: Callable[[int], bytes], n: int, at_once: int = 2**16) -> None:
    """Four random bytes a value, in parts that stay in the cache."""
    for _ in range(0, n, at_once):
        source(4 * at_once)


def one_by_one(m: int) -> dict[str, Callable[[int], Any]]:
    """Randomized response of other packages, a value a call."""
    found: dict[str, Callable[[int], Any]] = {}
    try:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        client = DEClient(epsilon=EPSILON, d=m)
        found["pure-ldp"] = lambda value: client.privatise(value + 1)
    except ImportError as error:
        print(f"pure-ldp skipped: {error}")
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        found["multi-freq-ldpy"] = lambda value: GRR_Client(value, m, EPSILON)
    except ImportError as error:
        print(f"multi-freq-ldpy skipped: {error}")
    try:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        keep = 1 / (1 + (m - 1) * np.exp(-EPSILON))
        response = dp.m.make_randomized_response(list(range(m)), keep)
        found["OpenDP"] = response
    except ImportError as error:
        print(f"OpenDP skipped: {error}")
    return found


def rate(call: Callable[[int], Any], values: np.ndarray, seconds: float) -> tuple[int, float]:
    """How many values finish within the seconds, and the seconds they took."""
    plain, begin = values.tolist(), perf_counter()
    call(plain[0])  # what is compiled at the first call is not counted
    begin = perf_counter()
    for done, value in enumerate(plain, 1):
        call(value)
        if done % 1000 == 0 and perf_counter() - begin > seconds:
            break
    return done, perf_counter() - begin


def line(name: str, n: int, wall: float, cpu: float | None = None) -> None:
    """One line of the table."""
    processor = "" if cpu is None else f"{cpu / n * 1e9:12.2f}"
    print(f"  {name:34s} {n:10,d} {wall:8.3f} {wall / n * 1e9:12.2f}{processor}", flush=True)


def compare(n: int, m: int, seconds: float, repeats: int) -> None:
    """The table for one number of symbols."""
    print(f"{m} symbols, randomized response at {EPSILON} nats ({EPSILON / log(2):.2f} bits)")
    print("  method                                 values  seconds  ns a value  ns processor")
    values = np.random.default_rng(m).integers(m, size=n)
    mechanism = Mechanism(randomized_response(m, EPSILON), np.full(m, 1 / m), outputs=range(m))
    mechanism.privatize(values[:1])  # the tables are made once
    line("pmlbook, OpenSSL entropy", n, *best_of(lambda: mechanism.privatize(values), repeats))
    line("pmlbook, seeded", n, *best_of(lambda: mechanism.privatize(values, 1), repeats))
    channel = mechanism.channel
    line("Generator.choice by symbol", n, *best_of(lambda: grouped(channel, values), repeats))
    line("ssl.RAND_bytes, 4 bytes a value", n, *best_of(lambda: raw(ssl.RAND_bytes, n), repeats))
    line("os.urandom, 4 bytes a value", n, *best_of(lambda: raw(os.urandom, n), repeats))
    line("writing 8 bytes a value", n, *best_of(lambda: np.empty(n, np.int64).fill(1), repeats))
    for name, call in one_by_one(m).items():
        line(name, *rate(call, values, seconds))


def compare_texts(n: int, m: int, repeats: int) -> None:
    """Columns of text against the same column as codes."""
    codes, names = np.random.default_rng(m).integers(m, size=n), [f"value{i:03d}" for i in range(m)]
    distribution = randomized_response(m, EPSILON), np.full(m, 1 / m)
    mechanism = Mechanism(*distribution, outputs=range(len(distribution[0])))
    named = Mechanism(*distribution, names, names)
    columns: dict[str, Any] = {"text in NumPy": np.array(names)[codes]}
    columns["text in a list"] = columns["text in NumPy"].tolist()
    try:
        import pandas as pd

        for kind in (object, "str"):
            text = pd.Series(columns["text in a list"], dtype=kind)
            columns[f"text in pandas, {text.dtype}"] = text
    except ImportError as error:
        print(f"pandas skipped: {error}")
    try:
        import polars as pl

        columns["text in Polars"] = pl.Series(columns["text in a list"])
        columns["categories of Polars"] = columns["text in Polars"].cast(pl.Categorical)
        columns["text in Arrow"] = columns["text in Polars"].to_arrow()
    except ImportError as error:
        print(f"Polars or pyarrow skipped: {error}")
    least, _ = best_of(lambda: mechanism.privatize(codes), repeats)
    print(f"{m} symbols as text, {n:,d} values: times as long as codes")
    for name, column in columns.items():
        wall, _ = best_of(partial(named.privatize, column), repeats)
        print(f"  {name:34s} {wall / least:8.1f}", flush=True)


def compare_files(n: int, m: int, repeats: int) -> None:
    """One column of five in a CSV file, against pyarrow reading and writing the file."""
    try:
        from pyarrow import csv
    except ImportError as error:
        return print(f"CSV skipped: {error}")
    rng, names = np.random.default_rng(m), [f"value{i:03d}" for i in range(m)]
    mechanism = Mechanism(randomized_response(m, EPSILON), np.full(m, 1 / m), names, names)
    ages, codes, areas = (rng.integers(most, size=n).tolist() for most in (100, m, 10**5))
    print(f"{m} symbols in a CSV file, {n:,d} rows: rows a second, times as long as pyarrow")
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old.csv", Path(folder) / "new.csv"
        for kind, quote in (("no quotes", ""), ("a field in quotes", '"')):
            with open(old, "w") as file:
                file.write("id,age,said,area,note\n")
                for row, (age, code, area) in enumerate(zip(ages, codes, areas)):
                    note = f"{quote}note {age}{quote}"
                    file.write(f"{row},{age},{names[code]},{area:05d},{note}\n")
            own = best_of(lambda: release_file(old, new, "said", mechanism, force=True), repeats)
            arrow = best_of(lambda: csv.write_csv(csv.read_csv(old), new), repeats)
            print(f"  {kind:34s} {n / own[0]:10,.0f} {own[0] / arrow[0]:8.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=10**7)
    parser.add_argument("--symbols", type=int, nargs="*", default=[10, 100])
    parser.add_argument("--seconds", type=float, default=60.0, help="for each other package")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for symbols in options.symbols:
        compare(options.values, symbols, options.seconds, options.repeats)
        compare_texts(options.values // 10, symbols, options.repeats)
        compare_files(options.values // 10, symbols, options.repeats)

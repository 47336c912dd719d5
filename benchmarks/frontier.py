"""How near the searches come, for an optimal mechanism and for the worst adversary of one record, beside what is kept.

Run: python benchmarks/frontier.py [--seconds 10] [--seeds 5] [--only counts] [--keep] [--book]

A prior that is drawn is drawn from five seeds. A row has the processor seconds and the certified gap, as a part of
the value, of the worst of them, and both divided by what `frontier.csv` holds for the setting; below 1 is better than
it was. Then come the gaps of all seeds. A setting that `frontier.csv` does not hold is an error, unless `--keep` is
asked for, which writes the new figures there; `--book` writes them to the table from which the chapter 'Where it ends'
is drawn. Rows 'per record' have the gap in nats. Limits are in processor seconds too: what else the machine does is no
matter.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import pmlbook as pb
from pmlbook.numerics import progress

KEPT = Path(__file__).with_name("frontier.csv")
BOOK = KEPT.parent.parent / "nbs" / "frontier.csv"
FLOOR = 1e-12  # a smaller gap is rounding
ENOUGH = 1e-3  # nats: what is asked of a search for the worst adversary


def harmonic(n: int) -> np.ndarray:
    """Shares in proportion to 1/k."""
    shares = 1 / np.arange(1, n + 1)
    return shares / shares.sum()


def near_ties(n: int, spread: float, seed: int) -> np.ndarray:
    """Equal shares that differ by a part of `spread` of themselves."""
    shares = abs(1 + spread * np.random.default_rng(seed).normal(size=n))
    return shares / shares.sum()


def counted(n: int, people: int, seed: int) -> list[Fraction]:
    """Answers of so many people, in proportion to 1/k."""
    counts = np.random.default_rng(seed).multinomial(people, harmonic(n)) + 1
    return [Fraction(int(count), int(counts.sum())) for count in counts]


def uneven(n: int, width: float, seed: int) -> np.ndarray:
    """Shares drawn from Dirichlet's distribution."""
    shares = np.maximum(np.random.default_rng(seed).dirichlet(np.full(n, width)), 1e-9)
    return shares / shares.sum()


def settings() -> Iterator[tuple[str, Any, float, str]]:
    """Name, prior or what draws it from a seed, level and utility of each row."""
    information = "mutual_information"
    for n, people, level in [
        (50, 10**5, 1.0),
        (100, 10**6, 0.1),
        (200, 10**5, 2.0),
        (500, 10**5, 2.0),
        (50, 330_000_000, 1.0),
        (100, 10**5, 0.1),
    ]:
        yield f"counts {n} of {people}", partial(counted, n, people), level, information
    ties = [(50, 1e-3, 0.5), (50, 0.1, 2.0), (100, 1e-3, 0.1), (300, 1e-3, 0.5), (1000, 1e-3, 0.5)]
    for n, spread, level in ties:
        yield f"near ties {n} by {spread:g}", partial(near_ties, n, spread), level, information
    for n, level in [(50, 1.0), (50, 2.0), (200, 1.0)]:
        yield f"harmonic {n}", harmonic(n), level, information
    yield "harmonic 50", harmonic(50), 1.0, "hellinger"
    for n, width, level in [(50, 0.1, 1.0), (50, 0.1, 4.0), (100, 1.0, 1.0)]:
        yield f"Dirichlet {n} of {width:g}", partial(uneven, n, width), level, information


Figures = tuple[float, float]  # processor seconds, and the gap


def measured(prior: Any, level: float, utility: str, seconds: float) -> Figures:
    """Processor seconds, and the gap as a part of the value."""
    begin = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.optimal_mechanism(prior, level, utility, max_time=seconds)
    return process_time() - begin, max(design.gap / design.value, 0.0)


def record_settings() -> Iterator[tuple[str, pb.records.Query, Any, float]]:
    """Name, query, channel and share of the largest entropy of each row about one record."""
    for n, noise, share in [
        (6, 0.3, 0.97),
        (8, 0.3, 0.95),
        (10, 0.3, 0.99),
        (10, 1, 0.9),
        (10, 1, 0.97),
    ]:
        query = pb.records.pairwise_products(n)
        yield (
            f"products {n}, noise {noise:g}",
            query,
            pb.foundations.geometric(query.n_values, noise),
            share,
        )
    for n, noise, share in [
        (16, 0.1, 0.99),
        (16, 1, 0.97),
        (32, 0.1, 0.997),
        (64, 0.1, 0.99),
        (64, 1, 0.99),
        (100, 1, 0.97),
        (100, 1, 0.997),
    ]:
        yield (
            f"count {n}, noise {noise:g}",
            pb.records.counting(n),
            pb.foundations.geometric(n + 1, noise),
            share,
        )
    for n, m, share in [(16, 8, 0.99), (16, 16, 0.95), (40, 16, 0.99)]:
        noisy = 0.8 * np.eye(m) + 0.2 * (1 - np.eye(m)) / (m - 1)
        yield f"sum of {n} mod {m}, flip 0.2", pb.records.modular_sum(n, m), noisy, share
    for n, share in [(3, 0.8), (4, 0.9)]:
        flip = np.array([[0.8, 0.2], [0.2, 0.8]])
        channel = np.ones((1, 1))
        for _ in range(n):
            channel = np.kron(channel, flip)
        bits = pb.records.Query(sum, [(0, 1)] * n)
        yield f"each of {n} bits, flip 0.2", bits, channel, share
    four = pb.records.SumQuery([range(4)] * 3, (4).__rmod__)  # the remainder
    yield (
        "four symbols, sum of 3 mod 4, flip 0.2",
        four,
        0.8 * np.eye(4) + 0.2 / 3 * (1 - np.eye(4)),
        0.8,
    )


def record_measured(query: pb.records.Query, channel: Any, share: float, seconds: float) -> Figures:
    """Processor seconds, and the gap in nats, for one record."""
    begin = process_time()
    b = share * sum(np.log(size) for size in query.shape)
    found = pb.per_record_leakage(query, channel, b, ENOUGH, seconds, False)
    return process_time() - begin, max(found.gap, 0.0)


def rows(seeds: int) -> Iterator[tuple[str, list[Any]]]:
    """Each row of the table, and for each seed what measures it within so many seconds."""
    for name, prior, level, utility in settings():
        row = f"{name}, {level:g} nats, {utility.split('_')[0]}"
        drawn = [prior(seed) for seed in range(seeds)] if callable(prior) else [prior]
        yield row, [partial(measured, one, level, utility) for one in drawn]
    for name, query, channel, share in record_settings():
        row = f"per record: {name}, {share:.1%} doubt"
        yield row, [partial(record_measured, query, channel, share)]


def written(path: Path, figures: dict[str, Figures]) -> None:
    """Write the figures as a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["setting", "seconds", "gap"])
        writer.writerows([row, f"{s:.3g}", f"{g:.3g}"] for row, (s, g) in figures.items())


def kept(path: Path) -> dict[str, Figures]:
    """The figures of a table, by setting."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["setting"]: (float(row["seconds"]), float(row["gap"]))
            for row in csv.DictReader(file)
        }


def main() -> None:
    """Print the table, and keep it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of a search")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--keep", action="store_true", help="write the figures to frontier.csv")
    parser.add_argument("--book", action="store_true", help="write the figures to the book's table")
    parser.add_argument("--seeds", type=int, default=5, help="priors of a setting that is drawn")
    asked = parser.parse_args()
    chosen = [(row, ways) for row, ways in rows(asked.seeds) if asked.only in row]
    before, figures = kept(KEPT), dict[str, Figures]()
    missing = [row for row, _ in chosen if row not in before]
    if missing and not asked.keep:
        parser.error("frontier.csv does not hold " + "; ".join(missing) + ": use --keep")
    progress.perf_counter = process_time  # type: ignore[assignment]
    print(f"{'setting':<60}{'CPU s':>8}{'x':>7}{'gap':>10}{'x':>9}  gaps of all seeds")
    for row, ways in chosen:
        found = [measure(asked.seconds) for measure in ways]
        seconds, gap = figures[row] = max(found, key=lambda one: one[1])
        past = f"{'new':>7}", f"{'new':>9}"
        if row in before:
            slower = seconds / max(before[row][0], 1e-3)
            wider = max(gap, FLOOR) / max(before[row][1], FLOOR)
            past = f"{slower:7.2f}", f"{wider:9.2g}"
        every = " ".join(f"{one:.0e}" for _, one in found) if len(found) > 1 else ""
        print(f"{row:<60}{seconds:8.2f}{past[0]}{gap:10.1e}{past[1]}  {every}", flush=True)
        if asked.keep:
            written(KEPT, before | figures)
        if asked.book:
            written(BOOK, kept(BOOK) | figures)


if __name__ == "__main__":
    main()

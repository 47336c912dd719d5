"""How near the searches for an optimal mechanism come: one row a setting, beside the figures that are kept.

Run: python benchmarks/frontier.py [--seconds 10] [--only counts] [--keep]

A row has the processor seconds, the certified gap as a part of the value, and both divided by what
`frontier.csv` holds for the setting; below 1 is better than it was. `--keep` writes the new figures there.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import pmlbook as pb

KEPT = Path(__file__).with_name("frontier.csv")
FLOOR = 1e-12  # a smaller gap is rounding


def harmonic(n: int) -> np.ndarray:
    """Shares in proportion to 1/k."""
    shares = 1 / np.arange(1, n + 1)
    return shares / shares.sum()


def near_ties(n: int, spread: float) -> np.ndarray:
    """Equal shares that differ by a part of `spread` of themselves."""
    shares = abs(1 + spread * np.random.default_rng(0).normal(size=n))
    return shares / shares.sum()


def counted(n: int, people: int) -> list[Fraction]:
    """Answers of so many people, in proportion to 1/k."""
    counts = np.random.default_rng(0).multinomial(people, harmonic(n)) + 1
    return [Fraction(int(count), int(counts.sum())) for count in counts]


def settings() -> Iterator[tuple[str, Any, float, str]]:
    """Name, prior, level and utility of each row."""
    information = "mutual_information"
    for n, people, level in [
        (50, 10**5, 1.0),
        (100, 10**6, 0.1),
        (200, 10**5, 2.0),
        (500, 10**5, 2.0),
        (50, 330_000_000, 1.0),
    ]:
        yield f"counts {n} of {people}", counted(n, people), level, information
    for n, spread, level in [(50, 1e-3, 0.5), (50, 0.1, 2.0), (100, 1e-3, 0.1), (300, 1e-3, 0.5)]:
        yield f"near ties {n} by {spread:g}", near_ties(n, spread), level, information
    for n, level in [(50, 1.0), (50, 2.0), (200, 1.0)]:
        yield f"harmonic {n}", harmonic(n), level, information
    yield "harmonic 50", harmonic(50), 1.0, "hellinger"
    for n, width in [(50, 0.1), (100, 1.0)]:
        prior = np.maximum(np.random.default_rng(0).dirichlet(np.full(n, width)), 1e-9)
        yield f"Dirichlet {n} of {width:g}", prior / prior.sum(), 1.0, information


def measured(prior: Any, level: float, utility: str, seconds: float) -> tuple[float, float]:
    """Processor seconds, and the gap as a part of the value."""
    begin = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.optimal_mechanism(prior, level, utility, max_time=seconds)
    return process_time() - begin, max(design.gap / design.value, 0.0)


def kept() -> dict[str, tuple[float, float]]:
    """The figures that are kept, by setting."""
    if not KEPT.exists():
        return {}
    with KEPT.open(encoding="utf-8", newline="") as file:
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
    asked = parser.parse_args()
    before = kept()
    figures = dict(before)
    print(f"{'setting':<44}{'CPU s':>8}{'x':>7}{'gap':>10}{'x':>9}")
    for name, prior, level, utility in settings():
        row = f"{name}, {level:g} nats, {utility.split('_')[0]}"
        if asked.only not in row:
            continue
        seconds, gap = figures[row] = measured(prior, level, utility, asked.seconds)
        old = before.get(row, (seconds, gap))
        ratios = seconds / max(old[0], 1e-3), max(gap, FLOOR) / max(old[1], FLOOR)
        print(f"{row:<44}{seconds:8.2f}{ratios[0]:7.2f}{gap:10.1e}{ratios[1]:9.2g}", flush=True)
    if asked.keep:
        with KEPT.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["setting", "seconds", "gap"])
            writer.writerows([row, f"{s:.3g}", f"{g:.3g}"] for row, (s, g) in figures.items())


if __name__ == "__main__":
    main()

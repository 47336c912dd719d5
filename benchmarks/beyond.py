"""Repeated releases against lists of all sequences, and mechanisms that may fail.

Run: python benchmarks/beyond.py [--releases 10] [--secrets 10 14 16]

Both sides of a ratio are timed in one run, in processor seconds. They answer the same question, and must agree.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from pmlbook.budget.composition import compose
from pmlbook.budget.repeated_releases import repeated_leakage
from pmlbook.extremal.delta import delta_mechanism
from pmlbook.release.mechanism import Mechanism

LEVEL, DELTA = 0.5, 0.02


def timed(call: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """What a call gives, and its processor seconds; the second of two runs."""
    call(*given)
    begin = process_time()
    return call(*given), process_time() - begin


def all_sequences(channel: np.ndarray, prior: np.ndarray, k: int) -> float:
    """The level of k releases in floats, from the columns of all M^k sequences."""
    columns = np.ones((len(prior), 1))
    for _ in range(k):
        columns = (columns[:, :, None] * channel[:, None, :]).reshape(len(prior), -1)
    return float(np.log((columns.max(axis=0) / (prior @ columns)).max()))


def repeated(k: int) -> None:
    """Lines for repeated releases of three secrets and three outcomes."""
    rng = np.random.default_rng(0)
    made = Mechanism(rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3)))
    found, seconds = timed(repeated_leakage, made.channel, made.exact_prior, k)
    plain, listed = timed(all_sequences, made.channel, made.prior, k)
    joint, composed = timed(compose, *[made] * k)
    assert abs(plain - found.bound) < 1e-9 and joint.epsilon == found.bound and found.exact
    many, longer = timed(repeated_leakage, made.channel, made.exact_prior, 1000)
    assert many.exact
    print(f"{k} releases, exactly: {seconds:.4f} s; 1000 releases: {longer:.4f} s")
    print(f"  all {3**k} sequences in floats: {listed:.4f} s, {listed / seconds:.3g} times as long")
    print(f"  compose, exactly: {composed:.4f} s, {composed / seconds:.3g} times as long")


def failing(n: int) -> None:
    """A line for the best mechanism that may fail, for n secrets and each kind of promise."""
    prior = np.random.default_rng(0).dirichlet(np.ones(n))
    for each in (False, True):
        found, seconds = timed(delta_mechanism, prior, LEVEL, DELTA, "mutual_information", each)
        print(f"{n} secrets, each = {each}: {seconds:.3f} s, gap {found.gap:.1e}")


def main() -> None:
    """Print all lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--secrets", type=int, nargs="*", default=[10, 14, 16])
    asked = parser.parse_args()
    repeated(asked.releases)
    for n in asked.secrets:
        failing(n)


if __name__ == "__main__":
    main()

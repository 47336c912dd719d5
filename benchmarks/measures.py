"""Measures of a large channel against their line of NumPy, and certificates against the same decision in fractions.

Run: OMP_NUM_THREADS=1 python benchmarks/measures.py
Fewest seconds of the processor, in one thread. The last column is the claim that must hold in the same run.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np

from pmlbook import Mechanism
from pmlbook.foundations.leakage import epsilon_pml, local_dp, maximal_leakage
from pmlbook.foundations.probability import mutual_information
from pmlbook.release.certificate import exp_below

SLOWER, FASTER = 4, 8


def fewest(call: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds of the processor for one call."""
    seconds = []
    for _ in range(repeats):
        start = process_time()
        call()
        seconds.append(process_time() - start)
    return min(seconds)


def in_fractions(mechanism: Mechanism, epsilon: float) -> bool:
    """The same decision by whole numbers of Python, one after the other."""
    weights = mechanism.weights
    assert all(min(row) >= 0 and sum(row) == 2**53 for row in weights.tolist())
    common = math.lcm(*(share.denominator for share in mechanism.exact_prior))
    shares = [share.numerator * (common // share.denominator) for share in mechanism.exact_prior]
    means = np.array(shares, dtype=object) @ weights.astype(object)
    tops = weights.max(axis=0).tolist()
    largest = max(Fraction(top * common, mean) for top, mean in zip(tops, means) if top)
    return largest <= exp_below(epsilon)


def line(name: str, ours: float, theirs: float, claim: str, holds: bool) -> bool:
    """One line of the table."""
    ratio = max(ours / theirs, theirs / ours)
    verdict = claim if holds else f"NOT {claim}"
    print(f"  {name:20s} {ours * 1e3:9.2f} {theirs * 1e3:9.2f} {ratio:6.1f}  {verdict}", flush=True)
    return holds


def measures(secrets: int, outcomes: int, seed: int) -> list[bool]:
    """Four measures; those without a division are compared with the line that is one."""
    rng = np.random.default_rng(seed)
    channel = rng.dirichlet(np.ones(outcomes), size=secrets)
    prior = rng.dirichlet(np.ones(secrets))
    level = fewest(lambda: np.log((channel / (prior @ channel)).max(0)).max())
    information = fewest(
        lambda: (prior[:, None] * channel * np.log(channel / (prior @ channel))).sum()
    )
    table = [
        ("epsilon_pml", fewest(lambda: epsilon_pml(channel, prior)), level),
        ("maximal_leakage", fewest(lambda: maximal_leakage(channel)), level),
        ("local_dp", fewest(lambda: local_dp(channel)), level),
        ("mutual_information", fewest(lambda: mutual_information(channel, prior)), information),
    ]
    print(f"{secrets:,d} x {outcomes:,d}, seed {seed}: ms, ms of NumPy, times as long")
    claim = f"at most {SLOWER} times"
    return [line(name, ours, numpy, claim, ours <= SLOWER * numpy) for name, ours, numpy in table]


def certificates(secrets: int, outcomes: int, seed: int) -> list[bool]:
    """A decision by a certificate, and by fractions."""
    rng = np.random.default_rng(seed)
    channel = rng.dirichlet(np.ones(outcomes), size=secrets)
    mechanism = Mechanism(channel, rng.dirichlet(np.ones(secrets)))
    for level in (mechanism.epsilon, math.nextafter(mechanism.epsilon, 0)):
        assert bool(mechanism.certify(level)) == in_fractions(mechanism, level)
    ours = fewest(lambda: bool(mechanism.certify(1.0)))
    fractions = fewest(lambda: in_fractions(mechanism, 1.0), repeats=3)
    print(f"{secrets:,d} x {outcomes:,d}, seed {seed}: ms, ms of fractions, times as fast")
    return [
        line("certify", ours, fractions, f"at least {FASTER} times", FASTER * ours <= fractions)
    ]


if __name__ == "__main__":
    held = []
    for seed in range(3):
        held += measures(1000, 1000, seed) + certificates(300, 600, seed)
        held += certificates(1000, 1000, seed)
    held += measures(10_000, 1000, 0)
    raise SystemExit(0 if all(held) else "a claim does not hold")

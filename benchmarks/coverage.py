"""Coverage of both kinds of intervals where counts are too many to list: seeded samples of several mechanisms.

Run: python benchmarks/coverage.py [--samples 2000]
"""

from __future__ import annotations

import argparse

import numpy as np

from pmlbook.extremal.optimal import optimal_mechanism
from pmlbook.foundations.classic import randomized_response
from pmlbook.release.estimation import INTERVALS, Estimate

RATINGS = np.array([99, 348, 993, 2242, 2684]) / 6366
RARE = np.array([0.002, 0.018, 0.08, 0.3, 0.6])
CASES = {
    "survey optimum, 1.5 nats": (optimal_mechanism(RATINGS, 1.5).mechanism.channel, RATINGS),
    "survey optimum, 0.5 nats": (optimal_mechanism(RATINGS, 0.5).mechanism.channel, RATINGS),
    "randomized response, 2 nats": (randomized_response(5, 2.0), RARE),
}


def covered(
    channel: np.ndarray, truth: np.ndarray, goal: np.ndarray, people: int, samples: int
) -> dict[str, tuple[float, float]]:
    """Share of samples whose interval contains the truth, and the mean width, for each kind."""
    rng = np.random.default_rng(20)
    hits, widths = dict.fromkeys(INTERVALS, 0), dict.fromkeys(INTERVALS, 0.0)
    for counts in rng.multinomial(people, truth @ channel, size=samples).astype(float):
        told = Estimate.from_counts(tuple(range(len(truth))), channel, counts, truth).of(goal)
        for kind in INTERVALS:
            low, high = told.interval(0.95, kind)
            hits[kind] += low <= goal @ truth <= high
            widths[kind] += high - low
    return {kind: (hits[kind] / samples, widths[kind] / samples) for kind in INTERVALS}


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    samples = parser.parse_args().samples
    for name, (channel, truth) in CASES.items():
        for people in (60, 1000):
            for what, goal in (("rarest", np.eye(5)[0]), ("mean", np.arange(5.0))):
                found = covered(channel, truth, goal, people, samples)
                told = ", ".join(f"{k} {c:.4f} width {w:.3f}" for k, (c, w) in found.items())
                print(f"{name}, {people} people, {what}: {told}", flush=True)


if __name__ == "__main__":
    main()

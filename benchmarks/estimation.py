"""What it costs to learn frequencies from released values: five real columns, five mechanisms, four levels.

Run: python benchmarks/estimation.py [--levels .2 .4 1 2] [--releases 500] [--people 2000]
     python benchmarks/estimation.py --secrets 20 50 100 300 [--levels .3 1] [--seconds 3]
The columns come with `statsmodels`. Each row is a column at a level: the least summed variance for one person, then how
many times as large it is for the mechanism of most information, randomized response, the blend of both in the chapter on
surveys, and subset selection, the best of local differential privacy, all with the same leakage. The last two columns are
the mean squared error of the releases over what the design predicts, and the standard error of this ratio.
With `--secrets`, so many instead, random, by Zipf's law and equally likely: the value over its certified bound, the
outcomes for each secret, and seconds of the processor over the limit; for a hundred 1.025, 12 and 1 are wanted.
"""

from __future__ import annotations

import argparse
from itertools import combinations, product
from math import inf
from time import process_time

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.optimize import brentq

from pmlbook import Mechanism, epsilon_pml, estimation_mechanism, optimal_mechanism
from pmlbook.estimation import estimation_variance
from pmlbook.extremal import randomized_response_for_pml
from pmlbook.foundations.probability import random_prior


def columns() -> dict[str, pd.Series]:
    """Frequencies of five columns, none of them rarer than one in a thousand."""
    fair, anes = sm.datasets.fair.load_pandas().data, sm.datasets.anes96.load_pandas().data
    given = {
        "fair: marriage": fair["rate_marriage"],
        "fair: occupation": fair["occupation"],
        "anes96: party": anes["PID"],
        "anes96: education": anes["educ"],
        "anes96: income": (anes["income"] + 1) // 2,  # 24 classes, two a cell
    }
    return {
        name: column.value_counts(normalize=True).sort_index() for name, column in given.items()
    }


def variance(channel: np.ndarray, prior: np.ndarray) -> float:
    """Summed variance for one person, in floats."""
    information = (channel / (prior @ channel)) @ channel.T
    if np.linalg.matrix_rank(information) < len(prior):
        return inf
    return float(np.trace(np.linalg.inv(information)) - prior @ prior)


def subset_selection(prior: np.ndarray, level: float) -> float:
    """Least variance of subset selection (Ye and Barg 2018) over the sizes of its sets, at a leakage."""
    found, n = inf, len(prior)
    for size in range(1, n // 2 + 1):
        sets = np.array([np.isin(range(n), some) for some in combinations(range(n), size)]).T

        def channel(local: float, sets: np.ndarray = sets) -> np.ndarray:
            odds = np.where(sets, np.exp(local), 1.0)
            return odds / odds.sum(axis=1, keepdims=True)

        def beyond(local: float, channel=channel) -> float:
            return epsilon_pml(channel(local), prior) - level

        if beyond(20.0) > 0:
            found = min(found, variance(channel(brentq(beyond, 0, 20.0)), prior))
    return found


def rivals(prior: np.ndarray, level: float) -> dict[str, float]:
    """Summed variances for one person of what else there is."""
    informed = optimal_mechanism(prior, level).mechanism.channel
    response = randomized_response_for_pml(prior, level)
    return {
        "informed": variance(informed, prior),
        "response": variance(response, prior),
        "blend": variance(np.hstack([informed, response]) / 2, prior),
        "subsets": subset_selection(prior, level),
    }


def measured(mechanism: Mechanism, releases: int, people: int) -> tuple[float, float]:
    """Mean squared error of seeded releases over the prediction, and the standard error of this ratio."""
    rng, truth = np.random.default_rng(1), mechanism.prior
    predicted = estimation_variance(mechanism)
    errors = []
    for _ in range(releases):
        counts = rng.multinomial(people, truth @ mechanism.channel)
        found = mechanism.estimate(np.repeat(mechanism.outputs, counts)).frequencies
        errors.append(((found - truth) ** 2).sum() * people / predicted)
    return float(np.mean(errors)), float(np.std(errors) / np.sqrt(releases))


def large(sizes: list[int], levels: list[float], seconds: float) -> None:
    """Print a row for each prior and level: where vertices are too many to list."""
    print(f"{'prior':>8}{'secrets':>8}{'level':>6}{'over bound':>12}{'outcomes':>10}{'time':>7}")
    for size in sizes:
        priors = {
            "random": random_prior(size, np.random.default_rng(1)),
            "zipf": 1 / np.arange(1, size + 1) / (1 / np.arange(1, size + 1)).sum(),
            "equal": np.full(size, 1 / size),
        }
        for (name, prior), level in product(priors.items(), levels):
            began = process_time()
            best = estimation_mechanism(prior, level, max_time=seconds)
            took, outcomes = process_time() - began, len(best.mechanism.outputs) / size
            cells = f"{best.value / best.bound:12.5f}{outcomes:10.1f}{took / seconds:7.2f}"
            print(f"{name:>8}{size:8d}{level:6.1f}{cells}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=float, nargs="+", default=[0.2, 0.4, 1.0, 2.0])
    parser.add_argument("--releases", type=int, default=500)
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--secrets", type=int, nargs="+", default=[])
    parser.add_argument("--seconds", type=float, default=3)
    given = parser.parse_args()
    if given.secrets:
        large(given.secrets, given.levels, given.seconds)
        return
    heads = ("ours", "informed", "response", "blend", "subsets", "measured", "+-")
    print(f"{'column':<18}{'level':>6}" + "".join(f"{head:>10}" for head in heads))
    for name, shares in columns().items():
        prior = shares.to_numpy()
        for level in given.levels:
            best = estimation_mechanism(prior, level)
            others = [value / best.value for value in rivals(prior, level).values()]
            checked = measured(best.mechanism, given.releases, given.people)
            cells = "".join(f"{value:10.2f}" for value in [best.value, *others])
            print(f"{name:<18}{level:6.1f}{cells}{checked[0]:10.3f}{checked[1]:10.3f}", flush=True)


if __name__ == "__main__":
    main()

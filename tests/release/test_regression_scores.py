"""Regression with noise against the definition of its score, and its slope by differences."""

import numpy as np

from pmlbook.estimation import regress
from pmlbook.release.mechanism import Mechanism


def person(beta, weights, row, response=None):
    """One person's score by its definition: an answer and a weight at a time."""
    total = np.zeros(len(beta))
    for secret, weight in enumerate(weights):
        if response is None:  # the secret is explained
            odds = np.exp([0.0, *(beta.reshape(2, -1) @ row)])
            miss = np.eye(3)[secret] - odds / odds.sum()
            total += weight * np.kron(miss[1:], row)
        else:
            design = np.concatenate([np.eye(3)[secret], row])
            total += weight * (response - 1 / (1 + np.exp(-design @ beta))) * design
    return total


def test_the_score_slope_and_covariance_are_those_of_the_definition():
    rng = np.random.default_rng(13)
    skewed = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]])
    three = Mechanism(skewed, [0.5, 0.3, 0.2], outputs=(0, 1, 2))
    codes, chances = three.privatize(rng.integers(3, size=90), rng), rng.random(90)
    age, weights = rng.normal(size=(90, 1)), np.linalg.inv(skewed)[codes]
    both = np.hstack([np.ones((90, 1)), age])
    for fit, people in [
        (
            regress(three, codes, chances, None, age, "logistic"),
            [weights, age, chances],
        ),
        (regress(three, codes, covariates=both), [weights, both]),
    ]:
        scores = np.array([person(fit.coefficients, *each) for each in zip(*people)])
        assert abs(scores.sum(axis=0)).max() < 1e-7
        ends = [
            sum(person(fit.coefficients + move, *each) for each in zip(*people))
            for move in np.vstack([np.eye(4), -np.eye(4)]) * 1e-5
        ]
        bread = np.linalg.inv(np.subtract(ends[4:], ends[:4]) / 2e-5)
        sandwich = bread @ (scores.T @ scores) @ bread.T
        assert np.allclose(fit.covariance, sandwich, rtol=1e-5, atol=1e-12)

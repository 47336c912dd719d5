"""Designs for estimating: within their level, never below their bound, right in names, and refused in one sentence."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy

import pmlbook as pb
from pmlbook.workshop.linear_programmes import Infeasible

FAIR = [0.2, 0.3, 0.5]


def cases(count, seed):
    """Priors, levels from 1e-8 on, on a boundary too, and targets."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(2, 7))
        prior = rng.dirichlet(np.full(n, rng.choice([0.3, 1, 5]))) + 1e-4
        prior /= prior.sum()
        edge = float(-np.log1p(-prior.min()))
        level = (1e-8, 1e-3, 0.3, 1.0, 4.0, edge)[k % 6]
        targets = ("frequencies", rng.normal(size=n), rng.normal(size=(n, 2)), np.eye(n)[:, 0])
        yield prior, level, targets[k % 4]


@pytest.mark.parametrize("prior, level, target", list(cases(36, 1)))
def test_it_keeps_its_level_and_meets_its_bound(prior, level, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.estimation_mechanism(prior, level, target)
    assert design.mechanism.certify(level)
    assert 0 <= design.bound <= design.value
    assert design.gap <= 1e-4 * design.value
    assert design.value == pb.estimation_variance(design.mechanism, target)


def test_the_variance_is_the_textbooks():
    """Against SymPy's own inverse, in fractions."""
    rng = np.random.default_rng(2)
    for n, m in ((2, 2), (3, 4), (4, 6)):
        mechanism = pb.Mechanism(rng.dirichlet(np.ones(m), n), rng.dirichlet(np.full(n, 3.0)))
        p = sympy.Matrix(
            [sympy.Rational(q.numerator, q.denominator) for q in mechanism.exact_prior]
        )
        rows = sympy.Matrix(mechanism.weights.tolist()) / 2**53
        seen = (p.T * rows).applyfunc(lambda q: 1 / q)
        covariance = (rows * sympy.diag(*seen) * rows.T).inv() - p * p.T
        exact = Fraction(int(covariance.trace().p), int(covariance.trace().q))
        assert pb.estimation_variance(mechanism) == float(exact)


def test_more_leakage_never_costs():
    values = [pb.estimation_mechanism(FAIR, level).value for level in (0.1, 0.3, 0.5, 1.0, 2.0)]
    assert all(a >= b * (1 - 1e-7) for a, b in zip(values, values[1:]))
    assert values[-1] == pytest.approx(1 - np.dot(FAIR, FAIR), rel=1e-9)


def test_outcomes_that_do_not_tell():
    silent = pb.Mechanism([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5])
    assert pb.estimation_variance(silent) == np.inf
    merged = pb.Mechanism([[1, 0], [0, 1], [0, 1]], FAIR)
    assert pb.estimation_variance(merged) == np.inf
    assert pb.estimation_variance(merged, [1, 0, 0]) == pytest.approx(0.2 * 0.8, rel=1e-12)
    assert pb.estimation_variance(silent, [3, 3]) == 0


def test_names_are_paired_by_name():
    prior = pd.Series(FAIR, ["a", "b", "c"])
    scores = pd.Series([3.0, 1.0, 2.0], ["c", "a", "b"])
    named = pb.estimation_mechanism(prior, 0.4, scores)
    plain = pb.estimation_mechanism(FAIR, 0.4, [1.0, 2.0, 3.0])
    assert named.value == plain.value and named.mechanism.inputs == ("a", "b", "c")
    assert pb.estimation_variance(named.mechanism, scores) == named.value
    with pytest.raises(ValueError, match="target"):
        pb.estimation_mechanism(prior, 0.4, pd.Series([1.0, 2.0, 3.0], ["a", "b", "d"]))


@pytest.mark.parametrize(
    "arguments, words",
    [
        (([0.5, 0.5, 0.0], 1.0), "prior"),
        ((FAIR, -1.0), "epsilon"),
        ((FAIR, np.nan), "epsilon"),
        ((FAIR, 1.0, "mean"), "target"),
        ((FAIR, 1.0, [1.0, 2.0]), "target"),
        ((FAIR, 1.0, [1.0, np.inf, 2.0]), "target"),
        ((FAIR, 1.0, np.zeros((3, 2, 2))), "target"),
        ((FAIR, 1.0, [2.0, 2.0, 2.0]), "target is the same"),
        ((np.full(30, 1 / 30), 1.0), "30 symbols"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        pb.estimation_mechanism(*arguments)


def test_level_zero_tells_nothing():
    with pytest.raises(Infeasible, match="epsilon = 0"):
        pb.estimation_mechanism(FAIR, 0.0)


def test_estimates_weigh_outcomes_by_how_often_they_come():
    """With more outcomes than secrets the unweighted inverse was unbiased too, and worse."""
    design = pb.estimation_mechanism([0.05, 0.15, 0.3, 0.5], 0.8)
    rng, truth, people = np.random.default_rng(3), design.mechanism.prior, 500
    assert design.mechanism.channel.shape[1] > 4
    errors = []
    for _ in range(1500):
        counts = rng.multinomial(people, truth @ design.mechanism.channel)
        found = design.mechanism.estimate(np.repeat(design.mechanism.outputs, counts)).frequencies
        errors.append(((found - truth) ** 2).sum() * people)
    assert np.mean(errors) == pytest.approx(design.value, rel=0.07)

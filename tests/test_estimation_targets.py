"""Designs for the determinant and for the worst functional: certified, exact, and the same as anybody's formula."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from strategies import problems

import pmlbook as pb
from pmlbook.estimation.targets import min_float, root_above, root_below
from pmlbook.numerics.linear_programmes import Infeasible

AIMS = ("determinant", "largest")


def aim_of(rng, n, k):
    """One criterion at all levels, then the other."""
    return AIMS[k // 6 % 2]


@pytest.mark.parametrize("prior, level, criterion", list(problems(24, 1, aim_of)))
def test_it_keeps_its_level_and_meets_its_bound(prior, level, criterion):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", pb.LooseBound)
        design = pb.estimation_mechanism(prior, level, criterion)
    assert design.mechanism.certify(level)
    assert 0 < design.bound <= design.value
    assert design.gap <= 1e-6 * design.value or told and prior.min() < 1e-3  # 53 bits, and it warns
    assert design.gap <= 1e-5 * design.value
    assert design.value == pb.estimate.estimation_variance(design.mechanism, criterion)


def test_each_design_is_best_for_its_own_aim():
    prior = [0.07, 0.13, 0.3, 0.5]
    designs = {
        criterion: pb.estimation_mechanism(prior, 0.6, criterion)
        for criterion in ("frequencies", *AIMS)
    }
    for criterion, own in designs.items():
        for other in designs.values():
            assert pb.estimate.estimation_variance(other.mechanism, criterion) >= own.bound
        others = [d for name, d in designs.items() if name != criterion]
        assert all(
            pb.estimate.estimation_variance(d.mechanism, criterion) > 1.001 * own.value
            for d in others
        )


def test_the_values_are_those_of_the_covariance():
    rng = np.random.default_rng(2)
    for n in (2, 3, 5):
        m = pb.Mechanism(rng.dirichlet(np.ones(n + 2), n), rng.dirichlet(np.full(n, 3.0)))
        inverse = np.linalg.inv((m.channel / (m.prior @ m.channel)) @ m.channel.T)
        covariance = inverse - np.outer(m.prior, m.prior)
        root = np.linalg.det(covariance[1:, 1:]) ** (1 / (n - 1))
        assert pb.estimate.estimation_variance(m, "determinant") == pytest.approx(root, rel=1e-10)
        top = np.linalg.eigvalsh(covariance)[-1]
        assert pb.estimate.estimation_variance(m, "largest") == pytest.approx(top, rel=1e-10)


def test_the_largest_variance_is_rounded_up_and_no_further():
    """Against 60 digits: the value is the least float at or above the eigenvalue."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(3)
    m = pb.Mechanism(rng.dirichlet(np.ones(4), 3), [Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)])
    with mpmath.workdps(60):
        p = mpmath.matrix([mpmath.mpf(q.numerator) / q.denominator for q in m.exact_prior])
        rows = mpmath.matrix(m.weights.tolist()) / 2**53
        seen = [sum(p[i] * rows[i, y] for i in range(3)) for y in range(4)]
        covariance = (rows * mpmath.diag([1 / s for s in seen]) * rows.T) ** -1 - p * p.T
        top = max(mpmath.eigsy(covariance, eigvals_only=True))
        value = pb.estimate.estimation_variance(m, "largest")
        assert mpmath.mpf(math.nextafter(value, 0)) < top <= mpmath.mpf(value)


@pytest.mark.parametrize("criterion", ("frequencies", *AIMS))
def test_outcomes_that_never_happen_tell_nothing(criterion):
    """They were divided by."""
    channel = np.array([[0.75, 0.25, 0], [0.25, 0.75, 0]])
    plain = pb.Mechanism(channel[:, :2], [0.5, 0.5])
    more = pb.Mechanism(channel, [0.5, 0.5])
    assert pb.estimate.estimation_variance(more, criterion) == pb.estimate.estimation_variance(
        plain, criterion
    )


@pytest.mark.parametrize("criterion", AIMS)
def test_outcomes_that_do_not_tell(criterion):
    merged = pb.Mechanism([[1, 0], [0, 1], [0, 1]], [0.2, 0.3, 0.5])
    assert pb.estimate.estimation_variance(merged, criterion) == math.inf
    assert pb.estimate.estimation_variance(pb.Mechanism([[1.0]], [1.0]), criterion) == 0
    with pytest.raises(Infeasible, match="epsilon = 0"):
        pb.estimation_mechanism([0.2, 0.8], 0.0, criterion)
    with pytest.raises(ValueError, match="the same for every secret"):
        pb.estimation_mechanism([1.0], 0.5, criterion)


@pytest.mark.parametrize("criterion", AIMS)
def test_beyond_the_last_level_the_column_itself_is_best(criterion):
    prior = np.array([0.2, 0.3, 0.5])
    covariance = np.diag(prior) - np.outer(prior, prior)
    best = {
        "determinant": np.linalg.det(covariance[1:, 1:]) ** 0.5,
        "largest": np.linalg.eigvalsh(covariance)[-1],
    }[criterion]
    design = pb.estimation_mechanism(prior, 2.0, criterion)
    assert design.value == pytest.approx(best, rel=1e-9) and design.gap <= 1e-7 * best


@pytest.mark.parametrize("criterion", AIMS)
def test_names_do_not_change_the_design(criterion):
    named = pb.estimation_mechanism({"a": 0.2, "b": 0.3, "c": 0.5}, 0.4, criterion)
    assert named.mechanism.inputs == ("a", "b", "c")
    assert named.value == pb.estimation_mechanism([0.2, 0.3, 0.5], 0.4, criterion).value


@pytest.mark.parametrize("criterion", AIMS)
@pytest.mark.parametrize("level", [1e-2, 1.5, 21.0])
def test_rare_secrets(criterion, level):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.estimation_mechanism([1e-8, 0.1, 0.3, 0.6 - 1e-8], level, criterion)
    assert design.mechanism.certify(level) and design.gap <= 1e-2 * design.value


def test_roots_are_rounded_outwards():
    rng = np.random.default_rng(4)
    for _ in range(200):
        x = Fraction(int(rng.integers(1, 2**60)), int(rng.integers(1, 2**60)))
        x *= Fraction(2) ** int(rng.integers(-900, 900))
        k = int(rng.integers(1, 30))
        low, high = root_below(x, k), root_above(x, k)
        assert Fraction(low) ** k <= x <= Fraction(high) ** k
        assert high in (low, math.nextafter(low, math.inf))
    assert root_above(Fraction(0), 3) == root_below(Fraction(0), 3) == 0


@pytest.mark.parametrize("guess", [1e-300, 0.1, 0.3, 5.0])
def test_the_least_float_is_found_from_any_guess(guess):
    assert min_float(lambda x: x >= 0.3, guess) == 0.3

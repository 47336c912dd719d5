"""Designs for estimating: within their level, never below their bound, right in names, and refused in one sentence."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy
from strategies import problems

import pmlbook as pb
from pmlbook.numerics.enclosure import float_above
from pmlbook.numerics.linear_programmes import Infeasible

FAIR = [0.2, 0.3, 0.5]


def target(rng, n, k):
    """Frequencies, a functional, two functionals, or one frequency, in turn."""
    return ("frequencies", rng.normal(size=n), rng.normal(size=(n, 2)), np.eye(n)[:, 0])[k % 4]


@pytest.mark.parametrize("prior, level, target", list(problems(36, 1, target)))
def test_it_keeps_its_level_and_meets_its_bound(prior, level, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.estimation_mechanism(prior, level, target)
    assert design.mechanism.certify(level)
    assert 0 <= design.bound <= design.value
    assert design.gap <= 1e-6 * design.value
    assert design.value == pb.estimation.estimation_variance(design.mechanism, target)


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
        assert pb.estimation.estimation_variance(mechanism) == float_above(exact)


def test_more_leakage_never_costs():
    values = [pb.estimation_mechanism(FAIR, level).value for level in (0.1, 0.3, 0.5, 1.0, 2.0)]
    assert all(a >= b * (1 - 1e-7) for a, b in zip(values, values[1:]))
    assert values[-1] == pytest.approx(1 - np.dot(FAIR, FAIR), rel=1e-9)


def test_outcomes_that_do_not_tell():
    silent = pb.Mechanism([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5])
    assert pb.estimation.estimation_variance(silent) == np.inf
    merged = pb.Mechanism([[1, 0], [0, 1], [0, 1]], FAIR)
    assert pb.estimation.estimation_variance(merged) == np.inf
    assert pb.estimation.estimation_variance(merged, [1, 0, 0]) == pytest.approx(
        0.2 * 0.8, rel=1e-12
    )
    assert pb.estimation.estimation_variance(silent, [3, 3]) == 0


def test_names_are_paired_by_name():
    prior = pd.Series(FAIR, ["a", "b", "c"])
    scores = pd.Series([3.0, 1.0, 2.0], ["c", "a", "b"])
    named = pb.estimation_mechanism(prior, 0.4, scores)
    plain = pb.estimation_mechanism(FAIR, 0.4, [1.0, 2.0, 3.0])
    assert named.value == plain.value and named.mechanism.inputs == ("a", "b", "c")
    assert pb.estimation.estimation_variance(named.mechanism, scores) == named.value
    with pytest.raises(ValueError, match="target"):
        pb.estimation_mechanism(prior, 0.4, pd.Series([1.0, 2.0, 3.0], ["a", "b", "d"]))


@pytest.mark.parametrize(
    "arguments, words",
    [
        (([0.5, 0.5, 0.0], 1.0), "prior"),
        ((FAIR, -1.0), "epsilon"),
        ((FAIR, np.nan), "epsilon"),
        ((FAIR, 1.0, "median"), "target"),
        ((FAIR, 1.0, [1.0, 2.0]), "target"),
        ((FAIR, 1.0, [1.0, np.inf, 2.0]), "target"),
        ((FAIR, 1.0, np.zeros((3, 2, 2))), "target"),
        ((FAIR, 1.0, [2.0, 2.0, 2.0]), "target is the same"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        pb.estimation_mechanism(*arguments)


def test_level_zero_reveals_nothing():
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


SINGULAR = [  # the best design for one functional determines little else
    (
        [0.2780416351996992, 0.2355840052379981, 0.3656667249642253, 0.12070763459807744],
        0.66,
        [2, 1, 2, 1],
    ),
    (
        [
            0.20571983935881377,
            0.1829397309534623,
            0.21626114846540975,
            0.3029488513834518,
            0.09213042986,
        ],
        0.69,
        [2, 0, 1, 2, 0],
    ),
    ([Fraction(k, 28) for k in (9, 2, 6, 5, 2, 4)], 0.6241543090729936, [2, 0, 0, 1, 2, 1]),
    (
        [0.0013082151221974884, 0.5214724405694927, 0.4752927190148748, 0.0019266252934348716],
        0.81,
        [0, 1, 2, 2],
    ),
    ([0.25] * 4, 0.5825700330709063, [0.87, 0.25, -0.09, -0.25]),
]


@pytest.mark.parametrize("prior, level, target", SINGULAR)
def test_a_design_for_one_functional_may_be_singular(prior, level, target):
    """Weights followed to zero ended in a singular matrix, an endless loop, or an infinite value."""
    prior = [*prior[:-1], 1 - sum(prior[:-1])]
    design = pb.estimation_mechanism(prior, level, target)
    assert design.mechanism.certify(level) and design.gap <= 1e-6 * design.value


@pytest.mark.parametrize("level", [1e-2, 1.5, 8.0, 21.0, 50.0])
@pytest.mark.parametrize("target", ["frequencies", [1, 0, 0, 0], [0, 2, 1, 1]])
def test_rare_secrets_have_their_own_scale(level, target):
    """One scale for all lifts made the information of common secrets vanish beside a rare one's."""
    prior = [1e-9, 0.1, 0.3, 0.6 - 1e-9]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.estimation_mechanism(prior, level, target)
    assert design.mechanism.certify(level) and design.gap <= 1e-2 * design.value


@pytest.mark.parametrize("target", [{"c": 1, "a": 0, "b": 0}, pd.Series([1.0, 0, 0], list("cab"))])
def test_names_of_a_target_need_a_prior_with_names(target):
    """They were paired by position: c's weight went to the first secret."""
    with pytest.raises(ValueError, match="target and prior have different names"):
        pb.estimation_mechanism(FAIR, 0.5, target)
    with pytest.raises(ValueError, match="target and prior have different names"):
        pb.estimation.estimation_variance(pb.Mechanism(np.eye(3), FAIR), target)
    numbered = pb.estimation.estimation_variance(pb.Mechanism(np.eye(3), FAIR), {2: 1, 0: 0, 1: 0})
    assert numbered == pytest.approx(0.25, rel=1e-12)


def test_no_target_is_no_array():
    """It said: real numbers in 0 dimension(s)."""
    with pytest.raises(ValueError, match="target = None is neither 'frequencies'.* nor an array"):
        pb.estimation_mechanism(FAIR, 0.5, None)


@pytest.mark.parametrize("power", [-1000, -500, 300, 500])
def test_the_scale_of_a_target_is_no_matter(power):
    plain = pb.estimation_mechanism(FAIR, 0.4, [1.0, 2.0, 4.0])
    scaled = pb.estimation_mechanism(FAIR, 0.4, np.ldexp([1.0, 2.0, 4.0], power))
    assert (scaled.mechanism.weights == plain.mechanism.weights).all()
    assert scaled.value == max(np.ldexp(plain.value, 2 * power), 5e-324)  # rounded up


@pytest.mark.parametrize("target", [[1e200, 0, 0], [1.7e308, -1.7e308, 0]])
def test_a_variance_that_no_float_holds_is_refused(target):
    mechanism = pb.estimation_mechanism(FAIR, 0.4).mechanism
    for call in (
        lambda: pb.estimation_mechanism(FAIR, 0.4, target),
        lambda: pb.estimation.estimation_variance(mechanism, target),
    ):
        with pytest.raises(ValueError, match="target, or the values of a mean, reach 1"):
            call()


@pytest.mark.parametrize("level", [5e-324, 1e-100, 1e-7])
def test_levels_that_no_channel_can_keep_and_tell_are_refused(level):
    with pytest.raises(ValueError, match="epsilon = .* too small to search for"):
        pb.estimation_mechanism(FAIR, level)


def test_targets_come_as_dicts_too_and_ragged_ones_are_named():
    named = pb.estimation_mechanism({"a": 0.2, "b": 0.3, "c": 0.5}, 0.4, {"c": 3, "a": 1, "b": 2})
    assert named.value == pb.estimation_mechanism(FAIR, 0.4, [1, 2, 3]).value
    assert (
        pb.estimation.estimation_variance(named.mechanism, {"b": 2, "c": 3, "a": 1}) == named.value
    )
    with pytest.raises(ValueError, match="target must hold real numbers"):
        pb.estimation_mechanism(FAIR, 0.4, [[1, 2], [3], [4]])


def test_an_impossible_outcome_is_refused_by_both_methods():
    """Inversion left it out, and frequencies no longer summed to one."""
    mechanism = pb.Mechanism([[0.75, 0.25, 0], [0.25, 0.75, 0]], [0.5, 0.5], outputs=range(3))
    for method in ("inversion", "likelihood"):
        with pytest.raises(ValueError, match="outcome 2 was released"):
            mechanism.estimate([0, 1, 2, 2], method)


def test_a_design_that_is_cut_short_warns():
    """The tolerance was a millionth, but the warning came at a thousandth, and never at an infinite value."""
    prior = np.arange(1, 8) / 28
    with pytest.warns(pb.LooseBound, match="estimation_mechanism"):
        design = pb.estimation_mechanism(prior, 0.5, max_time=0)
    assert design.mechanism.certify(0.5) and design.bound < design.value


def test_a_rare_secret_keeps_its_own_outcome():
    """Its weight is as small as the secret is rare; dropped for that, it left a row without an outcome."""
    prior = [1.0512891857033506e-09, 0.343678596462812, 0.3148800111120031, 0.10939748513511947]
    design = pb.estimation_mechanism([*prior, 1 - sum(prior)], 20.67324862999402, [1, 0, 0, 0, 0])
    assert design.gap <= 1e-6 * design.value


TIES = {
    "an uneven prior": ([0.0057, 0.0033, 0.4692, 0.517, 0.0048], 0.015, [1, 1, 0, 0, 1]),
    "a bound that was useless": ([0.001, 0.002, 0.003, 0.001, 0.993], 0.02, [1, 0, 1, 1, 1]),
    "three values": ([0.1, 0.2, 0.1, 0.25, 0.35], 0.4, [1.0, 3.0, 1.0, 2.0, 3.0]),
    "two functionals": ([0.3, 0.1, 0.2, 0.4], 0.7, [[1, 0], [0, 1], [1, 0], [2, 2]]),
}


@pytest.mark.parametrize("prior, level, target", TIES.values(), ids=TIES)
def test_secrets_with_equal_rows_of_the_target_are_one(prior, level, target):
    design = pb.estimation_mechanism(prior, level, target)
    assert design.mechanism.certify(level)
    assert 0 <= design.value - design.bound <= 1e-9 * design.value
    value = pb.estimation.estimation_variance(design.mechanism, target)
    assert design.value == value and len(design.mechanism.prior) == len(prior)
    rows = [tuple(np.ravel(row)) for row in target]
    for i, k in itertools.combinations(range(len(rows)), 2):
        if rows[i] == rows[k]:
            assert (design.mechanism.channel[i] == design.mechanism.channel[k]).all()

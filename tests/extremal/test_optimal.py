"""Formulas, rounding and second tries of the one function, against fractions and listing."""

from fractions import Fraction
from inspect import signature
from unittest.mock import patch

import numpy as np
import pytest

from pmlbook.extremal import optimal as module
from pmlbook.extremal.column_generation import column_generation
from pmlbook.extremal.dual_bound import publication_worth
from pmlbook.extremal.enumeration import Contradiction, enumerate_optimum, keep_level, mixture
from pmlbook.extremal.lift_vectors import exact_lift_vectors
from pmlbook.extremal.optimal import (
    LOOSE_GAP_FACTOR,
    MAX_ENUMERATED_SECRETS,
    better,
    blended,
    bracket,
    formula_duals,
    formula_vertices,
    loose,
    optimal_mechanism,
    programme_for,
    rounding,
)
from pmlbook.foundations.probability import exact_prior, random_prior
from pmlbook.foundations.utility import NAMED, ExpectedGain, FInformation, as_utility
from pmlbook.numerics.linear_programmes import SolverFailed
from pmlbook.numerics.validation import check_prior, checked_prior
from pmlbook.release.mechanism import Design, Mechanism


def of_checked(call):
    """A call that takes a checked prior, for any prior."""
    return lambda prior, *others: call(checked_prior(prior), *others)


at_lower_level = of_checked(module.at_lower_level)
closed_form, formula_bound = of_checked(module.closed_form), of_checked(module.formula_bound)


def refined(*given):
    """The channel of vectors and shares, if it comes from refining the shares."""
    with patch.dict(vars(module), mixture=lambda *_: "mixed anew"):
        return blended(*given, 0.0)


def test_formulas_are_vertices_with_their_duals():
    rng = np.random.default_rng(41)
    for trial in range(27):
        n = (2, 3, 5)[trial % 3]
        u = list(NAMED.values())[trial % 6] if trial < 24 else ExpectedGain(np.eye(n))
        counts = [1] * n if trial % 4 == 1 else rng.integers(1, 9, size=n).tolist()
        distribution = [Fraction(count, sum(counts)) for count in counts]
        first = 1 / (1 - min(distribution))  # the end of the first region, as a lift
        alike = len(set(distribution)) == 1 and trial % 2 == 1 and isinstance(u, FInformation)
        for limit in (
            Fraction(1),
            1 + Fraction(trial + 1, 28) * (first - 1),
            first,
            first * 11 / 10,
        ):
            if limit > first and n > 2 and not alike:
                continue
            limit = min(limit, 1 / min(distribution))
            vertices = formula_vertices(distribution, limit)
            listed = exact_lift_vectors(distribution, limit)
            mine = {tuple(vertices.column(v)) for v in range(len(vertices.place))}
            every = {tuple(listed.column(v)) for v in range(len(listed.place))}
            if n > 2 and limit > first:  # of vertices that are alike one stands for all
                assert len(mine) == 1 and mine <= every
                assert {tuple(sorted(one)) for one in every} == {tuple(sorted(*mine))}
            else:
                assert mine == every
            duals, exact = formula_duals(vertices, u), exact_prior(distribution)
            worth = [
                u.enclose(one, exact)[0] - sum(y * (x - 1) for y, x in zip(duals, one))
                for one in map(vertices.column, range(len(vertices.place)))
            ]
            assert max(worth) - min(worth) <= 2.0**-44  # none is worth more than the others
        level = float(rng.uniform(0, 1)) * float(np.log(float(first)))
        bound = formula_bound(distribution, level, u)
        truth = enumerate_optimum(distribution, level, u)
        mixed = Mechanism(mixture(truth[0], check_prior(distribution), 0.0), distribution).utility(
            u
        )
        assert mixed - 1e-13 <= bound <= mixed + 1e-11  # the optimum, from above


def test_where_a_formula_applies():
    utilities = [*NAMED.values(), ExpectedGain(np.eye(2))]
    third = [Fraction(1, 3)] * 3
    edge = np.log(1.5)
    for distribution, level, u, applies in (
        ([1.0], 3.0, utilities[0], True),
        ([0.9, 0.1], 2.0, ExpectedGain(np.eye(2)), True),
        ([0.5, 0.3, 0.2], -np.log(0.8) - 1e-12, ExpectedGain(np.eye(3)), True),
        ([0.5, 0.3, 0.2], -np.log(0.8) + 1e-12, utilities[0], False),
        (third, edge + 0.1, utilities[0], True),
        (third, edge + 0.1, ExpectedGain(np.eye(3)), False),
        ([0.5, 0.25, 0.25], 0.5, utilities[0], False),
    ):
        made = closed_form(distribution, level, u)
        assert (made is not None) is applies and (made is None or made.certify(level))


def test_names_and_programmes():
    utilities = [*NAMED.values(), ExpectedGain(np.eye(2))]
    third = [Fraction(1, 3)] * 3
    names = ("a", "b", "c")
    assert closed_form(dict(zip(names, third)), 0.9, utilities[0]).inputs == names
    assert [
        programme_for(u, n)
        for u, n in (
            (ExpectedGain(np.eye(3)), 99),
            (utilities[0], MAX_ENUMERATED_SECRETS),
            (utilities[0], MAX_ENUMERATED_SECRETS + 1),
            (as_utility(lambda column: column.max()), 99),
        )
    ] == ["gain_programme", "enumeration", "column_generation", "enumeration"]


def test_the_level_is_kept_after_rounding():
    rng = np.random.default_rng(41)
    for trial in range(14):
        distribution = random_prior(4, rng)
        u = list(NAMED.values())[trial % 6] if trial < 12 else ExpectedGain(rng.random((4, 3)))
        level = (1e-9, 1e-4, 0.3, 1.0)[trial % 4]
        listed = enumerate_optimum(distribution, level, u)[0]
        mechanism = keep_level(
            lambda shave: Mechanism(mixture(listed, distribution, shave), distribution),  # noqa: B023
            level,
        )
        rows, shares = mechanism.weights, mechanism.exact_prior
        exact = Fraction(0)  # the value of what is stored, to thirty digits
        for column in rows.T.tolist():
            mean = sum((p * k for p, k in zip(shares, column)), Fraction(0))
            if mean:
                exact += mean / 2**53 * u.enclose([k / mean for k in column], shares)[1]
        value, tolerance = mechanism.utility(u), rounding(mechanism, u)
        assert abs(Fraction(value) - exact) <= Fraction(tolerance) and tolerance <= 1e-12 * max(
            value, 1e-300
        )
        for factor, good in ((0.9, True), (1.1, False)):
            try:
                design = bracket(mechanism, u, value - factor * tolerance, "mine")
                assert good and design.bound == value + tolerance and design.method == "mine"
            except Contradiction:
                assert not good
        assert bracket(mechanism, u, value + 2 * tolerance, "mine").bound == value + 2 * tolerance
        for factor in (0.99, 1.01):  # far more than rounding
            assert loose(
                Design(mechanism, value, value + factor * LOOSE_GAP_FACTOR * tolerance, ""), u
            ) is (factor > 1)
        for bound in (np.inf, np.nan):
            with pytest.raises(ValueError, match="finite"):
                bracket(mechanism, u, bound, "mine")

        design = bracket(mechanism, u, value + tolerance, "mine")
        if trial < 12 and level >= 0.3:
            mute = Mechanism(np.ones((4, 1)), distribution)
            assert better(design, u, lambda: mute) is design  # noqa: B023
            other = better(Design(mute, 0.0, design.bound, ""), u, lambda: mechanism)  # noqa: B023
            assert other.mechanism is mechanism and other.value == value

        def fails():
            raise SolverFailed("no")

        assert better(design, u, fails) is design
        if trial < 12 and u.name != "hellinger":
            low = at_lower_level(distribution, level, u, names := tuple("abcd"))
            assert low.certify(level) and low.inputs == names
            # Both kept the level by lowering lifts, at most 1e-14; the value goes with the square of the level.
            lost = 2 * 1e-14 / min(level, 1.0) * value
            assert abs(low.utility(u) - value) <= lost + tolerance + rounding(low, u)


def test_rounding_of_a_maximum():
    """A maximum that is not proved may be off by 2^-40 of the sum of the largest entries."""
    mechanism = Mechanism([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]], [0.4, 0.6])
    found = rounding(mechanism, as_utility(lambda column: column.max()))
    assert found / 2.0**-40 == pytest.approx(0.5 + 0.5 + 0.375, rel=1e-5)


def test_equal_columns_are_joined():
    rng = np.random.default_rng(41)
    utilities = [*NAMED.values(), ExpectedGain(np.eye(2))]
    for _ in range(8):
        distribution = random_prior(7, rng)
        listed = enumerate_optimum(distribution, 0.8, utilities[0])[0]
        right = mixture(listed, distribution, 0.0)
        shares = distribution @ right
        near = shares * (1 + 1e-6 * rng.normal(size=len(shares)))
        for shave in (0.0, 1e-3):
            channel = blended(listed, near, distribution, shave)
            assert np.allclose(channel, mixture(listed, distribution, shave), rtol=0, atol=1e-12)
            assert abs(channel.sum(axis=1) - 1).max() <= 1e-15
        assert abs(right - channel).max() > 1e-6
        for copies in (1, 2):  # vectors that depend on each other do no harm
            channel = refined(np.tile(listed, copies), np.tile(near, copies) / copies, distribution)
            kept = channel / (distribution @ channel)  # lifts, off by what rows may be off
            assert np.allclose(kept, np.tile(listed, copies), rtol=4e-12, atol=0)
            assert abs(channel.sum(axis=1) - 1).max() <= 1e-15
        # without one of them nothing averages to one
        assert refined(listed[:, 1:], near[1:], distribution) == "mixed anew"


def test_a_method_that_does_not_apply_is_refused():
    rng = np.random.default_rng(41)
    distribution = random_prior(5, rng)
    for method, u, said in (
        ("best", "hellinger", "'best' is none of auto"),
        ("closed_form", "hellinger", "no closed form for 5 unequal secrets"),
        ("gain_programme", "hellinger", "needs an ExpectedGain"),
    ):
        with pytest.raises(ValueError) as error:
            optimal_mechanism(distribution, 1.0, u, method)
        assert said in str(error.value)


def test_names_reach_the_mechanism():
    rng = np.random.default_rng(41)
    distribution = random_prior(5, rng)
    named = optimal_mechanism(dict(zip("vwxyz", distribution)), 0.7)
    assert named.mechanism.inputs == tuple("vwxyz") and named.method == "enumeration"
    half = optimal_mechanism({"x": 0.5, "y": 0.5}, 0.2)
    assert half.mechanism.inputs == ("x", "y") and half.method == "closed_form"


def test_the_first_region_ends_where_it_should():
    utilities = [*NAMED.values(), ExpectedGain(np.eye(2))]
    for distribution in (
        [Fraction(9, 10), Fraction(1, 10)],
        [Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)],
    ):
        first, bounds = 1 / (1 - min(distribution)), []
        for end in (first, first * (1 + Fraction(1, 10**6))):  # the upper end of e^epsilon
            with patch.dict(vars(module), lift_limit=lambda *_: (first, end)):  # noqa: B023
                bounds.append(
                    formula_bound(distribution, 0.99 * float(np.log(float(first))), utilities[0])
                )
        assert bounds[0] == bounds[1] > 0


def test_shares_are_refined_and_not_replaced():
    rng = np.random.default_rng(41)
    utilities = [*NAMED.values(), ExpectedGain(np.eye(2))]
    distribution = random_prior(7, rng)
    listed = enumerate_optimum(distribution, 0.8, utilities[0])[0]
    shares = distribution @ mixture(listed, distribution, 0.0)
    uneven = np.concatenate([0.9 * shares, 0.1 * shares])  # twice the same vectors
    kept = distribution @ refined(np.tile(listed, 2), uneven, distribution)
    assert np.allclose(kept, uneven, rtol=0, atol=1e-9)


def test_rows_far_off_are_mixed_anew():
    even = np.array([0.5, 0.5])
    for factor, good in ((0.9, True), (1.1, False)):
        with patch("scipy.linalg.cho_solve", lambda *_: 0.0):  # as if refining did not help
            found = refined(2 * np.eye(2), even * (1 + factor * 1e-12), even)
            assert isinstance(found, np.ndarray) is good


def test_one_tolerance():
    tols = {signature(f).parameters["tol"].default for f in (optimal_mechanism, column_generation)}
    assert len(tols) == 1


def test_a_method_that_is_asked_for_is_used():
    for method in ("gain_programme", "enumeration", "closed_form"):
        two = optimal_mechanism([0.7, 0.3], 0.2, ExpectedGain(np.eye(2)), method)
        assert two.method == method and two.gap < 1e-10


UNEVEN = [1e-12, 0.6, 0.4 - 1e-12]
TESTS = as_utility(lambda column: abs(np.array([0.2, -0.2, 0.0]) @ column) / 2)


@pytest.mark.parametrize("level", [30.0, 36.0, 50.0, 1e308])
def test_from_the_largest_leakage_on_the_secret_is_published(level):
    for prior in ([0.5, 0.3, 0.2], UNEVEN, [1e-12] * 3 + [1 - 3e-12], [0.05] * 20):
        n = len(prior)
        for utility in (*NAMED.values(), ExpectedGain(np.eye(n)), lambda column: column.max()):
            for max_time in (None, 0):
                design = optimal_mechanism(prior, level, utility, max_time=max_time)
                assert (design.mechanism.channel == np.eye(n)).all() and design.gap < 1e-9 * n
                assert design.method == "closed_form" and design.mechanism.certify(level)


def test_no_bound_exceeds_what_publishing_is_worth():
    for prior, level in (([1e-12, 0.5, 0.5 - 1e-12], 27.6),):
        design = optimal_mechanism(prior, level, TESTS)
        assert design.method == "enumeration" and 0.2 - 1e-9 < design.bound < 0.2 + 1e-9
    rng = np.random.default_rng(41)
    for n in (1, 2, 3, 7):
        shares = exact_prior(random_prior(n, rng))
        gains = ExpectedGain(rng.normal(size=(n, 4)))
        for utility in (*NAMED.values(), gains, as_utility(lambda column: column.max())):
            worth = float(publication_worth(shares, utility))
            reached = Mechanism(np.eye(n), np.array(shares, float)).utility(utility)
            assert reached - 1e-12 <= worth <= reached + 1e-11


@pytest.mark.parametrize("level", [0.0, 1e-6, 0.3])
@pytest.mark.parametrize("size", [1.0, 1e9, 1e300])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_tiny_levels_and_large_gains_overflow_nowhere(level, size):
    gains = size * np.array([[1, 0], [0, 1], [0.5, 0.7]])
    for prior in ([0.5, 0.3, 0.2], [1e-8, 1 - 1e-8], [0.45, 0.55]):
        utility = ExpectedGain(gains[: len(prior)])
        for method in ("auto", "enumeration", "gain_programme"):
            design = optimal_mechanism(prior, level, utility, method)
            assert design.value <= design.bound and np.isfinite(design.bound)
        design = optimal_mechanism(prior, level, "total_variation", "column_generation")
        assert design.mechanism.certify(level) and design.bound >= min(level, 0.3) * min(prior)


@pytest.mark.parametrize("level", [0.1, 0.5])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_utility_that_is_not_finite_is_named(level, value):
    for prior in ([0.7, 0.3], [0.5, 0.3, 0.2], [0.25] * 4):
        with pytest.raises(ValueError, match=f"utility is {value} on an extremal lift vector"):
            optimal_mechanism(prior, level, lambda column: value)

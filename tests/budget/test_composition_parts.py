"""Composition: levels in hundreds of digits, vertices by another list, and joint releases."""

from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import gcd, inf

import numpy as np

from pmlbook.budget.composition import (
    Direction,
    JointRelease,
    best_answer,
    compose,
    composed_level,
    exact_lift_vertices,
    worst_joint_level,
)
from pmlbook.release.mechanism import Mechanism
from pmlbook.release.sampling import UNITS


def in_digits(*levels):
    """What is left after several levels, with four hundred digits."""
    with localcontext(Context(400)):
        return -(1 - sum(1 - (-Decimal(level)).exp() for level in levels)).ln()


def refusal(work, *given):
    """The message of an error."""
    try:
        work(*given)
    except ValueError as error:
        return str(error)
    return ""


def test_levels_to_the_last_digit():
    for levels in (
        (1e-10, 1e-12),
        (1e-300, 1e-3),
        (0.3, 0.2),
        (0.6, 0.6),
        (0.69, 0.69),
        (0.1,) * 9,
    ):
        said, true = composed_level(*levels), in_digits(*levels)
        assert Decimal(said) >= true and Decimal(float(np.nextafter(said, 0))) < true * (
            1 + Decimal("1e-30")
        )


def test_nothing_and_everything():
    assert composed_level() == 0 and composed_level(0.3, 0) == composed_level(0.3) == 0.3
    assert composed_level(0, 0) == 0 and composed_level(np.log(2), 0.7) == np.inf


def test_vertices_of_joint_levels():
    some_prior = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))
    for most in (Fraction(1), Fraction(5, 4), Fraction(2), Fraction(9)):
        listed = list(exact_lift_vertices(some_prior, most))
        assert len(set(listed)) == len(listed) > 0
        for lifts in listed:
            assert (
                sum(p * v for p, v in zip(some_prior, lifts)) == 1
                and 0 <= min(lifts) <= max(lifts) <= most
            )
            assert sum(0 < v < most for v in lifts) <= 1
        for given in listed:
            together = [
                max(v * w for v, w in zip(given, other))
                / sum(p * v * w for p, v, w in zip(some_prior, given, other))
                for other in listed
                if any(v * w for v, w in zip(given, other))
            ]
            assert max(together) == best_answer(some_prior, most, given)


def test_joint_releases_of_a_coin():
    assert worst_joint_level(np.full(12, 1 / 12), 0.0, 0.0) == 0
    tossed = compose(Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], outputs=(0, 1)))
    assert tossed.largest_lift == Fraction(3, 2) and tossed.min_ratio == Fraction(1, 3)
    assert tossed.steps(tossed) == 2 * 2 * 2 * (1 + 1) ** 2 and tossed.worst == (0,)
    twofold = compose(tossed, tossed)
    assert (
        twofold.releases == 2
        and len(twofold.columns) == 3
        and twofold.steps(tossed) == 3 * 2 * 2 * 3**2
    )
    assert twofold.worst == (0, 0) and twofold.min_ratio == Fraction(1, 9)
    assert tossed.certify(tossed.epsilon) and not tossed.certify(np.nextafter(tossed.epsilon, 0))
    one_half = Fraction(1, 2)
    for make in (
        lambda: compose(),
        lambda: compose(tossed, 7),
        lambda: worst_joint_level(np.full(13, 1 / 13), 0.1, 0.1),
        lambda: replace(tossed, prior=(one_half, one_half + one_half / 9)),
        lambda: replace(tossed, prior=(2 * one_half, 0 * one_half)),
        lambda: replace(tossed, columns=tossed.columns[:1]),
        lambda: replace(tossed, releases=2),
    ):
        try:
            make()
            raise AssertionError("it was composed")
        except ValueError:
            pass


def test_joint_releases_by_hand():
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("a", "b"))
    turned = Mechanism([[0.25, 0.75], [0.75, 0.25]], [0.5, 0.5], ("b", "a"))
    assert compose(flip, turned).largest_lift == compose(flip, flip).largest_lift == Fraction(9, 5)
    assert compose(flip).steps(compose(flip, flip)) == 2 * 3 * 2 * (1 + 2) ** 2
    assert compose(flip).min_ratio == Fraction(1, 3) and compose(flip, flip).min_ratio == Fraction(
        1, 9
    )
    told = Mechanism([[1, 0], [0.5, 0.5]], [0.5, 0.5], ("a", "b"))
    whole = compose(compose(flip, told), flip)
    split = compose(flip, compose(told, flip))
    assert whole.largest_lift == split.largest_lift and whole.min_ratio == split.min_ratio == 0
    assert sorted(whole.columns)[0].lifts == sorted(split.columns)[0].lifts and whole.releases == 3
    for joint in (whole, split):
        units = {column.lifts: column.units for column in joint.columns}
        assert len(units) == len(joint.columns) and all(gcd(*lifts) == 1 for lifts in units)
        assert units == {column.lifts: column.units for column in split.columns}


def test_what_cannot_be_composed():
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("a", "b"))
    for given, said in [
        ((), "releases is empty"),
        ((flip, 0.5), "release 1 must be a Mechanism or a JointRelease, not a float"),
        ((flip, Mechanism(np.eye(2), [0.5, 0.5])), "inputs differ"),
        (
            (flip, Mechanism(np.eye(2), [0.25, 0.75], ("a", "b"))),
            "made for different priors: 'a' has 0.5 and 0.25",
        ),
        ((flip, Mechanism(np.eye(2), [0.5 + 2.0**-53, 0.5 - 2.0**-53], ("a", "b"))), "differ by"),
    ]:
        assert said in refusal(compose, *given)


def test_nothing_released():
    sure, half = Direction((1, 1), UNITS, ((0,),)), Fraction(1, 2)
    assert JointRelease(("a", "b"), (half, half), (sure,), 1).epsilon == 0


def test_columns_that_do_not_fit():
    sure, half = Direction((1, 1), UNITS, ((0,),)), Fraction(1, 2)
    for prior_of, columns, releases, said in [
        ((half, half), (sure,), 2, "the row of 'a'"),
        ((half, half), (), 1, "the row of 'a'"),
        ((half, half), (sure, sure._replace(lifts=(0, 1))), 1, "the row of 'b'"),
        ((half, Fraction(1, 3)), (sure,), 1, "prior must be"),
        ((Fraction(1), Fraction(0)), (sure,), 1, "prior must be"),
    ]:
        assert said in refusal(JointRelease, ("a", "b"), prior_of, columns, releases)


def test_levels_of_nothing():
    assert composed_level() == composed_level(0.0) == composed_level(0, 0, 0) == 0
    assert composed_level(0.4) == composed_level(0, 0.4, 0) == 0.4


def test_levels_that_are_none():
    for wrong in (-1e-300, np.inf, np.nan):
        assert "level" in refusal(composed_level, 0.1, wrong)


def test_levels_in_a_hundred_digits():
    for levels in (
        (0.25, 0.25),
        (1e-9, 0.3),
        (1e-12,) * 5,
        (0.1, 0.2, 0.3),
        (30.0, 1e-14),
        (0.69, 0.69),
    ):
        with localcontext(Context(120)):
            truth = -(1 - sum(1 - (-Decimal(level)).exp() for level in levels)).ln()
            found = Decimal(composed_level(*levels))
            assert truth <= found <= truth * (1 + Decimal(2) ** -51)


def test_the_first_level_without_a_promise():
    assert composed_level(np.log(2), np.nextafter(np.log(2), 1)) == inf


def test_vertices_against_another_list():
    third = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    for most in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(6)):
        vertices = list(exact_lift_vertices(third, most))
        assert len(set(vertices)) == len(vertices) > 0
        for vertex in vertices:
            assert (
                sum(p * v for p, v in zip(third, vertex)) == 1
                and 0 <= min(vertex) <= max(vertex) <= most
            )
            assert sum(0 < v < most for v in vertex) <= 1
        one_by_one = set()
        for free in range(3):  # two entries at an end, the third from the sum
            for ends in product((Fraction(0), most), repeat=2):
                entries = [*ends[:free], None, *ends[free:]]
                rest = 1 - sum(p * v for p, v in zip(third, entries) if v is not None)
                if 0 <= rest / third[free] <= most:
                    entries[free] = rest / third[free]
                    one_by_one.add(tuple(entries))
        assert set(vertices) == one_by_one


def test_the_most_symbols():
    assert worst_joint_level([1 / 12] * 12, 0.0, 0.0) == 0
    assert "13 symbols, too many: at most 12" in refusal(worst_joint_level, [1 / 13] * 13, 0.1, 0.1)
    assert "first" in refusal(worst_joint_level, [1.0], -1, 0) and "second" in refusal(
        worst_joint_level, [1.0], 0, -1
    )

"""What is printed errs on the safe side: levels up, bounds away from values, and shares that are published up."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.cli.sentences import meant, standing_text
from pmlbook.numerics.linear_programmes import warn_if_loose
from pmlbook.release.certificate import exp_below
from pmlbook.release.levels import share_text, standing
from pmlbook.release.mechanism import Design

NUMBER = r"([0-9.]+(?:e[+-]?[0-9]+)?)"
FLIP = [[0.75, 0.25], [0.25, 0.75]]  # level ln 1.5 = .4054651..., local DP ln 3 = 1.0986122...


def numbers(text, *names):
    """The number that follows each name in a text."""
    return [float(re.search(rf"{name} {NUMBER}", text)[1]) for name in names]


def test_levels_are_rounded_up():
    made = pb.Mechanism(FLIP, [0.5, 0.5])
    for text in (repr(made), made._repr_html_()):
        level, dp = numbers(text, "(?:epsilon|ε) =", "local DP")
        assert made.epsilon <= level < 1.001 * made.epsilon
        assert made.local_dp <= dp < 1.001 * made.local_dp
    (dp,) = numbers(standing_text(made)[0], "level is")
    assert dp >= math.log(3)
    both = pb.budget.compose(made, made)
    (level,) = numbers(repr(both), "epsilon =")
    assert both.epsilon <= level
    low, high = numbers(repr(pb.audit.audit_leakage(FLIP, [0.5, 0.5])), "level", "to")
    assert low <= math.log(1.5) <= high


def test_a_given_level_is_printed_unchanged():
    assert standing(0.1, 0.0) == "local DP 0.1 nats, publishes nothing"
    (times,) = numbers(meant(pb.Mechanism(FLIP, [0.1, 0.9]), 5.0)[0], "may grow")
    assert math.exp(5) < times == 149


@pytest.mark.parametrize("share", [0.39347, 0.1, 1e-9, 0.99899])
def test_a_published_share_is_rounded_up(share):
    told = share_text(share)
    assert Fraction(told.removesuffix(" %")) >= 100 * Fraction(repr(share))


@pytest.mark.parametrize("ends", [(1 / 3, 2 / 3), (2 / 3, 1 / 3), (0.1, 0.1 + 2e-16)])
def test_a_value_and_its_bound_are_rounded_away_from_each_other(ends):
    design = Design(pb.Mechanism(FLIP, [0.5, 0.5]), *ends, "by hand")
    with pytest.warns(pb.LooseBound) as caught:
        warn_if_loose("call", *ends, 0.0)
    for text, way in ((repr(design), " ="), (str(caught[0].message), "")):
        value, bound = numbers(text, f"value{way}", f"bound{way}")
        if ends[0] < ends[1]:
            assert value <= ends[0] and ends[1] <= bound
        else:
            assert bound <= ends[1] and ends[0] <= value


def test_equal_ends_are_printed_in_full():
    design = Design(pb.Mechanism(FLIP, [0.5, 0.5]), 1 / 3, 1 / 3, "by hand")
    assert numbers(repr(design), "value =", "bound =") == [1 / 3, 1 / 3]


def test_what_a_record_leaks_is_enclosed_by_what_is_printed():
    query, channel = pb.records.parity(3), pb.foundations.binary_symmetric(0.1)
    found = pb.per_record_leakage(query, channel, 1.0)
    value, bound, gap = numbers(repr(found), "value =", "bound =", "gap =")
    assert value <= found.value <= found.bound <= bound and found.gap <= gap


def test_floats_of_a_share_are_rounded_with_care():
    rare = np.array([[0.5, 0.5], [0, 1.0]])
    for p in (1e-300, 1e-320, 5e-324):
        assert pb.Mechanism(rare, [p, 1.0]).published > 0


def test_what_exceeds_a_level_is_not_printed_too_small():
    made = pb.Mechanism(FLIP, [0.5, 0.5])  # its lift is 3/2
    for level in (0.0, 0.3, 0.4, 0.405):
        missing = made.certify(level)
        (told,) = numbers(repr(missing), "a factor 1 \\+")
        excess = Fraction(3, 2) / exp_below(level) - 1
        assert excess <= Fraction(str(told)) <= excess * Fraction(11, 10)


def test_an_interval_of_a_coefficient_is_not_printed_too_short():
    fit = pb.estimation.Regression(
        np.array([1.0, -2.0]), np.diag([0.04, 0.25]), ("constant", "age")
    )
    shown = re.findall(rf"<td>(-?{NUMBER}) to (-?{NUMBER})</td>", fit._repr_html_())
    for (low, _, high, _), (least, most) in zip(shown, fit.intervals()):
        assert float(low) <= least < most <= float(high)
    assert len(shown) == 2

"""Designs at their edges: units, rare secrets, even lifts, and the search beyond the list against the list."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.estimation import enumerated_design
from pmlbook.estimation.enumerated_design import (
    estimation_mechanism,
)
from pmlbook.foundations.probability import random_prior


@pytest.mark.parametrize(
    "prior, level", [(np.full(4, 0.25), math.log(2)), (np.full(6, 1 / 6), math.log(3))]
)
def test_even_lifts_have_a_design(prior, level):
    """The search starts from three circles; here all may be one, which does not tell every direction."""
    design = estimation_mechanism(prior, level)
    assert design.mechanism.certify(level) and design.gap <= 1e-9 * design.value


def test_another_unit_is_another_unit_and_nothing_else():
    first, *others = (
        estimation_mechanism([0.5, 0.3, 0.2], 0.5, [0, unit, 2 * unit])
        for unit in (1.0, 2.0**-40, 2.0**60)
    )
    for unit, other in zip((2.0**-40, 2.0**60), others):
        assert (other.value, other.bound) == (first.value * unit**2, first.bound * unit**2)
        assert (other.mechanism.weights == first.mechanism.weights).all()


@pytest.mark.parametrize(
    "wrong",
    [
        ([0.5, 0.5], 0.0),
        ([0.5, 0.5], 0.9e-6),
        ([0.5, 0.5], 1.0, [2, 2]),
        ([0.5, 0.5], 1.0, "frequencies", None, 0.0),
        ([0.5, 0.5], 1.0, "frequencies", None, math.inf),
    ],
)
def test_bad_input_is_refused(wrong):
    with pytest.raises(ValueError):
        estimation_mechanism(*wrong)


def test_vertices_by_climbs_agree_with_those_that_are_listed(monkeypatch):
    p, targets = random_prior(5, np.random.default_rng(9)), ("frequencies", [8, 0, 1, 2, 4])
    small = [estimation_mechanism(p, 0.7, target) for target in targets]
    monkeypatch.setattr(enumerated_design, "MAX_LISTED_SECRETS", 4)  # as if five were too many
    monkeypatch.setattr(enumerated_design, "MAX_ENUMERATED_SYMBOLS", 4)
    for target, best in zip(targets, small):
        told = []
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing to warn of
            grown = estimation_mechanism(
                p, 0.7, target, 600, 1e-7, lambda *now, told=told: told.append(now)
            )
        assert best.bound <= grown.value <= best.value * (1 + 1e-6) and grown.bound <= best.value
        assert grown.gap <= 1e-6 * grown.value and len(told) <= 16
        assert abs(told[-1][0] / grown.value - 1) < 1e-6
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            early = estimation_mechanism(p, 0.7, target, 0)
        assert early.bound <= best.value < early.value and [w.category for w in said] == [
            pb.LooseBound
        ]


@pytest.mark.parametrize(
    "prior, level",
    [([0.5, 0.5 - 1e-12, 1e-12], 1e-6), ([0.4, 0.3, 0.2, 0.1 - 1e-9, 1e-9], 1e-4)],
)
@pytest.mark.parametrize("target", ["frequencies", "mean"])
def test_a_rare_secret_at_a_strict_level_is_estimated(prior, level, target):
    """The best weights use outcomes that are too rare for 53 bits; another optimum does not need them."""
    design = estimation_mechanism(prior, level, target)
    assert design.mechanism.certify(level) and 0 <= design.gap <= 1e-6 * design.value


@pytest.mark.parametrize("n, least", [(13, 10**10), (14, 10**12)])
def test_a_rare_secret_keeps_its_vertex(n, least):
    """Fewer vertices than secrets were left, and LAPACK complained."""
    prior = [Fraction(1, least)] + [(1 - Fraction(1, least)) / (n - 1)] * (n - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        design = pb.estimation_mechanism(prior, 30, max_time=3)
    assert design.bound <= design.value

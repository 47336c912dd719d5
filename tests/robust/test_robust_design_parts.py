"""Robust designs: shaved mixtures, vertices and what is too many to list."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from pmlbook.foundations.utility import as_utility
from pmlbook.numerics.progress import Clock
from pmlbook.release.certificate import exp_below
from pmlbook.robust.estimated_prior import PriorRegion, box_region, least_mean, worst_leakage
from pmlbook.robust.robust_design import (
    keeps_level,
    robust_bound,
    robust_mechanism,
    robust_mixture,
    robust_vertices,
    vertices_of,
)


def too_bold(region, level, measure):
    """What robust_mixture makes of vertices that were listed for a fifth more than the level."""
    bold = robust_vertices(region, exp_below(1.2 * level))
    return robust_mixture(region, level, measure, Clock(), lambda limit: bold)


TWO, INFORMATION = PriorRegion([0.5, 0.5], [0.4, 0.4], [0.6, 0.6]), as_utility("mutual_information")


def test_vertices_of_a_higher_level_are_shaved_until_they_keep_the_level():
    saved = too_bold(TWO, 0.3, INFORMATION)
    assert keeps_level(saved, TWO, 0.3) and worst_leakage(saved.channel, TWO).max() >= 0.1


def test_no_limit_above_the_level_is_asked_for():
    asked = []

    def listed(limit):
        asked.append(limit)
        return robust_vertices(TWO, limit)

    close = robust_mixture(TWO, 0.6, INFORMATION, Clock(), listed)
    assert max(asked) <= exp_below(0.6) and asked[-1] > exp_below(0.6) * (1 - Fraction(1, 10**9))
    best = robust_mechanism(TWO, 0.6).mechanism
    assert np.allclose(close.channel, best.channel, rtol=0, atol=1e-9)
    robust_mixture(TWO, 0.0, INFORMATION, Clock(), listed)
    assert asked[-1] == 1


def test_levels_beyond_all_lifts_have_one_bound():
    assert len({robust_bound(TWO, level, INFORMATION, Clock()) for level in (2000.0, 1000.0)}) == 1


def test_the_least_probability_of_a_set_is_exact():
    sets = ([0, 0], [1, 0], [1, 1])
    assert [least_mean(TWO, states) for states in sets] == [0, Fraction(0.4), 1]


def test_vertices_on_given_sets():
    region, limit = box_region([41, 30, 20, 9]), Fraction(3, 2)
    list_of_all = robust_vertices(region, limit)
    min_of = partial(least_mean, region)
    again = vertices_of(region, limit, list_of_all.inner, list_of_all.outer, min_of)
    assert again.share == list_of_all.share and (again.lifts == list_of_all.lifts).all()


def test_columns_of_vertices_in_fractions():
    region, limit = box_region([41, 30, 20, 9]), Fraction(3, 2)
    list_of_all = robust_vertices(region, limit)
    min_of = partial(least_mean, region)
    again = vertices_of(region, limit, list_of_all.inner, list_of_all.outer, min_of)
    for v in range(len(again.share)):
        column = again.column(v)
        told = list(map(float, column)), [float(x - 1) for x in column]
        assert told == (again.lifts[:, v].tolist(), again.shifts[:, v].tolist())
        assert (
            max(column) == again.heights[v]
            and sum(map(Fraction.__mul__, again.shares, column)) == 1
        )
        inner, both = again.inner[v].tolist(), (again.inner[v] | again.outer[v]).tolist()
        t = again.share[v]
        floor = (1 - again.share[v]) * min_of(inner) + again.share[v] * min_of(both)
        assert floor == 1 / limit if t else min_of(inner) >= 1 / limit and not again.outer[v].any()


def test_what_is_too_many_to_list():
    two = PriorRegion([0.5, 0.5], [0.4, 0.4], [0.6, 0.6])
    mixed = robust_mechanism(two, 0.6).mechanism
    region, limit = box_region([41, 30, 20, 9]), Fraction(3, 2)
    min_of = partial(least_mean, region)
    rare = vertices_of(
        region, limit, np.eye(4, dtype=bool)[3:], np.zeros((1, 4), dtype=bool), min_of
    )
    assert (rare.inner | rare.outer).all() and rare.column(0)[3] == rare.heights[0]
    assert (1 - rare.share[0]) * min_of(rare.inner[0].tolist()) + rare.share[0] == 1 / limit
    many = PriorRegion(np.full(11, 1 / 11), np.zeros(11), np.ones(11))
    ten = PriorRegion(np.full(10, 0.1), np.full(10, 0.1), np.full(10, 0.1))
    with pytest.raises(ValueError, match="too many to list"):
        robust_vertices(many, limit)
    with pytest.raises(ValueError, match="201 secrets: at most 200"):
        robust_mechanism(PriorRegion(np.full(201, 1 / 201), np.zeros(201), np.ones(201)), 0.5)
    with pytest.raises(ValueError, match="2 inputs, not 10"):
        keeps_level(mixed, ten, 0.5)
    assert keeps_level(robust_mechanism(many, 0.5, max_time=0.0).mechanism, many, 0.5)

"""Mutual information: tangents, Lagrangian bounds, Newton steps and their ends."""

from fractions import Fraction

import numpy as np
import pytest

from pmlbook.hamming.exact import dp_leakage
from pmlbook.hamming.information_barrier import (
    lower_bound,
    proven_bound,
)
from pmlbook.hamming.mutual_information import (
    _information_above,
    mi_leakage,
)
from pmlbook.hamming.source_sets import SourceSet
from pmlbook.numerics.enclosure import as_fractions, ln_around
from pmlbook.numerics.linear_programmes import SolverFailed


def test_bounds_at_the_ends():
    half = np.full((1, 2), 0.5)
    for bound in (lower_bound, proven_bound):
        assert abs(bound(half, 0.25, np.ones(1), np.array([0.0]))) == 0
        for dual in (4e-300, 1e-9, 1e-3):  # at one half a constant answer is good enough
            assert bound(half, 0.5, np.ones(1), np.array([dual])) <= (
                1e-15 if bound is lower_bound else 0
            )
            assert bound(half, 0.5, np.ones(1), np.array([dual])) > -dual
        truth = bound(np.array([[0.5, 0.5, 0.0]]), 0.0, np.ones(1), np.array([2e4]))
        assert abs(truth - np.log(2)) < 1e-12  # no error is allowed: a bit in the clear
        assert bound(half, 0.25, np.ones(1), np.array([2e4])) < -4000


def test_more_room_than_rounding_takes():
    draw = np.random.default_rng(20)
    for m, k in (
        (2, 1),
        (3, 2),
        (5, 3),
    ):  # more room than rounding takes, also for a distribution far off
        V, channel = draw.dirichlet(np.ones(m), k), draw.dirichlet(np.ones(m), m)
        distribution = np.append(np.full(m - 1, 1e-20), 1.0)
        terms = [
            [
                Fraction(c) * ln_around(Fraction(c) / Fraction(q))[1]
                for c, q in zip(row, distribution.tolist())
            ]
            for row in channel.tolist()
        ]
        exact, size = (
            max(sum(Fraction(v) * part for v, part in zip(vertex, parts)) for vertex in V.tolist())
            for parts in ([sum(row) for row in terms], [sum(map(abs, row)) for row in terms])
        )
        room = Fraction(_information_above(SourceSet(V), channel, distribution)) - exact
        assert m * size / 2**53 < room < size / 10**13


@pytest.mark.parametrize("below", [0, 6e-17, 9e-15, 2e-14, 1e-10])
def test_the_distortion_is_kept_exactly_where_a_constant_answer_nearly_does(below):
    draw = np.random.default_rng(8)
    drawn = [draw.dirichlet(np.ones(m), k).tolist() for m, k in ((2, 1), (3, 2), (5, 3))]
    for V in ([[0.5, 0.3, 0.2]], [[0.7, 0.2, 0.1]], [[1.0, 0.0], [0.5, 0.5]], *drawn):
        answer = mi_leakage(V, 1).mechanism.channel[0]  # the best constant one
        limit = 1 - float((np.array(V) @ answer).min()) - below
        design = mi_leakage(V, limit)
        right = [Fraction(x) for x in design.mechanism.channel.diagonal().tolist()]
        kept = [sum(p * x for p, x in zip(as_fractions(vertex), right)) for vertex in V]
        assert 1 - min(kept) <= Fraction(limit)
        assert design.bound <= design.value < 1e-9
    assert mi_leakage([[0.5, 0.3, 0.2]], 0.5).method == "constant"


@pytest.mark.parametrize("distortion", [5e-324, 1e-310, 1e-308, 1e-300, 1e-20])
def test_a_distortion_too_small_to_store(distortion):
    for V in ([[0.5, 0.5]], [[1, 0, 0], [0.5, 0.25, 0.25]], [[0.5, 0.5], [1, 0]]):
        for call in (dp_leakage, mi_leakage):
            with pytest.raises(SolverFailed, match=f"distortion = {distortion!r} is too small"):
                call(V, distortion)

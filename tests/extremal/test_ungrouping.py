"""Ungrouped columns of very unequal masses."""

import numpy as np

from pmlbook.extremal.ungrouping import (
    ROUNDING_PART,
    rounding_of,
    schedule,
    snapped,
    unroll,
    wrap_around,
)


def test_rounding_of_a_light_symbol_is_larger():
    assert np.all(rounding_of(np.full(3, 7.0)) == ROUNDING_PART)
    light = np.array([1e-9, 1.0])  # of the light one only a part of a millionth is sure
    assert np.array_equal(rounding_of(light), [2.0**-48 * (1 + 1e-9) / 1e-9, ROUNDING_PART])
    ends = np.array([0.5, 2, 5e11]) * ROUNDING_PART
    assert snapped(ends, 0.0, 1.0).tolist() == [0, 2 * ROUNDING_PART, 0.5]
    assert snapped(1 - ends, 0.0, 1.0).tolist() == [1, 1 - 2 * ROUNDING_PART, 0.5]
    assert snapped(ends, 0.0, 1.0, 3 * ROUNDING_PART).tolist() == [0, 0, 0.5]


def test_unrolled_columns_keep_their_shares():
    rng = np.random.default_rng(14)
    for _ in range(30):  # masses of very different sizes, and columns with one fraction each
        bundle, weights = np.arange(12) % 3, rng.dirichlet(np.ones(3))
        mass = 10.0 ** rng.uniform(-7, 0, size=12)
        filled = rng.integers(0, 2, size=(3, 3)).astype(float)
        filled[rng.integers(0, 3, size=3), np.arange(3)] = rng.random(3)
        x, shares = unroll(mass, bundle, filled, weights)
        assert x.min() >= 0 and x.max() <= 1 and ((x > 0) & (x < 1)).sum(axis=0).max() <= 1
        assert x.shape[1] <= 12 and np.isclose(shares.sum(), 1, rtol=0, atol=1e-14)
        held = np.array([mass * (bundle == g) @ x for g in range(3)])  # each bundle keeps its mass
        whole = np.bincount(bundle, mass)
        for g in range(3):
            assert np.isclose(
                held[g] @ shares, whole[g] * (filled[g] @ weights), rtol=1e-12, atol=0
            )
        load = filled[0] * mass[:4].sum()
        dealt = wrap_around(load, weights, mass[:4])
        assert dealt.min() >= 0 and dealt.max() <= 1
        assert abs(mass[:4] @ dealt - load).max() <= 1e-12 * mass[:4].sum()
        pieces, lengths = schedule(dealt[:, 0], mass[:4])
        assert (
            np.isclose(sum(lengths), 1, rtol=0, atol=1e-14) and min(lengths) >= 0
        )  # a cut at rounding is empty
        assert len(pieces) == len(lengths) <= 4
        for piece in pieces:
            assert np.isclose(mass[:4] @ piece, load[0], rtol=0, atol=1e-12 * mass[:4].sum())


def test_nothing_to_deal_out():
    x, shares = unroll(
        np.ones(2), np.arange(2), np.array([[1.0, 0.0], [0.0, 1.0]]), np.full(2, 0.5)
    )
    assert x.tolist() == [[1, 0], [0, 1]] and shares.tolist() == [0.5, 0.5]  # nothing to deal out

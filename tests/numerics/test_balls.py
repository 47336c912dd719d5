"""Balls contain the truth: what is computed with logarithms in a proof, against formulas and many points."""

import math

import pytest

flint = pytest.importorskip("flint")
from flint import arb, fmpq  # noqa: E402

from pmlbook.numerics.balls import (  # noqa: E402
    information,
    joint_information,
    pieces,
    shannon_entropy,
    xlogx,
)

ROWS = [[fmpq(1, 3), fmpq(2, 3), fmpq(0)], [fmpq(1, 5), fmpq(1, 5), fmpq(3, 5)]]
PRIOR = [fmpq(2, 7), fmpq(5, 7)]


def test_information_is_the_same_by_parts():
    table = [[p * e for e in row] for p, row in zip(PRIOR, ROWS)]
    out = [sum(column) for column in zip(*table)]
    parts = [
        e * arb(e / (p * o)).log() for p, row in zip(PRIOR, table) for e, o in zip(row, out) if e
    ]
    assert information(PRIOR, ROWS).overlaps(sum(parts))
    assert information(PRIOR, ROWS).overlaps(joint_information(table))
    assert information(PRIOR, [[1, 0], [0, 1]]).overlaps(shannon_entropy(PRIOR))
    assert information(PRIOR, [[1, 0], [1, 0]]).contains(0)


def test_what_is_no_distribution_has_no_information():
    with pytest.raises(ValueError, match="not to 1"):
        information([fmpq(1, 2), fmpq(1, 3)], ROWS)


def test_pieces_cover_a_side_and_images_hold_every_value():
    cover = pieces(fmpq(1, 7), fmpq(2, 3), 10)
    assert all(a.overlaps(b) for a, b in zip(cover, cover[1:]))
    for k in range(101):
        x = fmpq(1, 7) + (fmpq(2, 3) - fmpq(1, 7)) * fmpq(k, 100)
        held = [piece for piece in cover if piece.contains(x)]
        assert held and all(xlogx(piece).overlaps(xlogx(x)) for piece in held)
        assert abs(float(xlogx(x)) - float(x) * math.log(float(x))) < 1e-15


def test_no_claim_holds_where_a_logarithm_has_no_value():
    image = xlogx(arb(0, 1))
    assert not (image > -1) and not (image < 1) and xlogx(0) == 0

"""Pieces of the optimum: values in fifty digits, and the limit."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from pmlbook.extremal.measure_lists import exact_weights
from pmlbook.extremal.optimum_curve import moved, optimum_pieces, value_of
from pmlbook.foundations.utility import NAMED


def test_a_value_is_never_above_the_truth():
    shares, information = [Fraction(k, 10) for k in (6, 3, 1)], NAMED["mutual_information"]
    pieces = optimum_pieces(shares)
    c = (pieces[1].low + pieces[1].high) / 2
    vertices = [moved(shares, name, c) for name in pieces[1].names]
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(0)
        for w, v in zip(exact_weights(vertices, [Fraction(1)] * 3), vertices):
            for p, x in zip(shares, v):
                lift = Decimal(x.numerator) / x.denominator
                exact += (
                    Decimal((w * p).numerator) / (w * p).denominator * (lift and lift * lift.ln())
                )
        assert 0 <= Fraction(exact) - value_of(shares, pieces[1].names, c, information) < 1e-15


def test_six_secrets_are_too_many():
    with pytest.raises(ValueError) as error:
        optimum_pieces([Fraction(1, 6)] * 6)
    assert "limit is 5" in str(error.value)

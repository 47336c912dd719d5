"""Distributions in fractions, and the digits that decimals need."""

from fractions import Fraction

from pmlbook.numerics.enclosure import as_decimal, as_fractions, digits_for_smallest


def test_digits_for_the_smallest_number():
    for k in (0, 3, 40, 300):  # as many digits for the smallest, twice, beside sixty
        assert 60 + 2 * k <= digits_for_smallest(Fraction(1, 10**k)) <= 62 + 2.01 * k
    assert (
        digits_for_smallest(Fraction(1, 10**40 + 1))
        >= digits_for_smallest(Fraction(1, 10**40))
        > digits_for_smallest(Fraction(1))
    )


def test_fractions_and_decimals():
    assert as_fractions([1, Fraction(1, 2), 0.5]) == (
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 4),
    )
    assert as_decimal(Fraction(3, 8)) * 8 == 3

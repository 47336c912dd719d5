"""What a level of differential privacy promises about one record: in sixty digits, and at its limits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from pmlbook.records import counting, dp_leakage_bound, parity
from pmlbook.records.dp_bound import ratio_information

LN2 = math.log(2)
BIT = math.nextafter(LN2, 1)  # the float above ln 2


@pytest.mark.parametrize("epsilon", [1e-10, 1e-3, 0.0999, 0.1001, 0.5, 1.0, 10.0, 300.0, 1000.0])
def test_information_in_a_ratio_to_many_digits(epsilon):
    with mpmath.workdps(60):
        x = mpmath.mpf(epsilon) / 2
        exact = mpmath.log(mpmath.sinh(x) / x) + x * mpmath.coth(x) - 1
        c = mpmath.exp(epsilon)
        two = mpmath.log(2) + mpmath.log(1 / (1 + c)) / (1 + c)
        two += mpmath.log(c / (1 + c)) * c / (1 + c)
    found, bit = ratio_information(epsilon), ratio_information(epsilon, 2)
    assert exact <= found <= exact * (1 + 1e-3) and found <= epsilon**2 / 8 * (1 + 1e-9)
    assert two <= bit * (1 + 1e-12) and bit <= found
    assert ratio_information(epsilon, 3) <= math.log(3) * (1 + 2**-52)


def test_promise_falls_with_doubt_and_is_never_more_than_all():
    levels = np.linspace(0, 5 * LN2, 40)
    promised = [dp_leakage_bound(parity(5), 0.7, b) for b in levels]
    assert (np.diff(promised) <= 0).all() and promised[0] <= BIT
    best = LN2 + sum(p * math.log(p) for p in (1 / (1 + math.exp(s)) for s in (0.7, -0.7)))
    assert promised[-1] == pytest.approx(best, abs=1e-12)  # randomized response
    assert dp_leakage_bound(parity(5), 1000.0, 0) == BIT
    assert dp_leakage_bound(parity(5), 0.0, 5 * LN2) < 1e-12


@pytest.mark.parametrize("query", [parity(1), parity(2), parity(4)])
def test_no_bound_is_below_what_a_published_bit_leaks(query):
    """The float nearest to ln 2 is below it."""
    assert Fraction(LN2) < Fraction(dp_leakage_bound(query, 1000.0, 0))


@pytest.mark.parametrize("epsilon, b", [(-1.0, 0.0), (math.inf, 0.0), (0.5, -1.0), (0.5, 3.0)])
def test_levels_that_mean_nothing_are_refused(epsilon, b):
    with pytest.raises(ValueError, match="epsilon|b = "):
        dp_leakage_bound(counting(3), epsilon, b)

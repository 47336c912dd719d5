"""Rate and distortion: the fair bit in fractions, ends and units."""

from fractions import Fraction

import numpy as np
import pytest

from pmlbook.foundations.probability import mutual_information
from pmlbook.numerics.enclosure import ln_around
from pmlbook.record_design.classical import rate_distortion


def test_a_fair_bit_in_fractions():
    for D in (1e-12, 1e-3, 0.11, 0.4, 0.499, 0.5 - 1e-7, 0.5 - 1e-11):
        close = [Fraction(D), 1 - Fraction(D)]
        low, high = (
            sum(end)
            for end in zip(ln_around(Fraction(2)), *([z * x for x in ln_around(z)] for z in close))
        )
        for p in ([0.5, 0.5], [0.5, 0.0, 0.5]):
            flip = np.abs(np.subtract.outer(range(len(p)), range(0, len(p), len(p) - 1))) > 0
            found = rate_distortion(p, flip, D)
            assert Fraction(found.bound) <= low and high <= Fraction(found.value) + Fraction(
                1, 10**13
            )
            assert found.value - found.bound < 1e-7


def test_rates_at_both_ends():
    draw = np.random.default_rng(23)
    for n, m in ((2, 2), (3, 4)):
        p, d = draw.dirichlet(np.ones(n)), draw.uniform(0, 1, (n, m))
        least, free = p @ d.min(axis=1), (p @ d).min()
        for share in (0.0, 0.02, 0.5, 0.95):
            D = least + share * (free - least)
            found = rate_distortion(p, d, D)
            assert p @ (found.channel * d).sum(axis=1) <= D + 1e-15
            assert found.bound - 1e-9 <= found.value <= found.bound + 1e-5
            assert np.isclose(found.value, mutual_information(found.channel, p), rtol=0, atol=1e-9)
        assert rate_distortion(p, d, free)[:2] == (0, 0)
        nearly = rate_distortion(p, d, free - 1e-3)
        assert 0 < nearly.value <= nearly.bound + 1e-5 < 0.1
        for wrong in ((p, d, least - 1e-9), (p[1:] / p[1:].sum(), d, 0.9)):
            with pytest.raises(ValueError):
                rate_distortion(*wrong)
    for unit in (
        1e-6,
        1.0,
        1e6,
    ):  # the rounding that is forgiven grows with the unit of the distortion
        ends = [unit * end * (1 - 2.0**-50) for end in (least, free)]
        exact, silent = (rate_distortion(p, unit * d, end) for end in ends)
        assert np.isclose(exact.value, rate_distortion(p, d, least).value, rtol=0, atol=1e-6)
        assert silent[:2] == (0, 0) < rate_distortion(p, unit * d, ends[1] * (1 - 1e-9))[:1]

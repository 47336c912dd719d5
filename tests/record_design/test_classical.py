"""Rate and distortion: the fair bit in fractions, ends and units."""

from fractions import Fraction

import numpy as np
import pytest

from pmlbook.foundations.probability import mutual_information
from pmlbook.numerics.enclosure import ln_around
from pmlbook.record_design import classical
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


def test_a_wider_enclosure_lowers_the_bound_by_its_width(monkeypatch):
    draw = np.random.default_rng(1)
    p, d = draw.dirichlet(3 * np.ones(3)), draw.uniform(0, 1, (3, 3)) + 1 - np.eye(3)
    least, free = p @ d.min(axis=1), (p @ d).min()
    case = p, d, least + 0.5 * (free - least), 2.0
    mean, width = classical._at_slope(p, d, 2.0, 1e-6)[1], Fraction(1, 10**4)
    narrow, ln, exp = classical._proven_rate(*case, mean), ln_around, classical.exp_around
    assert narrow > 1e-3
    with monkeypatch.context() as patch:
        patch.setattr(classical, "ln_around", lambda x: [ln(x)[0] - width, ln(x)[1] + width])
        wide = classical._proven_rate(*case, mean)
    assert wide == pytest.approx(narrow - 2e-4, abs=1e-12)
    wider = Fraction(1001, 1000)
    monkeypatch.setattr(classical, "exp_around", lambda x: [exp(x)[0] / 2, exp(x)[1] * wider])
    assert classical._proven_rate(*case, mean) == pytest.approx(narrow - np.log(1.001), abs=1e-12)


def test_a_slope_is_one_over_distortion(monkeypatch):
    """As if no slope were near enough to the constant channel."""
    slopes = []
    monkeypatch.setattr(classical, "_at_slope", lambda *_: (np.eye(2), None))
    monkeypatch.setattr(classical, "_finish", lambda p, d, D, s, tol: slopes.append(s))
    for unit in (1.0, 8.0):
        rate_distortion(np.array([0.3, 0.7]), unit * (1 - np.eye(2)), 0.1 * unit)
    assert np.all(abs(np.log(np.array(slopes) * [1, 8]) + 40) <= 3)

"""Noise: the largest chord in sixty digits, bins against quadrature, and the limits."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from pmlbook.per_record.certificate import per_record_leakage
from pmlbook.per_record.noise import binned_noise, noisy_leakage, ratio_information
from pmlbook.per_record.queries import Query


def by_the_chord(epsilon):
    """The largest chord of the proof, and the capacity of randomized response, with sixty digits."""
    with localcontext(prec=60):
        level = Decimal(epsilon)
        c = level.exp()
        a, t = (c - 1) / (c * level), 1 / (1 + c)
        chord = a.ln() + (1 - a) * c * level / (c - 1)
        return chord, Decimal(2).ln() + t * t.ln() + (1 - t) * (1 - t).ln()


def test_the_largest_chord_in_sixty_digits():
    for epsilon in (0.001, 0.0999, 0.1001, 1.0, 30.0, 999.0):
        chord, flipped = by_the_chord(epsilon)
        any_size, two = (Decimal(ratio_information(epsilon, size)) for size in (None, 2))
        loose = Decimal(1.0 + epsilon**2 / 4 if epsilon < 0.1 else 1.0 + 1e-10)
        assert chord < any_size < chord * loose and flipped < two < flipped * loose or epsilon > 20
        assert chord < any_size < chord * loose and ratio_information(epsilon, 3) <= math.log(3)


def test_no_noise_and_no_information():
    assert ratio_information(1.0, 1) == ratio_information(0.0) == 0
    for size in (2, 5):  # the smallest float above what so many values can tell
        found = ratio_information(999.0, size)
        assert math.nextafter(found, 0) <= math.log(size) <= found


def test_bins_against_quadrature():
    for noise, distribution, scale, bins in (
        ("laplace", laplace, 0.7, 2),
        ("gaussian", norm, 0.3, 1),
        ("gaussian", norm, 0.5, 3),
        ("gaussian", norm, 2.0, 1),
    ):
        channel, inside, outside = binned_noise(3, noise, scale, bins)
        first = 0 if noise == "laplace" else -math.ceil(6 * scale)
        edges = first + np.arange((2 - 2 * first) * bins + 1) / bins
        for value, row in enumerate(channel):
            assert np.isclose(row[0], distribution.cdf(first, value, scale), rtol=1e-12, atol=0)
            assert np.isclose(row[-1], distribution.sf(edges[-1], value, scale), rtol=1e-12, atol=0)
            for k, (low, high) in enumerate(zip(edges, edges[1:])):
                mass = quad(distribution.pdf, low, high, (value, scale), epsabs=0, epsrel=1e-11)[0]
                assert np.isclose(row[k + 1], mass, rtol=1e-9, atol=0)
        tails = distribution.cdf(first, range(3), scale) + distribution.sf(
            edges[-1], range(3), scale
        )
        assert (
            outside == 0 if noise == "laplace" else tails.max() < outside < tails.max() * (1 + 1e-8)
        )
        width, spread = Fraction(1, bins), Fraction(scale)
        told = [(width / 2 / spread) ** 2 / 6, (2 * width) ** 2 / 32 / spread**4][
            noise == "gaussian"
        ]
        assert told < Fraction(inside) < told * (1 + Fraction(1, 10**11))
        tilt, half = (1 / scale if noise == "laplace" else 1 / scale**2), 0.5 / bins
        total = quad(lambda y, t: math.exp(t * y), -half, half, (tilt,))[
            0
        ]  # the steepest density within a bin
        far = tilt * quad(lambda y, t: y * math.exp(t * y), -half, half, (tilt,))[0] / total
        assert far - math.log(total / width) <= inside  # its divergence from the flat one


def test_the_largest_channels_that_fit():
    for n_values, noise, scale, bins in (
        (2, "laplace", 1e-3, 1),
        (2, "laplace", 1e6, 1),
        (2, "laplace", 1.0, 50_000),
        (2, "gaussian", 1.0, 7142),
    ):
        assert np.allclose(
            binned_noise(n_values, noise, scale, bins)[0].sum(axis=1), 1, rtol=0, atol=1e-12
        )


def test_channels_that_do_not_fit():
    uneven = Query(lambda x: x[0], [(0, 1, 2), (0, 1)])
    for wrong in (
        (2, "laplace", 0.99e-3, 1),
        (2, "laplace", 1.01e6, 1),
        (2, "laplace", 1.0, 50_001),
        (2, "gaussian", 1.0, 7143),
        (2, "normal", 1.0, 1),
    ):
        with pytest.raises(ValueError):
            binned_noise(*wrong)
    for noise, scale, b in (("gaussian", 0.8, 1.0), ("laplace", 1.3, 0.0), ("gaussian", 1e-3, 0.0)):
        rows, inside, outside = binned_noise(uneven.n_values, noise, scale, 2)
        found = noisy_leakage(uneven, noise, scale, b, 2, tol=1e-2)
        alone = per_record_leakage(uneven, rows, b, 1e-2)
        assert (found.value, found.adversary.bound) == (alone.value, alone.bound)
        assert 1e-13 < found.lost - (inside + outside * math.log(3)) < 1e-11 or inside > 1
        assert found.bound == min(alone.bound + found.lost, math.log(3))

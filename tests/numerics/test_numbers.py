"""Numbers that are handed on as floats: rounded to the safe side, or refused where another number would stand in."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import uniform

import pmlbook as pb
from pmlbook.additive_noise.mean import mean_mechanism
from pmlbook.additive_noise.quantile import quantile_mechanism
from pmlbook.numerics.validation import (
    check_confidence,
    check_epsilon,
    check_nonnegative,
    check_probability,
)

THIRD, BIG = Fraction(1, 3), 2**53 + 1
BETWEEN = [Fraction(k, 1000) for k in range(1, 1000)] + [Decimal(k) / 7 for k in range(1, 7)]
noise = pb.additive_noise.additive_noise_leakage
BINS = ([1, 1, 1], [0, 1, 2, 3])


def test_numbers_between_two_floats_are_rounded_to_the_safe_side():
    for number in BETWEEN:
        for low in (check_nonnegative(number, "x", toward=0), check_epsilon(number)):
            assert low <= number < math.nextafter(low, 1)
        assert check_probability(number, "x") == check_nonnegative(number, "x") == float(number)
        for high in (check_confidence(number), check_epsilon(number, up=True)):
            assert math.nextafter(high, 0) < number <= high


def test_levels_of_designs_are_not_exceeded_by_their_rounding():
    found = pb.distortion_leakage(pb.records.parity(3), Fraction(1, 10), 1.5)
    assert found.leakage <= Fraction(1, 10)


REFUSED = [
    (
        lambda: pb.min_leakage([[1, BIG], [BIG, 1]], [0.5, 0.5], 1),
        "utilities: no float holds 9007",
    ),
    (lambda: pb.min_leakage([[1, 2], [2, 1]], [0.5, 0.5], BIG), "threshold: no float holds 9007"),
    (lambda: pb.min_leakage([[1, 2], [2, 1]], [0.5, 0.5], True), "threshold must be a real number"),
    (
        lambda: pb.min_leakage([[1, 2], [2, 1]], [0.5, 0.5], math.inf),
        "threshold = inf is not finite",
    ),
    (
        lambda: pb.worst_case.expected_utility_mechanism([[1, 2]], [1.0], 0.1, None),
        "floor must be a real number, got None",
    ),
    (
        lambda: pb.min_leakage([[0.5, BIG], [1, 0]], [0.5, 0.5], 0),
        "utilities: no float holds 9007199254740993; give the float 9007199254740992.0",
    ),
    (lambda: pb.robust.box_region([5, 5], 1 - THIRD**60), "between 0 and 1 as a float"),
    (
        lambda: quantile_mechanism(BINS, 0.5, 0.5, pd.DataFrame([[9]], columns=[0])),
        "bins must have 1",
    ),
    (
        lambda: noise("discrete_laplace", {THIRD: 0.5, 1 + THIRD: 0.5}, 1.0),
        "prior: no float holds Fraction",
    ),
    (lambda: noise({0: 0.5, THIRD: 0.5}, {0: 0.5, 1: 0.5}), "numbers of noise: no float holds"),
    (lambda: noise("laplace", uniform(), 1.0, clip={0.1, 0.9}), "clip must be two numbers"),
    (lambda: pb.additive_noise.DensityRange({0: 1, 1: 2}), "support must be two numbers"),
    (lambda: mean_mechanism({0.0: 0.5, 1.0: 0.5}, 0.5, bins=[[0.5, 0.5], [0.5]]), "bins must hold"),
    (lambda: mean_mechanism({0.0: 0.5, 1.0: 0.5}, 0.5, bins=10**12), "bins = .* must be at most"),
    (lambda: quantile_mechanism(BINS, 0.5, 0.5, [[0.5, 0.5], [0.5]]), "bins must hold"),
    (lambda: quantile_mechanism(BINS, 0.5, 0.5, 10**400), "bins = .* must be at most"),
    (lambda: pb.foundations.binary_symmetric(True), "p = True must be a number between 0 and 1"),
    (
        lambda: pb.foundations.exponential([[1, 0]], 1, True),
        "sensitivity must be a number, got True",
    ),
    (lambda: pb.audit.leakage_bracket(np.eye(2) > 0, [0.5, 0.5]), r"counts\[0\] are truth values"),
]


@pytest.mark.parametrize("call, said", REFUSED)
def test_one_message_names_the_argument(call, said):
    with pytest.raises(ValueError, match=f"(?s){said}"):
        call()


def test_what_a_mask_hides_is_not_read():
    drawn = np.ma.masked_greater(np.array([0.1, 0.3, 0.9] * 20), 0.8)
    hidden = [
        (lambda: pb.additive_noise.SampleBand(drawn, (0, 1)), r"sample\[2\] = nan is not finite"),
        (lambda: pb.additive_noise.DensityRange(np.ma.array([0, 1.0], mask=[0, 1])), "support = "),
        (
            lambda: quantile_mechanism(BINS, 0.5, 0.5, np.ma.array([0, 1.2, 3], mask=[0, 1, 0])),
            "bins must hold real numbers",
        ),
    ]
    for call, said in hidden:
        with pytest.raises(ValueError, match=said):
            call()


def test_a_band_stays_as_it_is():
    for part in pb.additive_noise.SampleBand([0.1, 0.3, 0.9], (0, 1)).band:
        with pytest.raises(ValueError, match="read-only"):
            part[:] = 1


def test_a_tolerance_is_any_number():
    given = ("gaussian", {0.0: 0.5, 1.0: 0.5}, 1.0)
    options = dict(clip=(0, 1), cut=4.0)
    assert noise(*given, tol=Decimal("1e-3"), **options) == noise(*given, tol=1e-3, **options)


def test_numbers_of_arrow_are_numbers():
    assert pb.foundations.binary_symmetric(pa.scalar(0.2))[0, 1] == 0.2
    assert check_confidence(pa.scalar(0.9)) == 0.9
    found = quantile_mechanism(BINS, 0.5, 0.5, pa.array([0, 1.2, 3])).edges
    assert found.tolist() == [0, 1.2, 1.5, 3]
    assert pb.additive_noise.DensityRange((0, 1), most=Fraction(5, 3)).most >= Fraction(5, 3)

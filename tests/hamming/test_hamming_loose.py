"""Designs against a source set meet their bound, or warn that they don't; and keep their level exactly."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.hamming.exact import dp_leakage, min_distortion
from pmlbook.hamming.mutual_information import mi_leakage
from pmlbook.release.certificate import exp_below

ISSUE = [[0.1, 0.15, 0.35, 0.1, 0.3], [0, 0.05, 0.45, 0.2, 0.3]]


def largest_ratio(weights):
    """Largest ratio of two entries of a column in fractions; infinite beside a zero."""
    columns = [column for column in weights.T.tolist() if any(column)]
    if not all(map(all, columns)):
        return math.inf
    return max(Fraction(max(column), min(column)) for column in columns)


def close_or_said(call, *arguments):
    """The design of a call; its gap is at most 1e-6, or else the call has warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        design = call(*arguments)
    warned = any(issubclass(entry.category, pb.LooseBound) for entry in caught)
    assert warned == (design.gap > 1e-6)
    assert design.bound <= design.value
    return design


def counted(seed):
    """Tables of small counts, full of ties, and a level and a distortion in round figures."""
    rng = np.random.default_rng([12, seed])
    m, k = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    n = int(rng.choice([8, 10, 20, 40]))
    table = rng.multinomial(n, rng.dirichlet(np.ones(m)), k) / n
    levels, limits = [0.3, 0.5, 1, 1.5, 2, 3], [0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5]
    return table, float(rng.choice(levels)), float(rng.choice(limits))


def uneven(seed):
    """Tables with zeros and with entries down to 1e-14, and a level and a distortion from tiny to large."""
    rng = np.random.default_rng([13, seed])
    m, k = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    table = rng.dirichlet(np.full(m, rng.choice([0.1, 0.3, 1, 5])), k) + 1e-15
    if seed % 2:
        table = np.where(table < 0.1, 0, table)
    else:
        table = table * 10.0 ** -rng.integers(0, 14, (k, m))
    table = np.where(table.sum(axis=1, keepdims=True) > 0, table, 1)
    table = table / table.sum(axis=1, keepdims=True)
    return table, float(10 ** rng.uniform(-6, 1.5)), float(10 ** rng.uniform(-6, -0.1))


def test_a_column_of_rounding_errors_costs_nothing():
    design = close_or_said(min_distortion, ISSUE, 1.5)
    assert design.value == pytest.approx(0.44684923677, abs=1e-11) and design.gap < 1e-12
    assert (design.mechanism.channel > 0).any(axis=0).sum() == 3
    assert largest_ratio(design.mechanism.weights) <= exp_below(1.5)


# nine of 4,000 counted tables on which the repair cost up to 0.08 of distortion
@pytest.mark.parametrize("seed", [173, 1330, 1372, 1768, 2458, 2476, 2529, 2717, 2759])
def test_other_columns_of_rounding_errors(seed):
    table, level, _ = counted(seed)
    design = close_or_said(min_distortion, table, level)
    assert design.gap < 1e-9
    assert largest_ratio(design.mechanism.weights) <= exp_below(level)


@pytest.mark.parametrize("source", [counted, uneven])
def test_close_to_the_bound_or_said(source):
    for seed in range(100):
        table, level, limit = source(seed)
        design = close_or_said(min_distortion, table, level)
        assert largest_ratio(design.mechanism.weights) <= exp_below(level)
        design = close_or_said(dp_leakage, table, limit)
        assert largest_ratio(design.mechanism.weights) <= exp_below(design.value)
        if seed % 10 == 0:
            close_or_said(mi_leakage, table, limit)


@pytest.mark.parametrize("level", [36.0, 690.0, 691.0, 709.0, 710.0, 1000.0, 1e300])
def test_levels_beyond_what_weights_can_differ_by(level):
    for table in (ISSUE, [[0.7, 0.2, 0.1]], np.eye(2)):
        design = close_or_said(min_distortion, table, level)
        size = len(table[0])
        least = (size - 1) / (Fraction(2) ** int(min(level, 1100) * 1.4427) + size - 1)
        assert design.value < 3e-15 and Fraction(design.bound) <= least
        assert largest_ratio(design.mechanism.weights) <= 2**53


@pytest.mark.parametrize("call, argument", [(dp_leakage, 1e-14), (mi_leakage, 1e-14)])
def test_a_gap_is_said(call, argument):
    """Where steps of 2^-53 keep the value from its bound, the caller gets a warning."""
    close_or_said(call, ISSUE, argument)

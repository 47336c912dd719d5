"""Leakage as a random variable: its ends, its errors, and its copies."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction
from math import inf, log

import numpy as np
import pytest

from pmlbook.budget.composition import compose
from pmlbook.budget.leakage_variable import (
    LeakageDistribution,
    check_delta,
    leakage_distribution,
)
from pmlbook.release.mechanism import Mechanism

HALF = Fraction(1, 2)
FLIP = Mechanism([[0.75, 0.25], [0.25, 0.75]], [HALF, HALF])
RARE = Mechanism([[0.5, 0.5, 0], [0.5, 0, 0.5]], [Fraction(1, 10**8), 1 - Fraction(1, 10**8)])


def test_a_secret_of_one_in_a_hundred_million():
    known = leakage_distribution(RARE)
    assert known.tail(1) == Fraction(1, 2 * 10**8) == known.tail(18)
    assert known.tail(18.5) == 0 and known.level(Fraction(1, 2 * 10**8)) < 1e-7
    assert known.level(Fraction(1, 2 * 10**8) - Fraction(1, 10**30)) == known.epsilon
    assert known.event_level(1e-9) == known.epsilon == RARE.epsilon
    assert known.maximal_leakage == pytest.approx(log(1.5), abs=1e-15)


def test_outcomes_that_cannot_occur_or_say_the_same_count_once():
    twice = Mechanism([[0.5, 0.25, 0.25, 0], [0.5, 0.25, 0.25, 0]], [0.3, 0.7])
    known = leakage_distribution(twice)
    assert known.probabilities == (1,) and known.epsilon == known.mean == known.maximal_leakage == 0
    assert known.tail(0) == 0 and known.level(0) == known.event_level(0) == 0


def test_joint_releases_are_counted_sequence_by_sequence():
    known = leakage_distribution(compose(FLIP, FLIP, FLIP))
    lift = Fraction(27, 14)  # 3^3 against 1, in the mean of both
    assert max(known.largest) == lift and known.tail(0.5) == Fraction(2 * (27 + 1), 2 * 64)
    assert known.tail(known.epsilon) == 0 < known.tail(np.nextafter(known.epsilon, 0))


def test_delta_is_exact_whatever_number_it_is():
    assert check_delta(Decimal("0.1")) == Fraction(1, 10) < check_delta(0.1)
    assert check_delta(Fraction(1, 3)) == Fraction(1, 3)
    for one in (1, np.int64(1), np.float32(1), 1.0):
        assert check_delta(one) == 1 and type(check_delta(one).numerator) is int
    for bad in (
        -0.1,
        1.5,
        np.nan,
        inf,
        "a",
        True,
        "0.5",
        None,
        Fraction(-1, 10**400),
        1 + Fraction(1, 10**40),
    ):
        with pytest.raises(ValueError, match="delta"):
            check_delta(bad)


TINY = Fraction(1, 10**500)


@pytest.mark.parametrize(
    "content, said",
    [
        (([HALF, HALF], [1], [[2, 0]]), "lifts of secret 0 have the mean 2, not 1"),
        (([HALF, HALF], [1], [[1, 2]]), r"lifts\[0\] has the mean 3/2 under prior"),
        (([HALF, HALF], [HALF, HALF], [[1, 1]]), "a vector for each of 2 outcomes"),
        (([HALF, HALF], [1], [[1]]), "a vector for each of 1 outcomes and 2 secrets"),
        (([HALF, 0, HALF], [1], [[1, 1, 1]]), "prior must be positive"),
        (([HALF, HALF], [1, 0], [[1, 1], [1, 1]]), "probabilities must be positive"),
        (([0.5, 0.5], [1], [[1, 1]]), "prior must be fractions"),
        (([HALF, HALF], [1], [[-1, 3]]), r"lifts\[0\] must be fractions of at least 0"),
        (([], [1], [[]]), "prior must be positive"),
        ((None, [1], [[1]]), "prior must be a list"),
        (([1], [1], [1]), r"lifts\[0\] must be a list"),
        (([1 - TINY, TINY], [1], [[1, 1]]), r"prior\[1\] is less than e\^-1000"),
    ],
)
def test_lifts_of_no_channel_are_refused(content, said):
    with pytest.raises(ValueError, match=said):
        LeakageDistribution(*content)


def test_what_is_no_release_is_refused():
    with pytest.raises(ValueError, match="release must be a Mechanism, got a list"):
        leakage_distribution([[1, 0], [0, 1]])
    for epsilon in (-1, np.nan, "x"):
        with pytest.raises(ValueError, match="epsilon"):
            leakage_distribution(FLIP).tail(epsilon)


def test_it_travels():
    known = leakage_distribution(RARE)
    for same in (copy.deepcopy(known), pickle.loads(pickle.dumps(known))):
        assert same == known and hash(same) == hash(known) and same.largest == known.largest
    back = Mechanism.from_certificate(RARE.certify(20))
    assert leakage_distribution(back) == known
    numpy = LeakageDistribution(np.array([HALF, HALF]), np.array([1]), np.array([[1, 1]]))
    assert numpy == LeakageDistribution([HALF, HALF], [1], [[1, 1]])
    assert "epsilon" in repr(known)

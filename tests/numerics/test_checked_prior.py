"""A prior that was checked stands for the one that was given."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pmlbook as pb
from pmlbook.foundations.probability import exact_prior
from pmlbook.numerics.validation import check_prior, checked_prior, names_of

THREE = {"a": 0.5, "b": 0.3, "c": 0.2}
EVEN = dict.fromkeys("abc", Fraction(1, 3))


@pytest.mark.parametrize(
    "prior",
    [
        [0.5, 0.3, 0.2 + 1e-10],
        THREE,
        EVEN,
        [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)],
        np.array([0.5, 0.25, 0.25], dtype=np.float32),
        pd.Series([0.7, 0.2, 0.1], index=["x", "y", "z"]),
    ],
)
def test_what_was_checked_says_the_same_as_what_was_given(prior):
    once = checked_prior(prior)
    assert checked_prior(once) is once and names_of(once) == names_of(prior)
    assert (check_prior(once) == check_prior(prior)).all()
    assert exact_prior(once) == exact_prior(prior)
    check_prior(once)[0] = 0.9  # a copy, as ever
    channel = pb.foundations.randomized_response(3, 0.5)
    assert pb.Mechanism(channel, once) == pb.Mechanism(channel, prior)


def test_a_checked_prior_is_paired_by_name():
    once, frame = checked_prior(THREE), pd.DataFrame(np.eye(3), index=list("cab"))
    assert pb.Mechanism(frame, once) == pb.Mechanism(frame, THREE)
    thirds = checked_prior({"a": Fraction(2, 3), "b": Fraction(1, 3)})
    swapped = pb.Mechanism(pd.DataFrame(np.eye(2), index=list("ba")), thirds)
    assert swapped.exact_prior == (Fraction(1, 3), Fraction(2, 3))


def test_nobody_changes_what_was_checked():
    given = np.array([0.5, 0.5])
    once = checked_prior(given)
    given[0] = 0.9
    assert once.floats.tolist() == [0.5, 0.5] and once.exact == (Fraction(1, 2), Fraction(1, 2))
    with pytest.raises(ValueError):
        once.floats[0] = 0.9

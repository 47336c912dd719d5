"""Transfers and majorization at their limits."""

import numpy as np
import pytest

from pmlbook.foundations.majorization import majorizes, robin_hood


def test_a_transfer_may_swap():
    steps_of_three = np.array([5.0, 1.0, 2.0])
    assert robin_hood(steps_of_three, 0, 1, 4.0).tolist() == [
        1,
        5,
        2,
    ]  # all of it swaps, more is refused
    assert robin_hood(steps_of_three, 0, 1, 0.0).tolist() == steps_of_three.tolist() == [5, 1, 2]


def test_transfers_that_are_refused():
    steps_of_three = np.array([5.0, 1.0, 2.0])
    for amount in (-1e-9, 4.0 + 1e-9, np.nan):
        with pytest.raises(ValueError) as error:
            robin_hood(steps_of_three, 0, 1, amount)
        assert "between 0 and p[0] - p[1] = 4" in str(error.value)


def test_the_slack_is_a_part_of_the_sums():
    for scale in (1e-6, 1.0, 1e6):  # the slack is a part of the sums, in any unit
        fair_share = scale * np.full(3, 1 / 3)
        for short, whether in ((0.9e-9, True), (1.1e-9, False)):
            near_fair = fair_share + scale * short * np.array([1, 0, -1])
            assert majorizes(fair_share, near_fair) is whether and majorizes(near_fair, fair_share)


def test_what_is_no_vector():
    reasons = {
        "is empty": [],
        "must have 1 dimension": [[0.5, 0.5]],
        "must have 1 dimension(s), got shape ()": 0.5,
        "[1] = inf is not finite": [0.5, np.inf],
        "[1] = nan is not finite": np.ma.masked_equal([0.5, 0.25], 0.25),
        "must hold real numbers": ["0.5", "0.5"],
    }
    for reason, wrong in reasons.items():
        for name, pair in (("p", (wrong, [0.5, 0.5])), ("q", ([0.5, 0.5], wrong))):
            with pytest.raises(ValueError) as error:
                majorizes(*pair)
            assert str(error.value).startswith(name) and reason in str(error.value)

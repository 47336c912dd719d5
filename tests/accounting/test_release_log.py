"""The release log: levels in four digits, the cost of a list, and where a warning points."""

import warnings
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from statsmodels.datasets import fair

from pmlbook.accounting import release_log as module
from pmlbook.accounting.release_log import ReleaseLog, after_release, rounded_up
from pmlbook.large_alphabets.optimal import optimal_mechanism
from pmlbook.practice.composition import compose
from pmlbook.practice.estimated_prior import prior_from_counts
from pmlbook.release.mechanism import Mechanism


def test_four_digits_never_understate_a_level():
    for level in (0.5, 1 / 3, 0.12340001, 1.0000001, 9.9995, 1e-9, 123456.0):
        told = rounded_up(level)
        assert 0 <= Fraction(told) - Fraction(level) < Fraction(level) / 1000
        assert len(told.as_tuple().digits) <= 4


def test_a_list_costs_what_is_allowed_and_no_more():
    ratings = ("very poor", "poor", "fair", "good", "very good")
    marriage = fair.load_pandas().data["rate_marriage"].to_numpy(dtype=int) - 1
    prior = prior_from_counts(np.bincount(marriage, minlength=5))
    named = Mechanism(optimal_mechanism(prior, 0.5).mechanism.channel, prior, ratings)
    soft = named.within(0.2)  # no zeros
    both, steps = compose(soft, soft), compose(soft).steps(compose(soft))
    for most, listed in ((steps, True), (steps - 1, False)):
        with patch.dict(vars(module), MAX_LISTED_STEPS=most):
            found = after_release(after_release(None, soft), soft)
            assert (found.joint is not None) == listed
            assert found.remaining <= 1 / both.largest_lift
            assert 0 < found.min_ratio <= both.min_ratio


def test_types_know_what_is_not_listed_any_more():
    """Thirty releases of one mechanism exactly; of two, a bound that lies between."""
    prior = [Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]
    one = Mechanism([[0.52, 0.48], [0.5, 0.5], [0.47, 0.53]], prior)
    two = Mechanism([[0.5, 0.5], [0.49, 0.51], [0.52, 0.48]], prior)
    turns = [one] * 30 + [two] * 10
    with patch.dict(vars(module), MAX_LISTED_STEPS=0):
        account = None
        for number, mechanism in enumerate(turns, 1):
            account = after_release(account, mechanism)
            if number == 30:
                assert account.exact and account.epsilon == compose(*[one] * 30).epsilon
    exact = compose(*turns).largest_lift
    assert not account.exact and account.counts == {one: 30, two: 10}
    assert account.remaining <= account.left <= 1 / exact
    assert 0 < account.min_ratio <= compose(*turns).min_ratio


def test_a_warning_points_to_the_line_that_released():
    ratings = ("very poor", "poor", "fair", "good", "very good")
    marriage = fair.load_pandas().data["rate_marriage"].to_numpy(dtype=int) - 1
    prior = prior_from_counts(np.bincount(marriage, minlength=5))
    answers = np.array(ratings)[marriage]
    named = Mechanism(optimal_mechanism(prior, 0.5).mechanism.channel, prior, ratings)
    told, here = ReleaseLog(), (lambda: None).__code__.co_filename
    told.record("rating", named)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        told.record("rating", named)
        told.privatize("rating", named, answers)
    assert [warning.filename for warning in caught] == [here, here]
    assert [f"release {k} of" in str(warning.message) for k, warning in zip((2, 3), caught)] == [
        True
    ] * 2

"""Accounts: never below the exact level, whatever can be listed; and messages that understate nothing."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from statsmodels.datasets import fair

from pmlbook import Mechanism, optimal_mechanism
from pmlbook.budget import account as module
from pmlbook.budget.account import after_release, min_remaining, rounded_up
from pmlbook.budget.composition import compose
from pmlbook.robust.estimated_prior import prior_from_counts

FLIP = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
CLINIC = [0.6, 0.3, 0.1]
FLU = Mechanism([[1, 0], [0, 1], [1, 0]], CLINIC)
SICK = Mechanism([[1, 0], [0, 1], [0, 1]], CLINIC)
RARE = Mechanism([[0.999, 0.001], [0.9995, 0.0005], [0.9995, 0.0005]], [0.1, 0.45, 0.45])


def random_prior(rng, size):
    shares = rng.dirichlet(np.ones(size)) + 1e-3
    return shares / shares.sum()


def test_four_digits_never_understate_a_level():
    for level in (0.5, 1 / 3, 0.12340001, 1.0000001, 9.9995, 1e-9, 123456.0):
        told = rounded_up(level)
        assert 0 <= Fraction(told) - Fraction(level) < Fraction(level) / 1000
        assert len(told.as_tuple().digits) <= 4


def test_a_list_costs_what_is_allowed_and_no_more():
    marriage = fair.load_pandas().data["rate_marriage"].to_numpy(dtype=int) - 1
    prior = prior_from_counts(np.bincount(marriage, minlength=5))
    soft = optimal_mechanism(prior, 0.5).mechanism.within(0.2)  # no zeros
    both, steps = compose(soft, soft), compose(soft).steps(compose(soft))
    for most, listed in ((steps, True), (steps - 1, False)):
        with patch.object(module, "MAX_LISTED_STEPS", most):
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
    with patch.object(module, "MAX_LISTED_STEPS", 0):
        account = None
        for number, mechanism in enumerate(turns, 1):
            account = after_release(account, mechanism)
            if number == 30:
                assert account.exact and account.epsilon == compose(*[one] * 30).epsilon
    exact = compose(*turns).largest_lift
    assert not account.exact and account.counts == {one: 30, two: 10}
    assert account.remaining <= account.left <= 1 / exact
    assert 0 < account.min_ratio <= compose(*turns).min_ratio


def test_the_bound_holds_for_every_pair():
    """Never below the exact level; a sum of two levels would be, for the clinic's questions."""
    rng = np.random.default_rng(9)
    pairs = [(FLU, SICK), (SICK, FLU), (FLIP, FLIP), (RARE, RARE)]
    for _ in range(200):
        prior, spread = random_prior(rng, int(rng.integers(1, 5))), rng.choice([0.3, 1, 30])
        channels = rng.dirichlet(np.full(3, spread), size=(2, len(prior)))
        pairs.append([Mechanism(channel, prior) for channel in channels])
    sums = 0
    for one, two in pairs:
        exact = compose(one, two)
        (u, f), (v, g) = ((1 / j.largest_lift, j.min_ratio) for j in map(compose, (one, two)))
        bound = min_remaining((u, f), (v, g), min(exact.prior))
        assert bound <= 1 / exact.largest_lift
        sums += u * v > 1 / exact.largest_lift
    assert sums >= 10  # so a sum of levels cannot hide


@pytest.mark.parametrize("listed", [0, 80, 300])
def test_an_account_is_never_below_the_exact_level(monkeypatch, listed):
    monkeypatch.setattr(module, "MAX_LISTED_STEPS", listed)
    rng = np.random.default_rng(10)
    orders = [[FLU, SICK], [SICK, FLU], [FLIP] * 5, [RARE] * 6]
    for _ in range(40):
        prior = random_prior(rng, int(rng.integers(2, 4)))
        kinds = [Mechanism(rng.dirichlet(np.full(2, 9.0), size=len(prior)), prior) for _ in "abc"]
        orders.append([kinds[k] for k in rng.integers(3, size=5)])
    bounded = 0
    for made in orders:
        account = after_release(None, made[0])
        for k, mechanism in enumerate(made[1:], start=2):
            before, account = account, after_release(account, mechanism)
            exact = compose(*made[:k])
            assert account.remaining <= 1 / exact.largest_lift
            assert account.epsilon >= exact.epsilon and account.epsilon >= before.epsilon
            assert (account.joint is None) or account.epsilon == exact.epsilon
            bounded += account.joint is None
    assert bounded >= 40

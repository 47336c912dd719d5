"""From groups to symbols: at most as many outcomes as symbols, with shares that need no solver."""

import numpy as np
import pytest

from pmlbook.extremal.column_generation import GroupGeneration, start_columns
from pmlbook.extremal.enumeration import mixture
from pmlbook.extremal.losses import Groups
from pmlbook.extremal.optimal import MIN_OUTCOME_PROBABILITY, blended, rounded_within
from pmlbook.extremal.ungrouping import reduced, unroll
from pmlbook.foundations.utility import NAMED
from pmlbook.numerics.progress import Clock
from pmlbook.numerics.validation import checked_prior
from pmlbook.release.mechanism import Mechanism

INFORMATION = NAMED["mutual_information"]


def tied(n, people, seed):
    """Shares of a table of counts that fall like 1/k: many symbols have equal ones."""
    shares = 1 / np.arange(1, n + 1)
    counts = np.random.default_rng(seed).multinomial(people, shares / shares.sum()) + 1
    return np.sort(counts) / counts.sum()


def grown(prior, level):
    """A mechanism of the groups, from the circle: fillings, losses and weights."""
    groups = Groups(prior, level, INFORMATION)
    columns, shares = start_columns(groups, np.random.default_rng(0))
    filled, loss = columns.filled(groups), columns.loss(groups)
    return groups, filled, loss, reduced(filled, loss, shares)


@pytest.mark.parametrize("n, people, level", [(60, 300, 0.3), (200, 2000, 1.0), (300, 9000, 2.0)])
def test_at_most_as_many_outcomes_as_symbols(n, people, level):
    prior = tied(n, people, n)
    groups, filled, loss, weights = grown(prior, level)
    used = np.flatnonzero(weights > 1e-12)
    x, shares = unroll(np.ones(n), groups.member, filled[:, used], weights[used])
    columns, sizes = len(used), groups.size
    assert len(shares) <= columns + (sizes - 1).sum() <= n and shares.min() > 0
    assert ((x > 0) & (x < 1)).sum(axis=0).max() <= 1
    assert abs(x @ shares - groups.share[groups.member]).max() < 1e-11
    lifts = groups.lift(x, groups.member[:, None])
    value = groups.closed - weights @ loss
    assert INFORMATION.columns(lifts, prior) @ shares == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("n, people, level", [(60, 300, 0.3), (200, 2000, 1.0), (300, 9000, 2.0)])
def test_shares_are_settled_to_the_last_digits(n, people, level):
    prior = tied(n, people, 1)
    generation = GroupGeneration(Groups(prior, level, INFORMATION), 1e-6, Clock(0, False))
    lifts, shares = generation.lifts()
    channel = blended(lifts, shares * (1 + 1e-9 * np.sin(np.arange(len(shares)))), prior, 0.0)
    shares = shares[shares * lifts.max(axis=0) > MIN_OUTCOME_PROBABILITY]
    assert abs(prior @ channel - shares).max() < 1e-8
    mechanism = rounded_within(channel, checked_prior(prior), (), level)
    assert mechanism.certify(level)
    assert mechanism.utility(INFORMATION) > generation.groups.closed - generation.value - 1e-9


@pytest.mark.parametrize("n, level", [(25, 1.0), (200, 0.05), (300, 4.0)])
def test_storing_costs_hardly_anything(n, level):
    """Noise in all outcomes took a billionth of the value, for the zeros that it fills."""
    prior = tied(n, 20 * n, n)
    generation = GroupGeneration(Groups(prior, level, INFORMATION), 1e-6, Clock(0, False))
    channel = blended(*generation.lifts(), prior, 0.0)
    made = rounded_within(channel, checked_prior(prior), (), level)
    assert made.certify(level) and abs(made.channel - channel).max() < 1e-11
    assert made.utility(INFORMATION) > INFORMATION(channel, prior) * (1 - 1e-10)


@pytest.mark.parametrize("copies", [2, 5])
def test_vectors_that_depend_on_each_other_keep_their_shares(copies):
    """Weights that are solved for again are arbitrary, or the solver gives up."""
    prior = tied(50, 400, 2)
    generation = GroupGeneration(Groups(prior, 0.8, INFORMATION), 1e-6, Clock(0, False))
    lifts, shares = generation.lifts()
    many, parts = np.tile(lifts, copies), np.tile(shares / copies, copies)
    channel = blended(many, parts, prior, 0.0)
    assert channel.shape == many.shape and abs(channel.sum(axis=1) - 1).max() < 1e-14
    assert abs(prior @ channel - parts).max() < 1e-9
    value = INFORMATION(mixture(lifts, prior, 0.0), prior)
    assert INFORMATION(channel, prior) == pytest.approx(value, abs=1e-9)


def test_shares_that_are_far_off_are_solved_for():
    prior = tied(30, 200, 3)
    generation = GroupGeneration(Groups(prior, 1.0, INFORMATION), 1e-6, Clock(0, False))
    lifts, shares = generation.lifts()
    channel = blended(lifts, np.roll(shares, 1), prior, 2.0**-45)
    assert Mechanism(channel, prior).within(1.0).certify(1.0)
    assert abs(channel.sum(axis=1) - 1).max() < 1e-14


def test_many_columns_are_thinned_out_without_rounding():
    """Eight hundred at once lost eleven digits here, and the mixture was called too uneven."""
    n, g = 1000, 40
    prior = np.abs(1 + 1e-3 * np.random.default_rng(0).normal(size=n))
    prior = np.sort(prior / prior.sum()).reshape(g, -1)
    prior = np.repeat(prior.mean(axis=1), n // g)
    groups = Groups(prior, 0.5, INFORMATION)
    columns, shares = start_columns(groups, np.random.default_rng(0))
    filled, loss = columns.filled(groups), columns.loss(groups)
    few = reduced(filled, loss, shares)
    assert (few > 0).sum() <= g < (shares > 0).sum() and few.min() >= 0
    assert abs(filled @ (few - shares)).max() < 1e-13 and loss @ few < loss @ shares

"""What must hold for every channel, prior and level; Hypothesis looks for the exception."""

import math
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import channels, labels, levels, pairs, priors

import pmlbook as pb
from pmlbook.foundations.leakage import lift
from pmlbook.foundations.majorization import majorizes, robin_hood
from pmlbook.foundations.processing import (
    conditional_leakage,
    joint_channel,
    post_process,
    pre_process,
)
from pmlbook.foundations.utility import NAMED
from pmlbook.release.certificate import exp_below

SLACK = 1e-9


def utilities(channel, prior):
    """All named utilities as an array."""
    return np.array([utility(channel, prior) for utility in NAMED.values()])


# Leakage


@given(pairs())
def test_chain_of_inequalities(pair):
    """0 <= I(X; Y) <= maximal leakage <= worst PML <= what LDP and the prior allow."""
    channel, prior = pair
    chain = [
        0,
        pb.foundations.mutual_information(*pair),
        pb.maximal_leakage(channel),
        pb.epsilon_pml(*pair),
    ]
    assert all(a <= b + SLACK for a, b in zip(chain, chain[1:]))
    assert chain[-1] <= min(pb.local_dp(channel), pb.foundations.epsilon_max(prior)) + SLACK
    assert pb.foundations.mutual_information(*pair) <= pb.foundations.entropy(prior) + SLACK
    leaks = pb.pointwise_maximal_leakage(*pair)
    assert (np.isnan(leaks) == ~channel.any(axis=0)).all()
    assert np.nanmin(leaks) >= -SLACK and np.nanmax(leaks) == pytest.approx(chain[-1])


@given(pairs())
def test_maximal_leakage_is_the_average_exponential(pair):
    """Its exponential is the mean of e^PML over the outcomes."""
    outcome = pair[1] @ pair[0]
    mean = np.nansum(outcome * np.exp(pb.pointwise_maximal_leakage(*pair)))
    assert math.exp(pb.maximal_leakage(pair[0])) == pytest.approx(mean)


@given(pairs())
def test_lifts_average_to_one(pair):
    channel, prior = pair
    ratios = np.nan_to_num(lift(channel, prior), nan=1)
    assert ratios @ (prior @ channel) == pytest.approx(np.ones(len(prior)))
    assert prior @ ratios == pytest.approx(np.ones(channel.shape[1]))


@given(pairs(), st.randoms(use_true_random=False))
def test_names_do_not_matter(pair, random):
    """Outcomes and secrets in another order: every measure stays, every leakage moves along."""
    channel, prior = pair
    rows = random.sample(range(len(prior)), len(prior))
    columns = random.sample(range(channel.shape[1]), channel.shape[1])
    other = channel[np.ix_(rows, columns)], prior[rows]
    leaks = pb.pointwise_maximal_leakage(*pair)[columns]
    assert pb.pointwise_maximal_leakage(*other) == pytest.approx(leaks, nan_ok=True)
    assert pb.maximal_leakage(other[0]) == pytest.approx(pb.maximal_leakage(channel))
    assert pb.local_dp(other[0]) == pytest.approx(pb.local_dp(channel))
    assert utilities(*other) == pytest.approx(utilities(*pair))


@given(pairs(), st.floats(0.01, 0.99))
def test_splitting_an_outcome_changes_nothing(pair, share):
    """Two outcomes with proportional columns are as good as one."""
    channel, prior = pair
    split = np.column_stack([channel[:, 1:], share * channel[:, 0], (1 - share) * channel[:, 0]])
    assert pb.epsilon_pml(split, prior) == pytest.approx(pb.epsilon_pml(*pair))
    assert pb.maximal_leakage(split) == pytest.approx(pb.maximal_leakage(channel))
    assert utilities(split, prior) == pytest.approx(utilities(*pair), abs=1e-12)


# Processing


@given(st.data(), pairs())
def test_post_processing(data, pair):
    """It raises no leakage and no utility."""
    channel, prior = pair
    after = post_process(channel, data.draw(channels(channel.shape[1])))
    assert pb.epsilon_pml(after, prior) <= pb.epsilon_pml(*pair) + SLACK
    assert pb.maximal_leakage(after) <= pb.maximal_leakage(channel) + SLACK
    assert pb.local_dp(after) <= pb.local_dp(channel) + SLACK
    assert (utilities(after, prior) <= utilities(*pair) + SLACK).all()
    gain = pb.foundations.ExpectedGain(np.arange(3 * len(prior)).reshape(-1, 3) ** 2 % 7)
    assert gain(after, prior) <= gain(*pair) + SLACK


@given(st.data(), pairs())
def test_pre_processing(data, pair):
    """An attribute of the secret leaks no more than the secret."""
    attribute = data.draw(channels(len(pair[1])))
    attribute = attribute[:, attribute.any(axis=0)]
    leaks = pb.pointwise_maximal_leakage(*pre_process(*pair, attribute))
    used = pair[0].any(axis=0)
    assert (leaks[used] <= pb.pointwise_maximal_leakage(*pair)[used] + SLACK).all()


@given(st.data(), pairs())
def test_composition(data, pair):
    """A pair leaks at most what the first does, plus what the second does to who saw the first."""
    first, prior = pair
    second = data.draw(channels(len(prior)))
    both = pb.pointwise_maximal_leakage(joint_channel(first, second), prior).reshape(
        first.shape[1], -1
    )
    steps = conditional_leakage(first, second, prior)
    total = pb.pointwise_maximal_leakage(first, prior)[:, None] + steps
    assert (np.isnan(both) == np.isnan(steps)).all()
    assert (np.nan_to_num(both) <= np.nan_to_num(total) + SLACK).all()
    assert pb.epsilon_pml(joint_channel(first, second), prior) >= pb.epsilon_pml(*pair) - SLACK


# Mechanisms


@given(pairs(), levels)
def test_certificates_are_exact(pair, epsilon):
    """The same fraction as computed elsewhere, compared with a bound from below on e^epsilon."""
    mechanism = pb.Mechanism(*pair)
    certificate = mechanism.certify(epsilon)
    assert certificate.largest_lift == oracles.largest_lift(mechanism.channel, mechanism.prior)
    assert math.log(certificate.largest_lift) == pytest.approx(mechanism.epsilon, abs=1e-14)
    series = oracles.exp_from_below(epsilon)  # at most 2e-50 below e^epsilon
    assert bool(certificate) == (certificate.largest_lift <= series)
    if epsilon:
        assert (
            series * (1 - Fraction(1, 10**38)) < exp_below(epsilon) < series + Fraction(2, 10**50)
        )


@given(pairs(), levels)
def test_within(pair, epsilon):
    """It keeps the level, changes nothing that keeps it already, and adds no information."""
    mechanism = pb.Mechanism(*pair)
    kept = mechanism.within(epsilon)
    assert kept.certify(epsilon)
    assert (kept is mechanism) == bool(mechanism.certify(epsilon))
    assert kept.utility() <= mechanism.utility() + SLACK
    assert kept.prior.tolist() == mechanism.prior.tolist() and kept.inputs == mechanism.inputs


@given(pairs(), labels, labels)
def test_round_trips(pair, inputs, outputs):
    """Names, table and released values belong together."""
    channel, prior = pair
    inputs, outputs = tuple(inputs[: len(prior)]), tuple(outputs[: channel.shape[1]])
    mechanism = pb.Mechanism(channel, prior, inputs, outputs)
    frame = mechanism.to_frame()
    assert (frame.to_numpy() == mechanism.channel).all()
    assert tuple(frame.index) == mechanism.inputs == inputs
    assert tuple(frame.columns) == mechanism.outputs == outputs

    released = mechanism.privatize(inputs * 4, np.random.default_rng(0)).tolist()
    assert released == mechanism.privatize(list(inputs * 4), np.random.default_rng(0)).tolist()
    for secret, outcome in zip(inputs * 4, released):
        assert channel[inputs.index(secret), outputs.index(outcome)] > 0


@given(st.data(), st.integers(1, 4))
def test_estimate_undoes_the_channel(data, n):
    """A column that holds exactly the expected number of each outcome gives the frequencies back."""
    tenths = st.lists(st.integers(0, 9), min_size=n, max_size=n).map(np.cumsum)
    rows = [np.diff(data.draw(tenths), prepend=0) for _ in range(n)]
    counts = np.array([np.append(row, 40 - row.sum()) for row in rows])  # rows sum to 40
    assume(np.linalg.matrix_rank(counts) == n and np.linalg.cond(counts) < 1e4)
    people = np.array(data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    mechanism = pb.Mechanism(counts / 40, people / people.sum(), outputs=range(n + 1))
    estimate = mechanism.estimate(np.repeat(np.arange(n + 1), people @ counts))
    assert estimate.frequencies == pytest.approx(mechanism.prior, abs=1e-9)
    assert estimate.size == 40 * people.sum() and (estimate.standard_errors >= 0).all()


# Majorization


@given(priors(), st.randoms(use_true_random=False))
def test_order_does_not_matter_to_majorization(p, random):
    q = np.array(random.sample(p.tolist(), len(p)))
    assert majorizes(p, q) and majorizes(q, p)
    assert majorizes(p, np.full(len(p), 1 / len(p))) and majorizes(np.eye(len(p))[0], p)


@given(st.data(), priors(least=2))
def test_what_majorization_orders(data, p):
    """A transfer from rich to poor: less uneven, more entropy, a smaller largest leakage."""
    poor, rich = np.argmin(p), data.draw(st.integers(0, len(p) - 1))
    q = robin_hood(p, rich, poor, data.draw(st.floats(0, 1)) * (p[rich] - p[poor]))
    assert majorizes(p, q)
    assert pb.foundations.entropy(q) >= pb.foundations.entropy(p) - SLACK
    assert pb.foundations.epsilon_max(q) <= pb.foundations.epsilon_max(p) + SLACK


@given(st.data(), priors())
def test_averages_of_orderings_are_majorized(data, p):
    """Doubly stochastic mixing, and mixing again: transitivity on the way."""
    orders = st.permutations(range(len(p))).map(lambda order: p[list(order)])
    q = (p + data.draw(orders) + data.draw(orders)) / 3
    r = (q + q[::-1]) / 2
    assert majorizes(p, q) and majorizes(q, r) and majorizes(p, r)

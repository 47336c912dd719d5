"""Properties of the optimum for every prior and level; Hypothesis looks for a counterexample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import levels, pairs, priors

import pmlbook as pb
from pmlbook import optimal_mechanism
from pmlbook.foundations.utility import NAMED

SLACK = 1e-9
# Hellinger's utility is infinitely steep at lift 0: rounding a level by 1e-16 may cost 1e-8.
GENTLE = [name for name in NAMED if name != "hellinger"]


@given(priors(), levels, st.sampled_from(GENTLE))
def test_optimum_is_certified_and_bounded(prior, epsilon, name):
    design = optimal_mechanism(prior, epsilon, name)
    assert design.mechanism.certify(epsilon) and design.gap < SLACK
    assert design.mechanism.channel.shape[1] <= len(prior)
    assert -SLACK <= design.value <= NAMED[name](np.eye(len(prior)), prior) + SLACK
    everything = NAMED[name](np.eye(len(prior)), prior)
    assert epsilon < pb.foundations.epsilon_max(prior) or design.value == pytest.approx(
        everything, abs=SLACK
    )


@given(priors(), levels, levels, st.sampled_from(GENTLE))
def test_optimum_grows_with_epsilon(prior, one, other, name):
    low, high = sorted([one, other])
    assert (
        optimal_mechanism(prior, low, name).value
        <= optimal_mechanism(prior, high, name).value + SLACK
    )


@given(priors(), levels)
def test_optimum_beats_randomized_response(prior, epsilon):
    channel = pb.extremal.randomized_response_for_pml(prior, epsilon)
    allowed = min(epsilon, pb.foundations.epsilon_max(prior))
    assert pb.epsilon_pml(channel, prior) == pytest.approx(allowed, abs=1e-12)
    for name in GENTLE:
        assert NAMED[name](channel, prior) <= optimal_mechanism(prior, epsilon, name).value + SLACK


@given(pairs())
def test_no_mechanism_beats_the_optimum(pair):
    """Not even one with more outcomes, at the level that it happens to have."""
    channel, prior = pair
    for name in GENTLE:
        best = optimal_mechanism(prior, pb.epsilon_pml(channel, prior), name)
        assert NAMED[name](channel, prior) <= best.value + SLACK


@given(priors(), levels, st.sampled_from(GENTLE), st.randoms(use_true_random=False))
def test_optimum_knows_no_order(prior, epsilon, name, random):
    shuffled = np.array(random.sample(prior.tolist(), len(prior)))
    value = optimal_mechanism(prior, epsilon, name).value
    assert optimal_mechanism(shuffled, epsilon, name).value == pytest.approx(value, abs=SLACK)


@given(priors(least=2), levels)
def test_merging_two_secrets_costs_utility(prior, epsilon):
    """A mechanism that depends on a group only is not better: the optimum of the merged prior is smaller."""
    merged = np.append(prior[2:], prior[:2].sum())
    for name in ("mutual_information", "total_variation"):
        assert (
            optimal_mechanism(merged, epsilon, name).value
            <= optimal_mechanism(prior, epsilon, name).value + SLACK
        )


@given(priors(), levels)
def test_regions(prior, epsilon):
    """The region counts how many of the rarest symbols may be ruled out together."""
    boundaries = pb.extremal.privacy_regions(prior)
    k = pb.extremal.privacy_region(prior, epsilon)
    rarest = np.append(0, np.sort(prior).cumsum()[:-1])
    assert boundaries == pytest.approx(-np.log1p(-rarest))
    assert (np.diff(boundaries) > 0).all() and boundaries[0] == 0
    assert boundaries[k - 1] <= epsilon + 1e-11
    assert k == len(prior) or epsilon < boundaries[k]

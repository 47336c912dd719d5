"""No measure that cannot be negative is, by not so much as a rounding; equal rows leak exactly zero."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import channels, levels, pairs, priors

import pmlbook as pb
from pmlbook.budget import composed_level
from pmlbook.foundations.capacity import divergences
from pmlbook.foundations.processing import conditional_leakage
from pmlbook.foundations.utility import NAMED
from pmlbook.numerics.validation import check_epsilon, check_nonnegative

INFORMATIONS = {
    **NAMED,
    **{f"own {name}": pb.foundations.FInformation(known.f) for name, known in NAMED.items()},
    **{
        f"order {order}": pb.foundations.alpha_information(order) for order in (0.3, 0.5, 1.1, 2, 5)
    },
}
MEASURES = {
    **INFORMATIONS,
    "mutual_information": pb.foundations.mutual_information,
    "pointwise_maximal_leakage": pb.pointwise_maximal_leakage,
    "epsilon_pml": pb.epsilon_pml,
    "Mechanism.epsilon": lambda *pair: pb.Mechanism(*pair).epsilon,
    "Mechanism.leakage": lambda *pair: pb.Mechanism(*pair).leakage,
    "maximal_leakage": lambda channel, prior: pb.maximal_leakage(channel),
    "local_dp": lambda channel, prior: pb.local_dp(channel),
    "seen before": lambda channel, prior: conditional_leakage(np.eye(len(prior)), channel, prior),
    "channel_capacity": lambda channel, prior: pb.foundations.channel_capacity(channel).value,
    "worst_leakage": lambda channel, prior: pb.robust.worst_leakage(
        channel, pb.robust.box_region(np.round(2**20 * prior) + 1, 0.9)
    ),
}


@st.composite
def nearly_deaf(draw):
    """A channel whose rows agree but for some hundred of the last bits, and a prior."""
    prior = draw(priors())
    row = draw(channels(1))[0]
    bits = draw(st.lists(st.integers(-100, 100), min_size=1, max_size=len(prior) * len(row)))
    rows = row * (1 + np.resize(bits, (len(prior), len(row))) * 2.0 ** draw(st.integers(-52, -20)))
    return rows / rows.sum(axis=1, keepdims=True), prior


@settings(max_examples=40)  # each is asked of some fifty measures
@given(st.one_of(pairs(), nearly_deaf()))
def test_no_measure_is_negative(pair):
    assert [name for name, ask in MEASURES.items() if not np.nanmin(ask(*pair)) >= 0] == []


@settings(max_examples=40)
@given(st.data(), priors())
def test_equal_rows_tell_nothing(data, prior):
    deaf = np.tile(data.draw(channels(1)), (len(prior), 1))
    assert [name for name, ask in MEASURES.items() if np.nanmax(ask(deaf, prior)) > 1e-15] == []


@given(priors(), st.data())
def test_averages_are_not_negative(prior, data):
    """Of a surprise, of squares, and of each row's divergence from the mean."""
    assert pb.foundations.entropy(prior) >= 0 and pb.foundations.epsilon_max(prior) >= 0
    channel = data.draw(st.one_of(channels(len(prior)), channels(1)))
    assert divergences(np.resize(channel, (len(prior), channel.shape[1])), prior).min() >= 0


def test_a_sure_thing_has_no_entropy():
    assert pb.foundations.entropy([1 + 2.0**-52]) == 0 == pb.foundations.entropy([1, 0])


def test_an_alleged_divergence_that_is_negative_stays_visible():
    """A concave function is no divergence, and zero would hide it."""
    assert pb.foundations.FInformation(np.sqrt)([[1, 0], [0, 1]], [0.5, 0.5]) > 0
    assert pb.foundations.FInformation(lambda t: t - t**2)([[1, 0], [0, 1]], [0.5, 0.5]) == -1


@given(st.data(), levels)
def test_no_bracket_of_a_leakage_is_negative(data, b):
    query = data.draw(
        st.sampled_from(
            [pb.records.parity(3), pb.records.counting(2), pb.records.modular_sum(3, 3)]
        )
    )
    channel = data.draw(st.one_of(channels(query.n_values), channels(1)))
    channel = np.resize(channel, (query.n_values, channel.shape[1]))
    found = pb.per_record_leakage(query, channel, min(b, 1.0), max_time=0.2)
    assert 0 <= found.value <= found.bound and found.gap >= 0


@pytest.mark.parametrize("utility", [*NAMED, *(INFORMATIONS[f"own {name}"] for name in NAMED)])
@settings(max_examples=40)
@given(priors(1, 4), st.sampled_from([0.0, 1e-6, 1e-3, 0.3, 2.0]))
def test_no_design_is_worth_less_than_nothing(utility, prior, epsilon):
    found = pb.optimal_mechanism(prior, epsilon, utility)
    assert 0 <= found.value <= found.bound and found.gap >= 0


def test_no_level_is_minus_zero():
    levels = [check_epsilon(-0.0), composed_level(-0.0), check_nonnegative(-0.0, "b")]
    assert [math.copysign(1, level) for level in levels] == [1, 1, 1]

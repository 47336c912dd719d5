"""Names are paired by name, or refused with both lists: never by position, never in hash order."""

import pickle
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pmlbook as pb
from pmlbook.audit.choosing_epsilon import may_rule_out, meaning
from pmlbook.extremal.gains import gain_optimum
from pmlbook.foundations import adversaries, leakage, probability, processing
from pmlbook.hamming.known_source import known_source_leakage
from pmlbook.hamming.mechanisms import distortions, is_valid, worst_distortion
from pmlbook.hamming.mutual_information import worst_case_information
from pmlbook.record_design.symmetry import setting
from pmlbook.records.framework import dalenius_level, record_information
from pmlbook.robust.estimated_prior import PriorRegion, worst_prior
from pmlbook.robust.robust_design import keeps_level
from pmlbook.worst_case.leakage_rules import leakage_parts
from pmlbook.worst_case.problem import worst_rank, worst_value

NAMES, SHARES = ("a", "b", "c"), (0.2, 0.3, 0.5)
ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]])
GAIN = np.array([[5.0, 0, 1], [0, 2, 1], [1, 0, 3]])
OTHER = np.array([[0.5, 0.5], [1, 0], [0.25, 0.75]])
BY_NAME, BY_SIZE = list(NAMES), ["c", "b", "a"]  # value_counts sorts by frequency
PRIOR = pd.Series(SHARES, BY_NAME)
SORTED = PRIOR.sort_values(ascending=False)


def frame(table, columns=None):
    return pd.DataFrame(table, BY_NAME, columns)


# what each call gives for arrays in one order; then with names, in two orders
PAIRS = {
    "mutual_information": (pb.foundations.mutual_information, ROWS),
    "pointwise_maximal_leakage": (pb.pointwise_maximal_leakage, ROWS),
    "epsilon_pml": (pb.epsilon_pml, ROWS),
    "joint": (probability.joint, ROWS),
    "output_distribution": (probability.output_distribution, ROWS),
    "posterior": (probability.posterior, ROWS),
    "lift": (leakage.lift, ROWS),
    "information_density": (leakage.information_density, ROWS),
    "leakage_parts": (leakage_parts, ROWS),
    "utility": (lambda c, p: pb.foundations.alpha_information(2)(c, p), ROWS),
    "guessing": (lambda c, p: adversaries.guessing_advantage(c, p, np.eye(3)), ROWS),
    "gain_advantage": (lambda c, p: adversaries.gain_advantage(c, p, GAIN), ROWS),
    "pre_process": (lambda c, p: processing.pre_process(c, p, OTHER), ROWS),
    "conditional": (lambda c, p: processing.conditional_leakage(c, OTHER, p), ROWS),
    "record_information": (lambda c, p: record_information(c, p, 0), ROWS),
    "dalenius": (lambda c, p: dalenius_level(c, [p]), ROWS),
    "mechanism": (lambda c, p: pb.Mechanism(c, p).epsilon, ROWS),
    "mechanism-leakage": (lambda c, p: pb.Mechanism(c, p).leakage, ROWS),
    "gain": (lambda g, p: pb.foundations.ExpectedGain(g)(np.eye(3), p), GAIN),
    "gain-design": (
        lambda g, p: pb.optimal_mechanism(p, 0.3, pb.foundations.ExpectedGain(g)).value,
        GAIN,
    ),
    "gain-optimum": (lambda g, p: gain_optimum(p, 0.3, g)[1], GAIN),
    "min_leakage": (lambda g, p: pb.min_leakage(g, p, 2).value, GAIN),
    "worst_case": (lambda g, p: pb.worst_case_mechanism(g, p, 0.4).value, GAIN),
    "frontier": (
        lambda g, p: [step.design.value for step in pb.worst_case.worst_case_frontier(g, p)],
        GAIN,
    ),
    "utility_safe": (lambda g, p: pb.worst_case.utility_safe_mechanism(g, p, 2).epsilon, GAIN),
    "expected_utility": (
        lambda g, p: pb.worst_case.expected_utility_mechanism(g, p, 1.5, 0).value,
        GAIN,
    ),
}


def flat(result):
    """Any of these results as one vector."""
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])


@pytest.mark.parametrize("call, table", PAIRS.values(), ids=PAIRS)
def test_a_prior_meets_a_table_by_name(call, table):
    """Whichever order the prior is in, the rows keep the table's order or its result does not depend on it."""
    expected = flat(call(table, np.array(SHARES)))
    for prior in (PRIOR, SORTED, dict(PRIOR), dict(SORTED)):
        assert np.allclose(flat(call(frame(table), prior)), expected, rtol=1e-9, atol=1e-12)
    assert np.array_equal(flat(call(table, PRIOR)), expected)  # an array goes by position
    assert np.array_equal(flat(call(frame(table), np.array(SHARES))), expected)


@pytest.mark.parametrize("call, table", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("index", [["a", "b", "d"], [0, 1, 2], ["a", "b", "A"]], ids=str)
def test_other_names_are_refused_with_both_lists(call, table, index):
    given = frame(table)
    with pytest.raises(ValueError, match="different names") as refused:
        call(given, pd.Series(SHARES, index))
    assert str(index) in str(refused.value) and str(BY_NAME) in str(refused.value)
    assert given.equals(frame(table))


@pytest.mark.parametrize("call, table", PAIRS.values(), ids=PAIRS)
def test_repeated_names_are_refused(call, table):
    for prior, rows in (
        (pd.Series(SHARES, ["a", "b", "b"]), frame(table)),
        (PRIOR, pd.DataFrame(table, ["a", "b", "b"])),
    ):
        with pytest.raises(ValueError, match="3 different names, got .*'b', 'b'"):
            call(rows, prior)


THREES = {
    "guessing": lambda c, p, t: adversaries.guessing_advantage(c, p, t),
    "pre_process": lambda c, p, t: processing.pre_process(c, p, t),
    "conditional": lambda c, p, t: processing.conditional_leakage(c, t, p),
    "gain_advantage": lambda c, p, t: adversaries.gain_advantage(c, p, t),
    "joint_channel": lambda c, p, t: processing.joint_channel(c, t),
}


@pytest.mark.parametrize("call", THREES.values(), ids=THREES)
def test_three_tables_meet_by_name(call):
    expected = flat(call(ROWS, np.array(SHARES), OTHER))
    mixed = frame(OTHER).loc[["b", "c", "a"]]
    for channel, prior in ((frame(ROWS), SORTED), (frame(ROWS), np.array(SHARES)), (ROWS, PRIOR)):
        if channel is ROWS and call is THREES["joint_channel"]:
            continue
        assert np.allclose(flat(call(channel, prior, mixed)), expected, rtol=1e-12)
    with pytest.raises(ValueError, match=r"\['a', 'b', 'x'\].*\['a', 'b', 'c'\]"):
        call(frame(ROWS), SORTED, pd.DataFrame(OTHER, ["a", "b", "x"]))


def test_rows_that_name_their_outcomes_meet_by_name():
    rows = [pd.Series(row, ["x", "y", "z"]) for row in ROWS]
    mixed = [rows[0], rows[1][["z", "x", "y"]], rows[2][["y", "x", "z"]]]
    made = pb.Mechanism(mixed, SHARES)
    assert made.outputs == ("x", "y", "z") and made.channel.tolist() == (
        pb.Mechanism(ROWS, SHARES).channel.tolist()
    )
    assert pb.local_dp(mixed) == pb.local_dp(ROWS)
    with pytest.raises(ValueError, match=r"channel\[2\] and channel\[0\] have different names"):
        pb.local_dp([*mixed[:2], mixed[2].rename({"x": "X"})])


def test_post_processing_meets_outcomes_by_name():
    kernel = pd.DataFrame(OTHER, ["x", "y", "z"])
    channel = frame(ROWS, ["x", "y", "z"])
    expected = processing.post_process(ROWS, OTHER)
    assert (processing.post_process(channel, kernel.loc[["z", "x", "y"]]) == expected).all()
    with pytest.raises(ValueError, match="kernel and columns of channel have different names"):
        processing.post_process(channel, kernel.rename({"x": "X"}))


def test_the_case_of_the_sorted_prior():
    """value_counts comes sorted, the frame does not: by position the level is 1.247, by name 1.015."""
    column = pd.Series(["b"] * 6 + ["a"] * 3 + ["c"])
    prior = column.value_counts(normalize=True)
    channel = pd.DataFrame([[0.8, 0.1, 0.1], [0.3, 0.4, 0.3], [0.1, 0.1, 0.8]], BY_NAME, BY_NAME)
    assert list(prior.index) != BY_NAME
    made = pb.Mechanism(channel, prior)
    right = pb.Mechanism(channel.to_numpy(), [0.3, 0.6, 0.1])
    assert made.inputs == made.outputs == NAMES and made.epsilon == right.epsilon
    assert made.epsilon == pytest.approx(1.0147, abs=1e-4)
    assert pb.Mechanism(channel.to_numpy(), prior.to_numpy()).epsilon > 1.246
    pd.testing.assert_frame_equal(made.to_frame(), channel, rtol=1e-15)


def test_frames_name_inputs_and_outputs():
    channel = frame(ROWS, ["x", "y", "z"])
    made = pb.Mechanism(channel, SORTED)
    assert made.inputs == NAMES and made.outputs == ("x", "y", "z")
    assert pb.Mechanism(made.to_frame(), SORTED) == made
    turned = pb.Mechanism(channel, SORTED, outputs=["z", "x", "y"])
    assert turned == pb.Mechanism(ROWS[:, [2, 0, 1]], SHARES, NAMES, "zxy")
    turned = pb.Mechanism(channel, PRIOR, inputs=BY_SIZE)
    assert turned == pb.Mechanism(ROWS[::-1], SHARES[::-1], BY_SIZE, "xyz")
    assert pb.Mechanism(ROWS, SORTED).inputs == tuple(BY_SIZE)
    assert pb.Mechanism(ROWS, PRIOR, inputs=BY_SIZE).prior.tolist() == list(SHARES[::-1])
    for wrong in (dict(inputs="abd"), dict(outputs="xyw"), dict(inputs=[0, 1, 2])):
        with pytest.raises(ValueError, match="different names"):
            pb.Mechanism(channel, PRIOR, **wrong)
    assert (
        replace(made, prior=PRIOR) == made and replace(made, channel=channel.loc[BY_SIZE]) == made
    )


LABELS = {
    "whole": [3, 1, 2],
    "text": ["x", "", "é"],
    "mixed": [1, "1", 2.5],
    "gap": [None, "no", "yes"],
    "truth": [True, False, "?"],
    "floats": [1, 2.5, 3],
    "pairs": [("a", 1), ("a", 2), ("b", 1)],
    "uneven": [("a", 1), ("a",), ()],
    "dates": list(pd.date_range("2026-01-01", periods=3)),
    "numpy": list(np.array([5, 6, 7])),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_a_frame_goes_round(labels):
    made = pb.Mechanism(ROWS, SHARES, labels, labels[::-1])
    table = made.to_frame()
    index = pd.Index(labels, dtype=object, tupleize_cols=False)
    for prior in (pd.Series(made.prior, index), pd.Series(made.prior, index)[::-1], SHARES):
        back = pb.Mechanism(table, prior)
        assert back == made and list(map(type, back.inputs)) == list(map(type, made.inputs))
        assert list(map(type, back.outputs)) == list(map(type, made.outputs))
    table.iloc[0, 0] = 0  # the frame is the caller's
    assert made.channel.tolist() == pb.Mechanism(ROWS, SHARES).channel.tolist()


UNORDERED = {
    "set": {"x", "y", "z"},
    "frozenset": frozenset("xyz"),
    "dict": {"x": 0, "y": 1, "z": 2},
    "items": {"x": 0, "y": 1, "z": 2}.items(),
    "number": 3,
}


@pytest.mark.parametrize("names", UNORDERED.values(), ids=UNORDERED)
def test_names_without_an_order_are_refused(names):
    for call in (
        lambda: pb.Mechanism(ROWS, SHARES, inputs=names),
        lambda: pb.Mechanism(ROWS, SHARES, outputs=names),
        lambda: pb.foundations.ExpectedGain(GAIN, names),
        lambda: pb.hamming.SourceSet(ROWS, names),
    ):
        with pytest.raises(ValueError, match="(inputs|outputs) must be a sequence of names, got"):
            call()


def test_names_with_an_order_are_welcome():
    keys = {"x": 0, "y": 1, "z": 2}.keys()
    for names in (keys, "xyz", np.array(["x", "y", "z"]), pd.Index(["x", "y", "z"]), iter("xyz")):
        made = pb.Mechanism(ROWS, SHARES, outputs=names)
        assert made.outputs == ("x", "y", "z") and {type(name) for name in made.outputs} == {str}
    assert pb.Mechanism(ROWS, SHARES, np.arange(3)).certify(1).to_json()


def test_sets_are_no_values():
    made = pb.Mechanism(ROWS, SHARES, NAMES, NAMES)
    for bad in ({"a", "b"}, frozenset("ab"), {"a": 1}.keys()):
        for call in (made.privatize, made.estimate):
            with pytest.raises(ValueError, match="must be a column of values"):
                call(bad)
    for bad in ({0.5, 0.25}, frozenset({1.0})):
        with pytest.raises(pb.InvalidPrior, match="prior must hold real numbers"):
            pb.optimal_mechanism(bad, 0.5)
    for bad in ([{0, 1}, (0, 1)], {(0, 1)}):
        with pytest.raises(ValueError, match="a set has no order"):
            pb.records.Query(sum, bad)
        with pytest.raises(ValueError, match="a set has no order"):
            pb.records.SumQuery(bad)
    with pytest.raises(ValueError, match="a set has no order"):
        pb.records.SumQuery([(0, 1)], alphabets=[{"no", "yes"}])


def test_a_dict_is_names_and_probabilities():
    prior = {"a": 0.2, "b": 0.3, "c": 0.5}
    design = pb.optimal_mechanism(prior, 0.4)
    assert design.mechanism.inputs == NAMES and design == pb.optimal_mechanism(PRIOR, 0.4)
    assert pb.foundations.entropy(prior) == pb.foundations.entropy(SHARES) and prior == dict(PRIOR)
    assert list(meaning(prior, 0.3).index) == BY_NAME and ("a",) in may_rule_out(prior, 0.3)
    with pytest.raises(pb.InvalidPrior, match=r"prior\['b'\] = 0"):
        pb.Mechanism(np.eye(2), {"a": 1.0, "b": 0.0})


@pytest.mark.parametrize("make", [pl.Series, pa.array, np.array, list, tuple])
def test_what_carries_no_names_goes_by_position(make):
    prior = make(SHARES)
    assert pb.Mechanism(ROWS, prior).inputs == (0, 1, 2)
    assert pb.optimal_mechanism(prior, 0.4).mechanism.inputs == (0, 1, 2)
    assert pb.Mechanism(frame(ROWS), prior) == pb.Mechanism(ROWS, PRIOR)
    assert pb.Mechanism(pl.DataFrame(ROWS), prior).outputs == ("r0", "r1", "r2")


def test_unnamed_rows_go_by_position():
    """pandas numbers them 0, 1, ...; as soon as they are moved, the numbers are names."""
    unnamed = pd.Series(SHARES)
    for channel, prior in (
        (pd.DataFrame(ROWS), PRIOR),
        (frame(ROWS), unnamed),
        (pd.DataFrame(ROWS), pd.Series(SHARES, BY_NAME)),
    ):
        assert pb.Mechanism(channel, prior) == pb.Mechanism(ROWS, SHARES, NAMES)
    assert pb.Mechanism(pd.DataFrame(ROWS), unnamed, NAMES, "xyz").outputs == ("x", "y", "z")
    assert pb.Mechanism(pd.DataFrame(ROWS), unnamed) == pb.Mechanism(ROWS, SHARES)
    moved = pb.Mechanism(pd.DataFrame(ROWS).iloc[[2, 0, 1]], unnamed)
    assert moved == pb.Mechanism(ROWS[[2, 0, 1]], np.array(SHARES)[[2, 0, 1]], [2, 0, 1])
    for turned in (unnamed[::-1], unnamed.sort_values(ascending=False), unnamed.iloc[[1, 2, 0]]):
        assert pb.epsilon_pml(pd.DataFrame(ROWS), turned) == pb.epsilon_pml(ROWS, SHARES)
        with pytest.raises(ValueError, match="different names"):
            pb.Mechanism(frame(ROWS), turned)
    gain = pb.foundations.ExpectedGain(pd.DataFrame(GAIN))
    assert pb.optimal_mechanism(PRIOR, 0.4, gain).mechanism.inputs == NAMES
    named = pb.optimal_mechanism(unnamed, 0.4, pb.foundations.ExpectedGain(frame(GAIN)))
    assert named.mechanism.inputs == NAMES


def designs(prior, table):
    yield pb.optimal_mechanism(prior, 0.4).mechanism
    yield pb.optimal_mechanism(prior, 0.05).mechanism
    yield pb.optimal_mechanism(prior, 0.4, pb.foundations.ExpectedGain(table)).mechanism
    yield pb.extremal.high_privacy_mechanism(prior, 0.05)
    for made in (
        pb.min_leakage(table, prior, 2),
        pb.worst_case_mechanism(table, prior, 0.4),
        pb.worst_case.expected_utility_mechanism(table, prior, 1.5, 0),
    ):
        assert made.mechanism.outputs == ("x", "y", "z")
        yield made.mechanism
    yield pb.worst_case.utility_safe_mechanism(table, prior, 2)


def test_designs_carry_the_names():
    table = frame(GAIN, ["x", "y", "z"])
    for made, plain in zip(designs(SORTED, table), designs(SORTED.to_numpy(), table.loc[BY_SIZE])):
        assert made.inputs == tuple(BY_SIZE)
        assert dict(zip(made.inputs, made.prior)) == dict(SORTED)
        assert made.channel.tolist() == plain.channel.tolist()
    for made in list(designs(np.array(SHARES), table))[4:]:
        assert made.inputs == NAMES  # an array has no names, but the table has
    yes_no = pb.extremal.binary_mechanism({"no": 0.75, "yes": 0.25}, 0.5)
    assert yes_no.inputs == ("no", "yes") and yes_no.outputs == ("r0", "r1")


def test_utilities_meet_mechanisms_by_name():
    gain = frame(GAIN)
    made = pb.Mechanism(frame(ROWS), SORTED, inputs=BY_SIZE)
    plain = pb.Mechanism(ROWS, SHARES)
    assert made.utility(pb.foundations.ExpectedGain(gain)) == pytest.approx(
        plain.utility(pb.foundations.ExpectedGain(GAIN)), rel=1e-15
    )
    with pytest.raises(ValueError, match=r"\['a', 'b', 'c'\].*\[0, 1, 2\]"):
        plain.utility(pb.foundations.ExpectedGain(gain))


def test_worst_values_meet_by_name_in_rows_and_columns():
    columns = ["x", "y", "z"]
    channel = frame([[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]], columns)
    worth = frame([[5.0, 4, 0], [1, 3, 2], [0, 2, 9]], columns)
    mixed = worth.loc[BY_SIZE, ["z", "x", "y"]]
    for measure in (worst_value, worst_rank):
        assert measure(channel, mixed) == measure(channel.to_numpy(), worth.to_numpy())
        with pytest.raises(ValueError, match="columns of utilities and columns of channel"):
            measure(channel, worth.rename(columns={"x": "X"}))


def test_regions_of_priors_meet_by_name():
    counts = pd.Series([50, 30, 20], BY_SIZE)
    region, plain = pb.robust.box_region(counts), pb.robust.box_region(counts.to_numpy())
    assert region.inputs == tuple(BY_SIZE)
    low, high = pd.Series(region.low, BY_SIZE), pd.Series(region.high, BY_SIZE)
    prior = pd.Series(region.prior, BY_SIZE)
    sample = {"people": region.people, "confidence": region.confidence}
    assert type(region)(prior, low.loc[BY_NAME], high.loc[["b", "a", "c"]], **sample) == region
    rows = ROWS[::-1]
    assert (
        pb.robust.worst_leakage(frame(ROWS), region).tolist()
        == pb.robust.worst_leakage(rows, plain).tolist()
    )
    column = pd.Series(ROWS[:, 0], BY_NAME)
    assert worst_prior(column, region).tolist() == worst_prior(rows[:, 0], plain).tolist()
    assert region.contains(prior.loc[BY_NAME]) and not region.contains(
        pd.Series(region.prior, BY_NAME)
    )
    made = pb.Mechanism(frame(ROWS), PRIOR)
    level = float(pb.robust.worst_leakage(rows, plain).max())
    assert keeps_level(made, region, level + 1e-9) and not keeps_level(made, region, level - 1e-9)
    with pytest.raises(ValueError, match="mechanism and region have different names"):
        keeps_level(pb.Mechanism(ROWS, SHARES), region, 1)
    gain = pb.foundations.ExpectedGain(frame(GAIN))
    best = pb.robust.robust_mechanism(region, 0.4, gain)
    assert best.mechanism.inputs == tuple(BY_SIZE)
    assert (
        best.value
        == pb.robust.robust_mechanism(plain, 0.4, pb.foundations.ExpectedGain(GAIN[::-1])).value
    )


def test_source_sets_meet_by_name():
    table = pd.DataFrame([[0.6, 0.3, 0.1], [0.5, 0.3, 0.2]], columns=BY_NAME)
    known = pb.hamming.SourceSet(table)
    assert known.inputs == NAMES == known.hull().inputs and known.ordered().inputs == NAMES
    assert pb.hamming.SourceSet([table.iloc[0], table.iloc[1][BY_SIZE]]) == known
    assert pb.hamming.SourceSet(table[BY_SIZE], BY_NAME) == known
    assert known.contains(table.iloc[0][BY_SIZE]) and known.contains([0.6, 0.3, 0.1])
    with pytest.raises(ValueError, match="distribution and source set have different names"):
        known.contains(pd.Series(SHARES, list("abx")))
    with pytest.raises(
        ValueError, match=re.escape("vertices[1] and vertices[0] have different names")
    ):
        pb.hamming.SourceSet([table.iloc[0], pd.Series(SHARES, list("abx"))])
    design, plain = pb.dp_leakage(table, 0.3), pb.dp_leakage(table.to_numpy(), 0.3)
    assert design.mechanism.inputs == design.mechanism.outputs == NAMES
    assert design.mechanism.channel.tolist() == plain.mechanism.channel.tolist()
    assert pb.mi_leakage(table, 0.3).mechanism.inputs == NAMES
    channel = frame(ROWS, BY_NAME)
    mixed = channel.loc[BY_SIZE, ["b", "c", "a"]]
    expected = worst_distortion(ROWS, table.to_numpy())
    assert worst_distortion(mixed, known) == worst_distortion(channel, known) == expected
    assert (
        is_valid(mixed, known, expected) and (distortions(mixed) == distortions(ROWS)[::-1]).all()
    )
    low, high, _ = worst_case_information(known, mixed)
    expected = worst_case_information(table.to_numpy(), ROWS)
    assert (low, high) == pytest.approx(expected[:2], abs=1e-9)
    assert known_source_leakage(table.iloc[0], 0.2) == known_source_leakage([0.6, 0.3, 0.1], 0.2)


def test_per_record_tables_meet_query_values_and_datasets():
    query, rows = pb.records.counting(2), pb.foundations.geometric(3, 0.7)
    expected = pb.per_record_leakage(query, rows, 1.0).value
    mixed = pd.DataFrame(rows).iloc[[2, 0, 1]]
    assert pb.per_record_leakage(query, mixed, 1.0).value == expected
    datasets = pd.MultiIndex.from_product([(0, 1), (0, 1)])
    all_rows = pd.DataFrame(rows[[0, 1, 1, 2]], datasets)
    assert pb.per_record_leakage(query, all_rows[::-1], 1.0).value == pytest.approx(expected)
    distribution = pd.Series([0.4, 0.3, 0.2, 0.1], datasets)
    costs = pd.DataFrame([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    turned = setting(query, distribution[::-1], costs[::-1])
    assert (turned.cost == setting(query, distribution.to_numpy(), costs.to_numpy()).cost).all()
    for bad in (pd.DataFrame(rows, list("abc")), pd.DataFrame(rows, [1, 2, 3])):
        with pytest.raises(ValueError, match="channel and query have different names"):
            pb.per_record_leakage(query, bad, 1.0)


def test_fractions_keep_their_names():
    counts = pd.Series(np.array([5, 3, 2]), BY_SIZE)
    prior = counts.map(lambda count: Fraction(int(count), 10))
    made = pb.Mechanism(frame(ROWS), prior)
    assert made.exact_prior == (Fraction(1, 5), Fraction(3, 10), Fraction(1, 2))


@pytest.mark.parametrize("names", [np.array(1.0), np.ma.masked_all(2), [np.array([1]), 2]])
def test_indistinguishable_values_are_no_list_of_names(names):
    """A masked number claims to be hashable, and an array of no dimension claims to be iterable."""
    with pytest.raises(ValueError, match="outputs"):
        pb.Mechanism([[0.5, 0.5], [0.4, 0.6]], [0.5, 0.5], outputs=names)
    with pytest.raises(ValueError, match="alphabets"):
        pb.records.Query(sum, names)


@pytest.mark.parametrize("names", [(0, 1), ("a", "b")])
def test_a_level_of_a_region_is_decided_by_name(names):
    region = pb.robust.box_region(pd.Series([900, 100], index=list(names)))
    rows = [[0.3, 0.7], [0.9, 0.1]]
    turned = pb.Mechanism(rows, [0.1, 0.9], inputs=names[::-1])
    straight = pb.Mechanism(rows[::-1], [0.9, 0.1], inputs=names)
    level = np.nanmax(pb.robust.worst_leakage(turned.to_frame(), region))
    for made in (turned, straight):
        assert keeps_level(made, region, level + 1e-9)
        assert not keeps_level(made, region, level - 1e-9)


def test_a_region_without_names_takes_those_of_a_utility():
    region, gain = pb.robust.box_region([50, 60]), pd.DataFrame([[1.0, 0], [0, 1]], list("ab"))
    useful = pb.robust.robust_mechanism(region, 0.3, pb.foundations.ExpectedGain(gain))
    assert useful.mechanism.inputs == ("a", "b")


WINS = pd.DataFrame([[3.0, 0, 1], [0, 2, 0], [0, 1, 5]], index=list("abc"))
NAMED_PRIOR = {"a": 0.6, "b": 0.25, "c": 0.15}
RELEASE = pb.Mechanism(
    [[0.14, 0.17, 0.2, 0.49], [0.03, 0.32, 0.24, 0.41], [0.28, 0.22, 0.38, 0.12]],
    NAMED_PRIOR,
)
WITH_UTILITY = {
    "reduce_outputs": lambda gain: pb.extremal.reduce_outputs(RELEASE, gain).channel.tolist(),
}


@pytest.mark.parametrize("call", WITH_UTILITY.values(), ids=WITH_UTILITY)
def test_gains_meet_secrets_by_name(call):
    straight, turned = (pb.foundations.ExpectedGain(t) for t in (WINS, WINS.loc[list("cab")]))
    assert call(straight) == call(turned)
    with pytest.raises(ValueError, match="different names"):
        call(pb.foundations.ExpectedGain(WINS.set_axis(list("xyz"))))


def test_where_a_region_has_no_names_rows_go_by_position():
    """A list of counts is in the order of the mechanism, also where its secrets are numbers in another order."""
    release = pb.Mechanism([[0.3, 0.7], [0.9, 0.1]], [0.1, 0.9], inputs=(1, 0))
    region = pb.robust.box_region([100, 900])
    level = np.nanmax(pb.robust.worst_leakage(release.channel, region))
    measure = pb.robust.worst_leakage
    assert (measure(release.to_frame(), region) == measure(release.channel, region)).all()
    assert keeps_level(release, region, level + 1e-9)
    assert not keeps_level(release, region, level - 1e-9)
    gain = pd.DataFrame([[1.0, 0], [0, 1]], index=[1, 0])
    made = pb.robust.robust_mechanism(region, 0.3, pb.foundations.ExpectedGain(gain))
    assert made.mechanism.inputs == (1, 0) and made.mechanism.prior.tolist() == [0.1, 0.9]


def test_a_region_with_names_differs_from_one_without():
    unnamed = pb.robust.box_region([900, 100])
    named = pb.robust.box_region(pd.Series([900, 100], index=[0, 1]))
    assert unnamed.inputs == named.inputs and unnamed != named
    assert unnamed.named((0, 1)) == named and named == named.named(("a", "b"))


@pytest.mark.parametrize("name", [np.nan, float("nan"), pd.NaT, pd.NA], ids=repr)
def test_names_that_mean_missing_are_one_name(name):
    """They equal nothing, not even themselves: each has to be found again, in a copy too."""
    flip = [[0.75, 0.25], [0.25, 0.75]]
    made = pb.Mechanism(flip, [0.5, 0.5], ("a", name))
    turned = pb.Mechanism(flip, [0.5, 0.5], (name, "a"))
    assert made == pb.Mechanism(flip, [0.5, 0.5], ("a", np.nan)) and made != turned
    assert made != pb.Mechanism(flip, [0.5, 0.5], ("a", "nan"))
    assert pickle.loads(pickle.dumps(made.certify(1.0))) == made.certify(1.0)
    assert pb.budget.compose(made, turned).inputs == made.inputs
    prior = pd.Series([0.5, 0.5], index=pd.Index(["a", name], dtype=object))
    assert pb.optimal_mechanism(prior, 0.3).mechanism.inputs == made.inputs
    outcomes = ["r0", "r1", "r1", "r0"] * 20
    both = pb.estimation.two_way(made, outcomes, ["r0", "r1", "r0", "r0"] * 20, made)
    assert both.mean([0, 1], name).interval() == both.mean([0, 1], None).interval()
    assert both.difference([0, 1], name, name).interval() == (0.0, 0.0)


def test_rows_of_whole_numbers_go_by_name():
    """A list of Series was read by position where its entries were exact: the level was 0, and all was published."""
    rows = [pd.Series([1, 0], ["y", "n"]), pd.Series([1, 0], ["n", "y"])]
    level = pb.Mechanism(rows, [0.5, 0.5]).epsilon
    assert pb.audit.audit_leakage(rows, [0.5, 0.5]).level[1] == level > 0.69
    assert pb.budget.repeated_leakage(rows, [0.5, 0.5], 1).bound == pytest.approx(level)


def test_default_numbers_beside_the_same_numbers_in_another_order():
    """Tables were paired by the numbers, but named in the other order: a promised utility was broken."""
    utility = pd.DataFrame([[3.0, 2, 1], [1, 3, 2], [2, 1, 3.5]], columns=list("abc"))
    prior, turned = pd.Series([0.6, 0.25, 0.15]), utility.sort_values("a")
    for design in (
        pb.min_leakage(turned, prior, 2).mechanism,
        pb.worst_case_mechanism(turned, prior, 1.0).mechanism,
    ):
        assert worst_value(design.to_frame(), utility) == 2
    channel = pd.DataFrame([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]])
    shuffled = prior.loc[[2, 0, 1]]
    for measure in (
        pb.foundations.mutual_information,
        pb.epsilon_pml,
    ):
        assert measure(channel, shuffled) == pytest.approx(measure(channel, prior))
    gain = pd.DataFrame(np.diag([1.0, 2.0, 3.0]))
    for each in (gain, gain.loc[[2, 0, 1]]):
        assert pb.foundations.ExpectedGain(each)(channel, shuffled) == pytest.approx(
            pb.foundations.ExpectedGain(gain)(channel, prior)
        )


def test_names_given_beside_a_table_name_its_rows_in_their_order():
    """Rows with default numbers were put into the order of numbers that name them, and lists were not."""
    table, shares = [[0.9, 0.1], [0.2, 0.8]], [0.3, 0.7]
    for channel in (table, pd.DataFrame(table)):
        for prior in (shares, pd.Series(shares)):
            made = pb.Mechanism(channel, prior, inputs=[1, 0], outputs=[1, 0])
            assert made.channel == pytest.approx(np.array(table)) and made.inputs == (1, 0)
            assert made.prior.tolist() == shares
    gain = pb.foundations.ExpectedGain(pd.DataFrame(table), inputs=[1, 0]).gain
    assert gain.tolist() == table
    vertices = pb.hamming.SourceSet(pd.DataFrame([shares]), inputs=[1, 0]).vertices
    assert vertices.tolist() == [shares]
    region = PriorRegion(pd.Series(shares), pd.Series(shares), pd.Series(shares), inputs=(1, 0))
    assert region.prior.tolist() == region.low.tolist() == shares
    certified = pb.Mechanism(table, shares, (1, 0)).certify(1.0)
    again = replace(certified, prior=pd.Series(shares))
    assert again.largest_lift == certified.largest_lift


def test_a_region_keeps_the_numbers_of_a_series():
    """They were forgotten, and tables went by position."""
    channel = pd.DataFrame([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]])
    named = pb.robust.box_region(pd.Series([60, 25, 15]))
    turned = channel.loc[[2, 0, 1]]
    assert pb.robust.worst_leakage(turned, named) == pytest.approx(
        pb.robust.worst_leakage(channel, named)
    )
    listed = pb.robust.box_region([60, 25, 15])
    assert pb.robust.worst_leakage(turned, listed) == pytest.approx(
        pb.robust.worst_leakage(turned.to_numpy(), listed)
    )
    low, high = pd.Series([0.1, 0.4, 0.1], list("bac")), pd.Series([0.3, 0.7, 0.3], list("bac"))
    assert PriorRegion([0.6, 0.2, 0.2], low, high[list("abc")]).inputs == tuple("bac")


def test_names_of_counts_and_contributions():
    counts = pd.Series([3, 2, 1], ["b", "a", "c"])
    with pytest.raises(ValueError, match="has names: give an array"):
        pb.additive_noise.mean_mechanism((counts, np.arange(4.0)), 1.0)
    with pytest.raises(ValueError, match="a set has no order"):
        pb.records.SumQuery([{0: 5, 1: 7}])
    unnamed = pd.DataFrame([[0.6, 0.4], [0.4, 0.6]])
    assert pb.audit.audit_leakage(unnamed, [0.5, 0.5], outcomes=["x", "y"]).outcomes == ("x", "y")


def test_default_names_stay_default_where_objects_are_made_and_copied():
    """Outcomes got the numbers of secrets, inputs that repeat the names moved a prior, and regions forgot theirs."""
    utility = np.array([[3.0, 2, 1], [1, 3, 2], [2, 1, 3.5]])
    framed = pb.min_leakage(pd.DataFrame(utility), [0.6, 0.25, 0.15], 2).mechanism
    assert framed.outputs == ("r0", "r1", "r2")
    assert replace(framed, channel=np.ones((3, 1))).outputs == ("r0",)
    table = pd.DataFrame([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]]).loc[[2, 0, 1]]
    prior = pd.Series([0.6, 0.25, 0.15])
    assert (
        pb.Mechanism(table, prior).epsilon == pb.Mechanism(table, prior, inputs=[2, 0, 1]).epsilon
    )
    region = pb.robust.box_region(pd.Series([60, 25, 15]))
    for copied in (pickle.loads(pickle.dumps(region)), replace(region)):
        assert copied == region and copied.names == region.names

"""A design takes a region where it takes a prior: its level holds for all of it, names decide the order, and what is no region is refused."""

import numpy as np
import pandas as pd
import pytest

import pmlbook as pb
from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.robust.estimated_prior import PriorRegion
from pmlbook.robust.robust_design import centre_level, keeps_level

FOUR = pd.Series([410, 300, 200, 90], index=["9", "3", "7", "1"])
DOZEN = pd.Series(np.random.default_rng(2).integers(20, 400, 12), index=range(12))
BOX, MANY = pb.robust.box_region(FOUR), pb.robust.box_region(DOZEN)


@pytest.mark.parametrize("region", [BOX, MANY, pb.robust.ball_region(DOZEN)], ids=repr)
@pytest.mark.parametrize("target", ["frequencies", "mean"])
def test_every_level_holds_on_the_whole_region(region, target):
    for level in (0.01, 0.7, 3.0):
        design = pb.estimation.estimation_mechanism(region, level, target, max_time=3)
        assert keeps_level(design.mechanism, region, level)
        assert design.bound <= design.value < np.inf
        assert design.mechanism.inputs == region.inputs


@pytest.mark.parametrize("utility", ["total_variation", lambda column: column.max()])
@pytest.mark.parametrize("region", [BOX, MANY], ids=repr)
def test_any_utility_has_a_region(region, utility):
    design = pb.optimal_mechanism(region, 0.7, utility, max_time=5)
    assert keeps_level(design.mechanism, region, 0.7) and 0 < design.value <= design.bound


def test_information_is_that_of_the_robust_mechanism():
    made, wanted = pb.optimal_mechanism(BOX, 0.5), pb.robust.robust_mechanism(BOX, 0.5)
    assert made.mechanism == wanted.mechanism and made.bound == wanted.bound


def test_a_target_is_read_by_names():
    numbers = pd.Series([1.0, 3, 7, 9], index=["1", "3", "7", "9"])
    by_name = pb.estimation.estimation_mechanism(BOX, 0.5, numbers)
    assert by_name.value == pb.estimation.estimation_mechanism(BOX, 0.5, "mean").value


def test_a_wider_region_costs_more():
    values = [
        pb.estimation.estimation_mechanism(pb.robust.box_region(FOUR, c), 0.5).value
        for c in (0.5, 0.95, 0.999)
    ]
    assert (
        values == sorted(values)
        and values[0] > pb.estimation.estimation_mechanism(FOUR / 1000, 0.5).value
    )


def test_what_leaves_nothing_to_do_is_refused():
    with pytest.raises(ValueError, match="'auto'"):
        pb.optimal_mechanism(BOX, 0.5, method="enumeration")
    with pytest.raises(Infeasible, match="epsilon = 0"):
        pb.estimation.estimation_mechanism(BOX, 0)
    with pytest.raises(ValueError, match="nothing to estimate"):
        pb.estimation.estimation_mechanism(BOX, 0.5, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="ball"):
        pb.robust.ball_region(FOUR).limits  # noqa: B018


def test_a_centre_outside_its_region_has_a_level_that_is_a_little_higher():
    outside = PriorRegion([0.5, 0.5], [0.4, 0.52], [0.48, 0.6])
    channel = np.array([[0.9, 0.1], [0.6, 0.4]])
    level = max(pb.robust.worst_leakage(channel, outside))
    under_centre = pb.Mechanism(channel, [0.5, 0.5]).epsilon
    assert level < under_centre <= centre_level(outside, level)
    assert centre_level(BOX, 0.5) == 0.5


def test_intervals_of_a_sample_are_a_source_set():
    for design in (pb.hamming.dp_leakage, pb.hamming.mi_leakage, pb.hamming.min_distortion):
        made, wanted = design(BOX, 0.3), design((BOX.low, BOX.high), 0.3)
        assert made.value == wanted.value and made.mechanism.inputs == tuple(FOUR.index)
    with pytest.raises(ValueError, match="box_region"):
        pb.hamming.dp_leakage(pb.robust.ball_region(FOUR), 0.3)


def test_the_least_leakage_holds_on_the_whole_region_and_keeps_to_its_names():
    scores = pd.DataFrame(np.eye(4) + np.eye(4)[::-1], index=list("1379"), columns=list("abcd"))
    design = pb.worst_case.min_leakage(scores, BOX, 1)
    made = design.mechanism
    assert keeps_level(made, BOX, design.value) and made.outputs == tuple("abcd")
    table = pd.DataFrame(made.channel, made.inputs, made.outputs).loc[list("1379")]
    assert not table.to_numpy()[scores.to_numpy() < 1].any()
    assert design.value >= pb.worst_case.min_leakage(scores, FOUR / 1000, 1).value


def test_the_mean_of_numbers_has_a_region_of_numbers():
    design = pb.additive_noise.mean_mechanism(BOX, 0.6)
    assert design.nodes.tolist() == [1, 3, 7, 9]
    by_number = {name: row for name, row in zip([1, 3, 7, 9], design.mechanism.channel)}
    rows = np.array([by_number[int(name)] for name in FOUR.index])
    assert keeps_level(pb.Mechanism(rows, BOX.prior, FOUR.index), BOX, 0.6)
    assert design.value == pb.estimation.estimation_mechanism(BOX, 0.6, "mean").value
    true = FOUR.to_numpy() @ FOUR.index.astype(float) / 1000
    released = design.privatize(np.repeat(FOUR.index.astype(float), 10 * FOUR), rng=1)
    low, high = design.estimate(released).interval(0.999)
    assert low < true < high
    with pytest.raises(ValueError, match="needs its cells"):
        pb.additive_noise.quantile_mechanism(BOX, 0.6)

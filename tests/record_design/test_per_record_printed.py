"""The printed algorithms of Wu et al. and the arrays they stand on, against brute force and certified bounds."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import entr, softmax

from pmlbook.foundations.classic import binary_symmetric, exponential, laplace_threshold
from pmlbook.numerics.validation import InvalidChannel, InvalidPrior
from pmlbook.record_design import algorithms as pa
from pmlbook.record_design import conditionals as pc
from pmlbook.record_design import game as pd
from pmlbook.record_design import penalty as pp
from pmlbook.records import framework as fw
from pmlbook.records.certificate import per_record_leakage
from pmlbook.records.convexity import information_gradients
from pmlbook.records.queries import parity

CASES = Path(__file__).parents[3] / "shared" / "cases" / "per_record.json"
PARITY = np.array([[1.0, 0], [0, 1], [0, 1], [1, 0]])
COINS = np.full((2, 2), 0.25)


def slow_information(channel, prior, record):
    """I(X_i; Y) by a dictionary of joint probabilities."""
    both = {}
    for place, x in enumerate(np.ndindex(prior.shape)):
        for y, share in enumerate(channel[place]):
            both[x[record], y] = both.get((x[record], y), 0.0) + prior[x] * share
    value, outcome = {}, {}
    for (v, y), p in both.items():
        value[v] = value.get(v, 0) + p
        outcome[y] = outcome.get(y, 0) + p
    return sum(p * math.log(p / value[v] / outcome[y]) for (v, y), p in both.items() if p > 0)


@pytest.mark.parametrize("seed", range(20))
def test_record_information(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 4, size=rng.integers(1, 5)))
    prior = rng.dirichlet(np.full(math.prod(shape), rng.choice([0.1, 1]))).reshape(shape)
    prior[prior < 1e-3] = 0
    prior /= prior.sum()
    channel = rng.dirichlet(np.ones(rng.integers(1, 5)), size=math.prod(shape))
    expected = [slow_information(channel, prior, i) for i in range(len(shape))]
    found = [fw.record_information(channel, prior, i) for i in range(len(shape))]
    assert np.allclose(found, expected, rtol=0, atol=1e-12)
    assert np.allclose(
        fw.information_of_all(channel, prior[None])[:, 0], expected, rtol=0, atol=1e-12
    )
    stacked = channel.reshape(*shape, -1)
    assert np.isclose(fw.dalenius_level(stacked, [prior]), max(0, *expected), rtol=0, atol=1e-12)


def test_splitting_keeps_the_belief_and_the_argument():
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.ones(24)).reshape(2, 3, 4)
    before = prior.copy()
    for record in range(3):
        marginal, rows = fw.split_belief(prior, record)
        assert np.allclose(
            fw.join_belief(marginal, rows, prior.shape, record), prior, rtol=0, atol=1e-12
        )
    fw.record_information(rng.dirichlet(np.ones(2), 24), prior, 1)
    assert (prior == before).all()


def test_impossible_values_get_a_uniform_row():
    marginal, rows = fw.split_belief(np.array([[0.0, 0.0], [0.3, 0.7]]), 0)
    assert marginal.tolist() == [0, 1] and rows.tolist() == [[0.5, 0.5], [0.3, 0.7]]


@pytest.mark.parametrize(("shape", "steps"), [((2,), 3), ((2, 2), 4), ((3, 2), 3), ((1,), 5)])
def test_the_grid_is_complete(shape, steps):
    grid = fw.belief_grid(shape, steps)
    cells = math.prod(shape)
    assert len(grid) == math.comb(steps + cells - 1, cells - 1)
    assert len(np.unique(grid.reshape(len(grid), -1), axis=0)) == len(grid)
    assert (
        np.allclose(grid.reshape(len(grid), -1).sum(axis=1), 1, rtol=0, atol=1e-12)
        and grid.min() >= 0
    )


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([[0.5, 0.5], [0.5, -0.5]], r"prior\[3\] = -0\.5 is negative"),
        ([[0.5, 0.5], [0.5, 0.5]], r"prior sums to 2"),
        ([[0.5], [0.25, 0.25]], r"prior must hold real numbers"),
        ([[0.5, math.nan], [0.25, 0.25]], r"prior\[1\] = nan is not finite"),
        (1.0, r"prior must have 1 dimension"),
        ("half", r"prior must hold real numbers"),
        (None, r"prior"),
        ([], r"prior is empty"),
    ],
)
def test_bad_beliefs(prior, message):
    for leakage in (fw.record_information, pa.alternating_leakage):
        with pytest.raises(InvalidPrior, match=message):
            leakage(PARITY, prior, 0)


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (PARITY[:3], r"channel has 3 rows, but there are 4"),
        (2 * PARITY, r"row 0 of channel sums to 2"),
        (PARITY.reshape(1, 4, 2), r"channel has shape \(1, 4, 2\), but the datasets .*\(2, 2\)"),
        ([[1, 0], [1]], r"channel must hold real numbers"),
        ([1, 0], r"channel must have 2 dimension"),
    ],
)
def test_bad_releases(channel, message):
    for leakage in (fw.record_information, pa.alternating_leakage):
        with pytest.raises(InvalidChannel, match=message):
            leakage(channel, COINS, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fw.record_information(PARITY, COINS, 2), r"record = 2, but .* 0 to 1"),
        (lambda: fw.record_information(PARITY, COINS, -1), r"record = -1"),
        (lambda: fw.record_information(PARITY, COINS, 0.5), r"record must be a whole number"),
        (lambda: fw.dalenius_level(PARITY, []), r"priors is empty"),
        (lambda: pa.alternating_leakage(PARITY, COINS, -1), r"b = -1 must be finite"),
        (lambda: pa.alternating_leakage(PARITY, COINS, math.nan), r"b = nan"),
        (lambda: pa.alternating_leakage(PARITY, COINS, 1.5), r"prior has entropy 1\.386"),
    ],
)
def test_bad_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_corrected_slope_is_the_slope():
    rng = np.random.default_rng(1)
    for _ in range(20):
        channel, marginal = rng.dirichlet(np.ones(3), (2, 3)), rng.dirichlet([2, 2])
        table, towards = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(3), 2)
        h = 1e-5
        there, back = (
            fw.record_information(channel, marginal[:, None] * (table + d * (towards - table)), 0)
            for d in (h, -h)
        )
        slopes = information_gradients(channel, marginal, table).conditionals
        assert np.isclose(
            (slopes * (towards - table)).sum(), (there - back) / 2 / h, rtol=0, atol=1e-7
        )


@pytest.mark.parametrize("reading", ["power", "exponential"])
def test_entropy_projection_reaches_or_refuses(reading):
    rng = np.random.default_rng(2)
    for _ in range(100):
        v = rng.dirichlet(np.full(rng.integers(2, 7), rng.choice([0.2, 1, 10])))
        target = rng.uniform(0.01, math.log(len(v)) - 1e-6)
        try:
            assert np.isclose(
                entr(pc.entropy_projection(v, target, reading)).sum(), target, rtol=0, atol=1e-8
            )
        except pc.NoRoot:  # only where the largest entries are nearly tied
            assert np.diff(np.sort(v))[-1] < 1e-3
    with pytest.raises(pc.NoRoot, match="entropy 1 is out of reach"):
        pc.entropy_projection(np.full(3, 1 / 3), 1.0, reading)


def test_projection_by_brute_force():
    grid = fw.belief_grid((3,), 200)
    rng = np.random.default_rng(3)
    for _ in range(20):
        v = rng.normal(size=3)
        best = ((grid - v) ** 2).sum(axis=1).min()
        assert ((pc.project_to_simplex(v) - v) ** 2).sum() <= best + 1e-12


def test_sharpest_table_tries_all():
    rng = np.random.default_rng(4)
    for _ in range(20):
        channel, marginal = rng.dirichlet(np.ones(3), (3, 3)).round(1), rng.dirichlet(np.ones(3))
        channel[..., 2] = 1 - channel[..., :2].sum(axis=-1)
        channel = np.abs(channel) / np.abs(channel).sum(axis=-1, keepdims=True)
        best = max(
            fw.record_information(channel, marginal[:, None] * np.eye(3)[list(pick)], 0)
            for pick in np.ndindex(3, 3, 3)
        )
        table = pa.sharpest_table(channel, marginal)
        assert np.isclose(
            fw.record_information(channel, marginal[:, None] * table, 0), best, rtol=0, atol=1e-12
        )


def test_runs_repeat_and_leave_their_arguments():
    channel = np.random.default_rng(5).dirichlet(np.ones(3), 4)
    start = fw.belief_grid((2, 2), 3)[10] / 2 + COINS / 2
    kept = start.copy(), channel.copy()
    one, two = (pa.alternating_leakage(channel, start, 0.9) for _ in range(2))
    assert one.value == two.value and (one.prior == two.prior).all()
    assert (start == kept[0]).all() and (channel == kept[1]).all()
    assert np.isclose(one.entropy, entr(one.prior).sum(), rtol=0, atol=1e-12)
    again = [pa.restarts(channel, (2, 2), 0.9, 2, np.random.default_rng(6)) for _ in range(2)]
    assert [r.value for r in again[0]] == [r.value for r in again[1]]


def test_no_step_is_possible_at_the_largest_entropy():
    """Only the uniform belief is allowed; as printed every candidate is infeasible or no better."""
    flips = np.array([0.0, 0.1, 0.3, 0.9])
    run = pa.alternating_leakage(np.column_stack([1 - flips, flips]), COINS, math.log(4))
    assert run.value == -math.inf and (run.prior == COINS).all()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"interpretation": "nope"}, "interpretation = 'nope' is none of power, exponential"),
        ({"max_iter": 0}, "max_iter = 0 must be at least 1"),
    ],
)
def test_bad_choices_of_an_algorithm(choice, message):
    with pytest.raises(ValueError, match=message):
        pa.alternating_leakage(PARITY, COINS, 0, **choice)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"rng": None}, "rng must be a Generator"),
        ({"starts": 0}, "starts = 0"),
        ({"max_rounds": 0}, "max_rounds = 0"),
        ({"test": "nope"}, "test = 'nope' is none of promise, printed"),
    ],
)
def test_bad_choices_of_a_design(choice, message):
    with pytest.raises(ValueError, match=message):
        pd.alternating_design(parity(2), 0.25, 0.0, **{"rng": np.random.default_rng(3), **choice})


def test_a_projection_keeps_the_one_beside_a_huge_entry():
    assert pc.project_to_simplex(np.array([1e20, 1.0])).tolist() == [1, 0]


@pytest.mark.skipif(not CASES.exists(), reason="shared reference values are not here")
def test_climbs_stay_below_the_reference_values_for_parity():
    cases = json.loads(CASES.read_text())
    rng = np.random.default_rng(8)
    for case in [c for c in cases["parity_bsc"] if c["n"] == 3]:
        odd = np.indices((2,) * 3).sum(axis=0) % 2
        channel = binary_symmetric(case["p"])[odd]
        for run in pa.restarts(channel, (2,) * 3, case["b"], 1, rng, max_iter=3):
            if run.entropy >= case["b"] - 1e-9:
                assert run.value <= case["ub"] + 1e-9


@pytest.mark.skipif(not CASES.exists(), reason="shared reference values are not here")
def test_table_3_against_the_reference_values():
    for row in json.loads(CASES.read_text())["table3"]:
        for name, channel in (
            ("laplace", laplace_threshold(1)),
            ("exponential", exponential(np.eye(2), 1, 1)),
        ):
            found = per_record_leakage(parity(4), channel, row["b"])
            assert found.value - 1e-9 <= row[name] <= found.bound + 1e-9


def random_subproblem(rng, least):
    shape, m = tuple(rng.integers(2, 4, size=rng.integers(1, 4))), int(rng.integers(2, 5))
    prior, p0 = rng.dirichlet(np.ones(math.prod(shape)), 2).reshape(2, *shape)
    costs = p0[..., None] * rng.random((*shape, m))
    return pp.Subproblem(prior, costs, 0.3, least), rng.dirichlet(np.ones(m), shape)


def slow_objective(problem, channel, penalty):
    """J by a dictionary of joint probabilities, eqs. (23) and (27)."""
    rows = channel.reshape(-1, channel.shape[-1])
    leak = max(slow_information(rows, problem.prior, i) for i in range(problem.prior.ndim))
    cost = sum(problem.costs[place] * channel[place] for place in np.ndindex(channel.shape))
    goal, limited = (leak, cost) if problem.least == "leakage" else (cost, leak)
    return goal + penalty * math.log1p(math.exp(limited - problem.bound)) ** 2


@pytest.mark.parametrize("least", ["leakage", "distortion"])
@pytest.mark.parametrize("seed", range(6))
def test_the_penalised_objective_and_its_gradient(least, seed):
    rng = np.random.default_rng(seed)
    problem, channel = random_subproblem(rng, least)
    assert math.isclose(
        problem.value(channel, 1.7), slow_objective(problem, channel, 1.7), abs_tol=1e-10
    )
    towards = rng.dirichlet(np.ones(channel.shape[-1]), channel.shape[:-1]) - channel
    worst = int(np.argmax(problem.leakages(channel)))
    slope = (problem.gradient(channel, 1.7, worst) * towards).sum()
    h = 1e-6
    there, back = (slow_objective(problem, channel + d * towards, 1.7) for d in (h, -h))
    assert math.isclose(slope, (there - back) / 2 / h, abs_tol=1e-6)


@pytest.mark.parametrize("least", ["leakage", "distortion"])
def test_the_printed_test_for_a_step_refuses_all(least):
    rng = np.random.default_rng(9)
    for _ in range(15):
        problem, channel = random_subproblem(rng, least)
        kept = channel.copy()
        run = pp.descend(problem, channel, rng.choice([0.1, 1, 10]), test="printed")
        assert run.refused and np.array_equal(run.channel, kept) and len(run.values) == 1


@pytest.mark.parametrize("least", ["leakage", "distortion"])
def test_descents_about_one_record_end_near_the_optimum(least):
    rng, axis = np.random.default_rng(10), np.linspace(0, 1, 41)
    for _ in range(2):
        costs = rng.dirichlet([2, 2])[:, None] * (1 - np.eye(2))
        problem = pp.Subproblem(rng.dirichlet([2, 2]), costs, 0.2, least)
        best = min(
            problem.value(np.array([[1 - s, s], [1 - t, t]]), 1.0) for s in axis for t in axis
        )
        start = np.array([[0.6, 0.4], [0.4, 0.6]])
        run = pp.descend(problem, start, 1.0, tol=1e-9, max_iter=800)
        assert (np.diff(run.values) <= 0).all()
        assert abs(run.values[-1] - best) <= 3e-3


def test_a_descent_jams_where_records_are_equally_bad():
    problem, channel = random_subproblem(np.random.default_rng(10), "leakage")
    run = pp.descend(problem, channel, 1.0)
    best = minimize(
        lambda z: problem.value(softmax(z.reshape(channel.shape), axis=-1), 1.0),
        np.log(channel).ravel(),
        method="Powell",
    )
    assert run.refused and best.fun < run.values[-1] - 0.05


def test_the_designs_cycle_and_report_too_little():
    query = parity(2)
    run = pd.alternating_design(query, 0.25, 0.0, np.random.default_rng(3), tol=0, max_rounds=3)
    assert not run.finished and len(run.channels) == 4
    truth = math.log(2) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75)
    assert max(run.trace) < 0.01 < truth
    for channel in run.channels[1:]:
        assert per_record_leakage(query, channel.reshape(4, 2), 0.0).value > 0.69
    assert np.isclose(
        max(fw.record_information(run.channel, run.prior, i) for i in range(2)),
        run.value,
        rtol=0,
        atol=1e-12,
    )
    again = pd.alternating_design(query, 0.25, 0.0, np.random.default_rng(3), tol=0, max_rounds=3)
    assert again.trace == run.trace and (again.channel == run.channel).all()


def test_the_dual_reports_a_distortion_that_is_too_small():
    run = pd.alternating_distortion(parity(2), 0.1308, 0.0, np.random.default_rng(4), max_rounds=2)
    assert run.value < 0.15  # 0.25 is needed
    assert np.allclose(run.channel.sum(axis=-1), 1, rtol=0, atol=1e-12)


def test_blurred_has_the_distortion_asked_for():
    rng = np.random.default_rng(5)
    for _ in range(20):
        costs = rng.random((3, 2, 4))
        least, most = costs.min(axis=-1).sum(), costs.mean(axis=-1).sum()
        for share in (0, 0.3, 1):
            q = pd.blurred(costs, D := least + share * (most - least))
            assert np.isclose((costs * q).sum(), D, rtol=0, atol=1e-12) and np.allclose(
                q.sum(axis=-1), 1, rtol=0, atol=1e-12
            )
        assert np.allclose(pd.blurred(costs, most + 1), 0.25, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((-0.1, 0.0), {}, r"D = -0\.1 must be finite"),
        ((math.nan, 0.0), {}, r"D = nan"),
        ((0.1, -1.0), {}, r"b = -1 must be finite"),
        ((0.1, 2.0), {}, r"prior has entropy 1\.386"),
        ((0.1, 0.0), {"p0": [0.5, 0.5]}, r"p0 has shape"),
        ((0.1, 0.0), {"p0": [[0.5, 0.5], [0.5, 0.5]]}, r"p0 sums to 2"),
        ((0.1, 0.0), {"distortion": np.eye(3)}, r"distortion has shape \(3, 3\)"),
        ((0.1, 0.0), {"distortion": [[1, 2], [2, 1]]}, r"D = 0\.1 is below the least .* 1"),
    ],
)
def test_bad_designs(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        pd.alternating_design(parity(2), *arguments, np.random.default_rng(0), **options)

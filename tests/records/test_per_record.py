"""Per-record leakage against reference values, closed forms, dense brute force, and its own promises."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import entr
from scipy.stats import laplace

from pmlbook.foundations.classic import binary_symmetric, exponential, geometric
from pmlbook.foundations.probability import random_channel
from pmlbook.numerics.validation import InvalidChannel
from pmlbook.records.certain_adversaries import flat_part
from pmlbook.records.certificate import leakage_curve, per_record_leakage
from pmlbook.records.classes import record_problem
from pmlbook.records.parity_query import parity_leakage
from pmlbook.records.posterior_bound import bound_cells, root_vertices
from pmlbook.records.queries import (
    MAX_DATASETS,
    Query,
    SumQuery,
    counting,
    modular_sum,
    pairwise_products,
    parity,
    threshold,
)

FILE = Path(__file__).parents[3] / "shared" / "cases" / "per_record.json"
CASES = json.loads(FILE.read_text()) if FILE.exists() else {"parity_bsc": [], "general": []}


def rounded_laplace(n, scale):
    """Laplace noise on 0, ..., n - 1, rounded to whole numbers and clipped."""
    edges = np.concatenate([[-np.inf], np.arange(n - 1) + 0.5, [np.inf]])
    return np.diff(laplace(scale=scale).cdf(edges - np.arange(n)[:, None]), axis=1)


def test_the_reference_values_are_there():
    if not CASES["general"]:
        pytest.skip(f"no reference values at {FILE}")


@pytest.mark.parametrize(
    "case", CASES["parity_bsc"], ids=lambda c: f"{c['n']}-{c['channel']}-{c['b']:.2f}"
)
def test_reference_parity(case):
    n, p, b, best = case["n"], case["p"], case["b"], case["L"]
    assert parity_leakage(n, p, b) == pytest.approx(best, abs=1e-9)
    found = per_record_leakage(parity(n), binary_symmetric(p), b, tol=1e-9)
    assert found.value == pytest.approx(best, abs=2e-9)
    assert best - 1e-12 <= found.bound <= best + 4e-9
    assert found.prior.entropy >= b - 1e-11


GENERAL = {
    "mod3": lambda n: modular_sum(n, 3),
    "count": counting,
    "quadratic": pairwise_products,
}


def general_channel(case):
    values = GENERAL[case["query"]](case["n"]).n_values
    distance = -np.abs(np.subtract.outer(np.arange(values), np.arange(values)))
    return {
        "gbsc p=0.2": lambda: binary_symmetric(0.2, 3),
        "geom eps1": lambda: geometric(values, 1.0),
        "geom eps1 sens3": lambda: geometric(values, 1 / 3),
        "laplace-rounded eps1": lambda: rounded_laplace(values, 1.0),
        "exp eps1 sens3": lambda: exponential(distance, 1.0, 3),
    }[case["channel"]]()


@pytest.mark.parametrize(
    "case", CASES["general"], ids=lambda c: f"{c['query']}-{c['n']}-{c['channel']}"
)
def test_reference_brackets_meet(case):
    query = GENERAL[case["query"]](case["n"])
    found = per_record_leakage(query, general_channel(case), case["b"], tol=1e-6)
    assert found.gap <= 1e-6
    assert found.bound >= case["lb"] - 1e-9 and found.value <= case["ub"] + 1e-9
    assert found.prior.entropy >= case["b"] - 1e-11


def dense_attack(rows, b, rng):
    """Largest I(X_i; Y) that SLSQP finds on priors over all datasets; rows has shape (A, K, M)."""
    a, k, _ = rows.shape

    def both(flat):
        return np.einsum("ak,akm->am", np.maximum(flat, 0).reshape(a, k), rows)

    def minus_information(flat):
        seen = both(flat)
        return entr(seen).sum() - entr(seen.sum(0)).sum() - entr(seen.sum(1)).sum()

    def gradient(flat):
        seen = np.maximum(both(flat), 1e-300)
        score = np.log(seen / seen.sum(0) / seen.sum(1)[:, None])
        return -np.einsum("am,akm->ak", score, rows).ravel()

    constraints = [
        {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones_like(p)},
        {
            "type": "ineq",
            "fun": lambda p: entr(np.maximum(p, 1e-12)).sum() - b,
            "jac": lambda p: -np.log(np.maximum(p, 1e-12)) - 1,
        },
    ]
    start = 0.5 / (a * k) + 0.5 * rng.dirichlet(np.full(a * k, 0.3))
    found = minimize(
        minus_information,
        start,
        jac=gradient,
        bounds=[(0, 1)] * (a * k),
        constraints=constraints,
        options={"maxiter": 60},
    )
    prior = np.maximum(found.x, 0) / np.maximum(found.x, 0).sum()
    return -minus_information(prior) if entr(prior).sum() >= b else 0.0


def rows_of(channel, shape, record):
    table = np.moveaxis(channel.reshape(*shape, -1), record, 0)
    table = table.reshape(shape[record], -1, channel.shape[1])
    return table / table.sum(axis=2, keepdims=True)


SHAPES = [(2, 2), (2, 2, 2), (3, 2), (2, 3), (2, 2)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # SLSQP's own
@pytest.mark.parametrize("seed", range(12))
def test_random_channels(seed):
    """Five channels for each seed: value <= bound, reached by an allowed prior, not beaten by brute force."""
    rng = np.random.default_rng(seed)
    for shape in SHAPES:
        outputs = 2 if 3 in shape else int(rng.integers(2, 4))
        query = Query(lambda x: int(sum(x)), [range(k) for k in shape])
        channel = random_channel(math.prod(shape), outputs, rng)
        b = rng.uniform(0, 1) * math.log(math.prod(shape))
        found = per_record_leakage(query, channel, b, tol=1e-3)
        assert found.value <= found.bound <= found.value + 1e-3
        assert found.prior.entropy >= b - 1e-12
        rows = rows_of(channel, shape, int(rng.integers(len(shape))))
        assert dense_attack(rows, b, rng) <= found.bound + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_the_value_is_the_leakage_of_the_prior(seed):
    """The readable prior, spread over datasets by hand, leaks the value and has the entropy."""
    rng = np.random.default_rng(seed)
    query = SumQuery([(0, 1), (0, 1), (0, 2)], lambda total: total % 3)
    channel = random_channel(3, 3, rng)
    found = per_record_leakage(query, channel, 1.0, tol=1e-4)
    rows = rows_of(channel[query.table.ravel()], (2, 2, 2), found.record)
    problem = record_problem(query, channel, found.record)
    prior = np.zeros((2, 4))
    for a in range(2):
        for q, size, row in zip(found.prior.classes[a], found.prior.log_counts[a], problem.rows[a]):
            members = (rows[a] == row).all(axis=1)
            assert members.sum() == pytest.approx(math.exp(size))
            prior[a, members] = found.prior.distribution[a] * q / members.sum()
    both = np.einsum("ak,akm->am", prior, rows)
    seen = entr(both.sum(0)).sum() + entr(both.sum(1)).sum() - entr(both).sum()
    assert seen == pytest.approx(found.value, abs=1e-12)
    assert entr(prior).sum() == pytest.approx(found.prior.entropy, abs=1e-12)
    assert found.prior.entropy >= 1 - 1e-12


def test_every_record_is_attacked():
    """The record that is published, wherever it stands."""
    for i in range(3):
        query = Query(lambda x, i=i: x[i], [(0, 1)] * 3)
        found = per_record_leakage(query, np.eye(2), 2.0)
        assert found.record == i and found.value == pytest.approx(math.log(2))


def test_curve_falls_and_ends_at_the_uniform_prior():
    query, channel = counting(4), geometric(5, 1.0)
    top = 4 * math.log(2)
    curve = leakage_curve(query, channel, [top, 0.0, 1.0, 2.0, 2.7], tol=1e-5)
    assert (np.diff(curve.levels) > 0).all()
    assert (np.diff(curve.values) <= 0).all() and (np.diff(curve.bounds) <= 0).all()
    assert (curve.bounds >= curve.values).all()
    problem = record_problem(query, channel, 0)
    assert curve.values[-1] == pytest.approx(float(problem.leakage(problem.uniform)), abs=1e-9)


def test_interrupted_brackets_are_valid():
    query, channel, calls = counting(12), geometric(13, 1.0), []
    rounded_hints = per_record_leakage(
        query, channel, 8.2, max_time=0, progress=lambda v, u, s: calls.append((v, u))
    )
    longer = per_record_leakage(query, channel, 8.2, tol=2e-2)
    assert rounded_hints.method == "interrupted" and longer.method == "data processing" and calls
    assert rounded_hints.value <= longer.bound and longer.value <= rounded_hints.bound
    assert all(value <= bound for value, bound in calls)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_no_bound_exceeds_what_a_record_can_be_even_without_time(share):
    for query in (counting(6), SumQuery([range(3)] * 3)):
        b = share * sum(math.log(size) for size in query.shape)
        found = per_record_leakage(query, np.eye(7), b, max_time=0)
        assert found.bound <= math.log(query.shape[0]) + 1e-9


def test_large_threshold():
    n = 10_000
    top = n * math.log(2)
    found = per_record_leakage(threshold(n, n // 2), binary_symmetric(0.2), top - 0.3, tol=1e-5)
    assert found.gap <= 1e-5 and found.prior.entropy >= top - 0.3 - 1e-9


def test_flat_part_of_parity_is_the_capacity():
    problem = record_problem(parity(6), binary_symmetric(0.3), 0)
    classes, value, bound = flat_part(problem)
    capacity = math.log(2) - entr([0.3, 0.7]).sum()
    assert value == pytest.approx(capacity, abs=1e-14) and value <= bound <= value + 1e-12
    assert problem.entropy(classes) == pytest.approx(6 * math.log(2) - math.log(2))


def test_the_first_cell_bounds_by_the_record():
    problem = record_problem(counting(3), geometric(4, 1.0), 0)
    assert bound_cells(problem, 0.5, root_vertices(problem)).bound[0] == pytest.approx(math.log(2))


FLIP = [[0.75, 0.25], [0.25, 0.75]]
BAD = {
    "negative-b": (lambda: per_record_leakage(parity(3), FLIP, -0.1), r"b = -0\.1 must be"),
    "nan-b": (lambda: per_record_leakage(parity(3), FLIP, math.nan), r"b = nan must be"),
    "inf-b": (lambda: per_record_leakage(parity(3), FLIP, math.inf), r"b = inf must be"),
    "word-b": (lambda: per_record_leakage(parity(3), FLIP, "low"), r"b must be a number"),
    "large-b": (
        lambda: per_record_leakage(parity(3), FLIP, 2.5),
        r"b = 2\.5 exceeds the entropy 2\.07944 of the uniform prior",
    ),
    "nan-tol": (
        lambda: per_record_leakage(parity(3), FLIP, 1.0, tol=math.nan),
        r"tol = nan must be",
    ),
    "time": (
        lambda: per_record_leakage(parity(3), FLIP, 1.0, max_time=-1),
        r"max_time = -1.* must be",
    ),
    "too-many": (
        lambda: Query(lambda x: 0, [(0, 1)] * 40).table,
        rf"40 records make .* too many to list \(limit {MAX_DATASETS}\)",
    ),
    "too-many-leakage": (
        lambda: per_record_leakage(Query(lambda x: 0, [(0, 1)] * 40), FLIP, 1.0),
        r"too many to list",
    ),
    "value": (lambda: Query(lambda x: x[0] - 1, [(0, 1)]).table, r"query is -1 at \(0,\)"),
    "half": (lambda: Query(lambda x: x[0] / 2, [(0, 1)]).table, r"query is 0\.0 at \(0,\)"),
    "sum-value": (
        lambda: per_record_leakage(SumQuery([(0, 1)], lambda t: t - 1), FLIP, 0.1),
        r"the query is -1 where the sum is 0",
    ),
    "no-record": (lambda: Query(sum, []), r"alphabets is empty"),
    "no-symbol": (lambda: Query(sum, [(0, 1), ()]), r"alphabets\[1\] = \(\) is empty"),
    "twice": (lambda: Query(sum, [(0, 0)]), r"alphabets\[0\] = \(0, 0\) .* repeats"),
    "n": (lambda: counting(0), r"n = 0 must be at least 1"),
    "m": (lambda: modular_sum(3, 1.5), r"m must be a whole number, got 1\.5"),
    "record": (lambda: record_problem(parity(3), FLIP, 3), r"record = 3 must be less than 3"),
    "contribution": (lambda: SumQuery([(0, 0.5)]), r"contributions must be whole numbers"),
}


@pytest.mark.parametrize("call, message", BAD.values(), ids=BAD.keys())
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


BAD_CHANNELS = {
    "sum": ([[0.5, 0.4], [0.5, 0.5]], r"row 0 of channel sums to 0\.9"),
    "negative": ([[1.5, -0.5], [0.5, 0.5]], r"channel\[0, 1\] = -0\.5 is negative"),
    "nan": ([[math.nan, 1], [0.5, 0.5]], r"channel\[0, 0\] = nan is not finite"),
    "rows": (np.eye(5), r"channel has 5 rows, but the query has 2 values and 8 datasets"),
}


@pytest.mark.parametrize("channel, message", BAD_CHANNELS.values(), ids=BAD_CHANNELS.keys())
def test_bad_channel(channel, message):
    with pytest.raises(InvalidChannel, match=message):
        per_record_leakage(parity(3), channel, 1.0)

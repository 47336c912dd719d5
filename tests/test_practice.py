"""Uncertain priors and levels in words, against programmes, brute force and fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from oracles import UTILITIES
from scipy.optimize import linprog
from scipy.stats import beta

import pmlbook as pb
from pmlbook.audit.choosing_epsilon import (
    belief_range,
    exclusion_level,
    largest_odds,
    level_for,
    may_rule_out,
    meaning,
)
from pmlbook.audit.strata import boxes, check_strata, strata_levels
from pmlbook.robust.estimated_prior import (
    PriorRegion,
    ball_region,
    box_region,
    prior_from_counts,
    worst_leakage,
    worst_prior,
)
from pmlbook.robust.robust_design import keeps_level, robust_columns, robust_mechanism

ppl = pytest.importorskip("ppl")

FLIP = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
REGION = PriorRegion([0.5, 0.5], [0.4, 0.4], [0.6, 0.6])


def regions(rng, trials, most=5):
    """Random regions of both kinds, with the frequencies they are about."""
    for trial in range(trials):
        n, size = int(rng.integers(2, most + 1)), int(rng.integers(20, 1000))
        sample = rng.multinomial(size, rng.dirichlet(np.ones(n)))
        yield (box_region, ball_region)[trial % 2](sample, zeros="add"), sample / size


def min_mean(column, region, frequencies):
    """Least mean of a column over the region by its definition, by scipy."""
    n = len(column)
    if not region.free:
        limits = list(zip(region.low, region.high))
        return linprog(column, A_eq=[np.ones(n)], b_eq=[1], bounds=limits).fun
    signs = np.array(list(product([-1, 1], repeat=n)))  # the L1 ball, facet by facet
    limits = signs @ frequencies + 2 * region.free
    return linprog(column, signs, limits, [np.ones(n)], [1]).fun


def test_worst_prior_is_the_programmes():
    rng = np.random.default_rng(1)
    for region, frequencies in regions(rng, 60):
        column = rng.random(len(frequencies)) * rng.integers(0, 2, size=len(frequencies))
        worst = worst_prior(column, region)
        assert region.contains(worst)
        assert np.isclose(column @ worst, min_mean(column, region, frequencies), rtol=0, atol=1e-9)


def test_no_prior_of_the_region_leaks_more():
    rng = np.random.default_rng(2)
    tried = 0
    for region, frequencies in regions(rng, 40):
        channel = rng.dirichlet(np.ones(4), size=len(frequencies))
        bound = worst_leakage(channel, region)
        for _ in range(60):
            q = rng.dirichlet(100 * frequencies + 0.5)
            if region.contains(q):
                tried += 1
                leaks = np.log(channel.max(axis=0) / (q @ channel))
                assert (leaks <= bound + 1e-12).all()
    assert tried > 500


def test_regions_cover():
    rng = np.random.default_rng(3)
    for truth in ([0.02, 0.08, 0.9], [0.25] * 4):
        for make in (box_region, ball_region):
            for confidence in (0.8, 0.95):
                samples = rng.multinomial(60, truth, size=300)
                hits = [make(s, confidence, "add").contains(truth) for s in samples]
                assert np.mean(hits) >= confidence - 0.02


def exact_optimum(region, vertices, floor, utility):
    """Best utility over all vertices of {0 <= v <= 1, q . v >= floor for each vertex q}, listed by ppl."""
    n = len(region.prior)
    x = [ppl.Variable(i) for i in range(n)]
    system = ppl.Constraint_System()
    for v in x:
        system.insert(v >= 0)
        system.insert(v <= 1)
    for q in vertices:
        entries = [Fraction(e).limit_denominator(10**9) for e in (*q, floor)]
        scale = np.lcm.reduce([e.denominator for e in entries], dtype=object)
        *weights, least = [int(e * scale) for e in entries]
        system.insert(sum(w * v for w, v in zip(weights, x)) >= least)
    points = [g for g in ppl.C_Polyhedron(system).minimized_generators() if g.is_point()]
    columns = np.array([[float(c) / float(g.divisor()) for c in g.coefficients()] for g in points])
    values = utility(columns.T, region.prior)
    best = linprog(-values, A_eq=columns.T, b_eq=np.ones(n))
    assert best.status == 0
    return -best.fun


@pytest.mark.parametrize("name", ["mutual_information", "total_variation", "chi_square"])
def test_three_values_are_enough(name):
    rng = np.random.default_rng(4)
    for region, _ in regions(rng, 8, most=4):
        n = len(region.prior)
        goals = rng.normal(size=(400, n))  # vertices of the region, found by random goals
        vertices = np.unique([worst_prior(goal, region) for goal in goals], axis=0)
        level = float(rng.uniform(0.1, 1.5))
        found = robust_mechanism(region, level, name)
        listed = exact_optimum(region, vertices, np.exp(-level), UTILITIES[name])
        assert np.isclose(found.value, listed, rtol=0, atol=1e-6) and found.gap < 1e-8
        assert keeps_level(found.mechanism, region, level)


def test_one_prior_and_all_priors():
    rng = np.random.default_rng(5)
    for n in (2, 3, 5):
        p = rng.dirichlet(np.full(n, 5))
        alone = robust_mechanism(PriorRegion(p, p, p), 0.5)
        assert np.isclose(alone.value, pb.optimal_mechanism(p, 0.5).value, rtol=0, atol=1e-8)
        everything = robust_mechanism(PriorRegion(p, np.zeros(n), np.ones(n)), 0.5)
        assert pb.local_dp(everything.mechanism.channel) <= 0.5 + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.3, 20.0])
def test_extreme_levels_are_kept(epsilon):
    for region in (REGION, box_region([5, 0, 90], zeros="add"), ball_region([30, 40, 50])):
        design = robust_mechanism(region, epsilon)
        assert keeps_level(design.mechanism, region, epsilon) and design.gap < 1e-6


def test_certificate_says_no():
    assert keeps_level(FLIP, REGION, 0.52) and not keeps_level(FLIP, REGION, 0.51)
    level = float(worst_leakage(FLIP.channel, REGION).max())
    assert keeps_level(FLIP, REGION, level + 1e-12)
    assert not keeps_level(FLIP, REGION, level - 1e-12)


def test_zero_cells_keep_names():
    counts = pd.Series({"a": 3, "b": 0, "c": 1})
    assert prior_from_counts(counts, "drop").to_dict() == {"a": 0.75, "c": 0.25}
    assert prior_from_counts(counts, "add")["b"] == 1 / 7
    assert box_region(counts, zeros="add").inputs == ("a", "b", "c")


def test_beliefs():
    assert belief_range(0.5, 0) == (0.5, 0.5) and belief_range(0.2, 1e9) == (0, 1)
    assert belief_range(0.9, 1)[1] == 1 and exclusion_level(1) == np.inf
    assert (
        np.isclose(largest_odds(1 / 3, np.log(2)), 1, rtol=0, atol=1e-12)
        and level_for(0.5, 0.5) == 0
    )
    rng = np.random.default_rng(8)
    for _ in range(200):
        n = int(rng.integers(2, 6))
        p, channel = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(3), size=n)
        event, level = rng.integers(0, 2, size=n), pb.epsilon_pml(channel, p)
        after = (event * p) @ channel / (p @ channel)
        low, high = belief_range(min(1.0, float(event @ p)), level)
        assert (low - 1e-12 <= after).all() and (after <= high + 1e-12).all()


def test_table_and_sets():
    prior = pd.Series({"common": 0.6, "rare": 0.1, "second": 0.3})
    table = meaning(prior, 0.4)
    assert table["may be ruled out"].tolist() == [False, True, True]
    assert not table["may be proved"].any()
    assert may_rule_out(prior, 0.4) == [("rare",), ("second",)]
    assert may_rule_out(prior, 0.52) == [("rare", "second")] and may_rule_out(prior, 0.1) == []


BAD = {
    "zero cell": (lambda: prior_from_counts(pd.Series({"a": 1, "b": 0})), r"counts\['b'\] = 0"),
    "negative": (lambda: prior_from_counts([1, -2]), r"counts\[1\] = -2 is no whole number"),
    "half": (lambda: box_region([1.5, 2]), r"counts\[0\] = 1\.5 is no whole number"),
    "nobody": (lambda: ball_region([0, 0]), "no answer was counted"),
    "text": (lambda: box_region(["a"]), "counts must hold real numbers"),
    "choice": (lambda: prior_from_counts([1], "ignore"), "zeros = 'ignore' is none of"),
    "dropped": (lambda: box_region([1, 0], zeros="drop"), "zeros 'drop'"),
    "confidence": (lambda: ball_region([1, 2], 1), "confidence = 1 must lie strictly"),
    "crossed": (lambda: PriorRegion([1.0], [0.9], [0.8]), r"low\[0\] = 0\.9"),
    "no prior": (lambda: PriorRegion([0.5, 0.5], [0, 0], [0.4, 0.4]), "no prior lies between"),
    "free": (lambda: PriorRegion([1.0], [0], [1], 2), r"free = 2\.0 must lie"),
    "limits": (lambda: PriorRegion([1.0], [0, 0], [1, 1]), "must have 1 entries"),
    "column": (lambda: worst_prior([1.0], REGION), "column has 1 entries, not 2"),
    "rows": (lambda: worst_leakage([[1.0]], REGION), "channel has 1 rows"),
    "level": (lambda: robust_mechanism(REGION, -1), "epsilon = -1 must be"),
    "nan level": (lambda: keeps_level(FLIP, REGION, np.nan), "epsilon = nan must be"),
    "many": (lambda: robust_columns(ball_region([1] * 11), 1), "11 secrets, too many"),
    "belief": (lambda: belief_range(1.2, 1), r"probability = 1\.2 must be a number"),
    "nan": (lambda: exclusion_level(np.nan), "probability = nan must be a number"),
    "odds": (lambda: largest_odds(-1, 1), "odds = -1 must be"),
    "order": (lambda: level_for(0.5, 0.4), r"before = 0\.5 must be positive and at most"),
    "secrets": (lambda: may_rule_out([1 / 13] * 13, 1), "13 symbols, too many"),
}


@pytest.mark.parametrize("call, message", BAD.values(), ids=BAD)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({("a",): [1, 2], ("b",): [1, 2, 3]}, r"counts\[\('b',\)\] has 3 entries, not 2"),
        ({("a",): [1, 2, 3]}, r"counts\[\('a',\)\] has 3 entries, not 2"),
        ({("a",): [1, 2], ("b",): [1, -1]}, r"counts\[\('b',\)\]\[1\] = -1 is no whole number"),
        ({("a",): [1, 2], ("b",): [0, 0]}, r"counts\[\('b',\)\] are all 0"),
        ({("a",): [1, 2], ("b",): []}, r"counts\[\('b',\)\] is empty"),
    ],
)
def test_a_stratum_that_does_not_fit_is_named(rows, message):
    flip = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    for call in (lambda: strata_levels(flip, rows), lambda: check_strata(flip, rows, 1.0)):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("confidence", [1 - 2.0**-53, 1 - 1e-12])
def test_many_strata_share_what_little_confidence_leaves(confidence):
    """As a confidence, what each stratum may miss would be rounded by a tenth, or to nothing."""
    rows = {(k,): [50, 50] for k in range(1000)}
    low = boxes(rows, confidence)[(0,)].low[0]
    exact = beta.ppf((1 - confidence) / 2000, 50, 51)
    assert exact * (1 - 1e-8) < low < exact * (1 + 1e-12)

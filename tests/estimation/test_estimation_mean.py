"""One number: a mechanism of few outcomes for a mean, within a proved distance of the best, on a busy machine too."""

import time
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from processors import told_everywhere
from statsmodels.datasets import anes96

import pmlbook as pb
from pmlbook.estimation.one_number import Line, evened, one_number, two_outcomes
from pmlbook.estimation.optimal_design import centred
from pmlbook.extremal.regions import lift_limit
from pmlbook.foundations.probability import exact_prior
from pmlbook.numerics import progress
from pmlbook.numerics.progress import Clock

AGES = anes96.load_pandas().data["age"].value_counts(normalize=True).sort_index()


def test_the_mean_age_of_a_survey_is_estimated_at_the_bound():
    rounds = []
    design = pb.estimation_mechanism(AGES, 0.3, "mean", progress=lambda *now: rounds.append(now))
    value, bound, _ = rounds[2]
    assert value <= 1.05 * bound and len(rounds) <= 12  # near the best at once, and soon at the end
    assert design.mechanism.certify(0.3) and len(design.mechanism.outputs) <= 5
    assert design.bound <= design.value <= design.bound * (1 + 2e-6)
    assert design.value == pytest.approx(6045.15, abs=0.01)
    assert design.value == pb.estimation.estimation_variance(design.mechanism, "mean")
    same = pb.estimation_mechanism(AGES.to_numpy(), 0.3, AGES.index.to_numpy())
    assert (same.value, same.bound) == (design.value, design.bound)


def test_a_clock_that_runs_fast_changes_nothing(monkeypatch):
    quiet = pb.estimation_mechanism(AGES, 0.3, "mean", tol=1e-3)
    real = progress.perf_counter
    monkeypatch.setattr(progress, "perf_counter", lambda: 50 * real())
    busy = pb.estimation_mechanism(AGES, 0.3, "mean", tol=1e-3)
    assert (busy.mechanism.weights == quiet.mechanism.weights).all()
    assert busy.bound == quiet.bound


def test_without_time_it_is_the_best_line():
    """Two outcomes whose probabilities are straight lines in the age, of the best share."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.estimation_mechanism(AGES, 0.3, "mean", max_time=0)
    assert len(design.mechanism.outputs) == 2 and design.mechanism.certify(0.3)
    assert design.value == pytest.approx(10091.79, abs=0.1)
    ages, p = AGES.index.to_numpy(dtype=float), AGES.to_numpy()
    best = np.inf
    for share in np.linspace(0.05, 0.95, 181):
        slope = 1.0
        for lift in (np.exp(0.3) - 1, -1.0):  # the largest and the smallest lift, less one
            for sign, own in ((1, share), (-1, 1 - share)):
                move = sign * (ages - p @ ages)
                ends = own * lift / move[move * lift > 0]
                slope = min(slope, ends.min())
        best = min(best, share * (1 - share) / slope**2)
    assert design.value <= best * (1 + 1e-9) and best <= design.value * 1.001


def test_the_variance_of_a_line_that_storage_rounds():
    """No scores have exactly the ages as means, for entries are multiples of 2^-53."""
    ages, p = AGES.index.to_numpy(dtype=float), AGES.to_numpy()
    line = 0.2 + 0.6 * (ages - ages.min()) / np.ptp(ages)
    mechanism = pb.Mechanism(np.column_stack([line, 1 - line]), AGES)
    often, slope = p @ line, 0.6 / np.ptp(ages)
    told = pb.estimation.estimation_variance(mechanism, ages)
    assert told == pytest.approx(often * (1 - often) / slope**2, rel=1e-12)
    assert pb.estimation.estimation_variance(mechanism, "mean") == told
    assert pb.estimation.estimation_variance(mechanism) == np.inf
    assert pb.estimation.estimation_variance(mechanism, ages**2) == np.inf
    bent = np.column_stack([line, 1 - line])
    bent[3] = [line[3] + 1e-9, 1 - line[3] - 1e-9]  # more than rounding
    assert pb.estimation.estimation_variance(pb.Mechanism(bent, AGES), ages) == np.inf


def test_the_mean_comes_back():
    """Unbiased, with the stated error, and no other functional is determined."""
    design = pb.estimation_mechanism(AGES, 1.0, "mean", tol=1e-3)
    rng, ages = np.random.default_rng(0), AGES.index.to_numpy(dtype=float)
    people = rng.choice(ages, 4000, p=AGES.to_numpy())
    found = []
    for _ in range(60):
        told = design.mechanism.estimate(design.mechanism.privatize(people, rng=rng), partly=True)
        found.append(told.of(float).value)
    error = np.sqrt(design.value / len(people))
    assert abs(np.mean(found) - people.mean()) < 4 * error / np.sqrt(60)
    assert told.of(float).standard_error == pytest.approx(error, rel=0.1)
    low, high = told.of(float).interval()
    assert low < told.of(float).value < high
    assert np.isnan(told.frequencies).all()
    with pytest.raises(ValueError, match="do not determine this functional"):
        told.of(lambda age: age > 40)
    with pytest.raises(ValueError, match="linearly dependent"):
        design.mechanism.estimate(design.mechanism.privatize(people, rng=rng))


@pytest.mark.parametrize("seed", range(16))
def test_values_and_bounds_agree_with_the_search_over_vertices(seed):
    rng = np.random.default_rng(seed)
    n, level = int(rng.integers(2, 8)), float(rng.choice([1e-3, 0.1, 0.5, 1.5, 3.0]))
    prior = np.maximum(rng.dirichlet(np.full(n, 0.7)), 10.0 ** -rng.integers(2, 7))
    prior, values = prior / prior.sum(), rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
    shares = exact_prior(prior)
    goal = [row[0] for row in centred(values[:, None], shares)]
    outcomes, scores, bound = one_number(shares, lift_limit(shares, level)[1], goal, 1e-6, Clock())
    value = float(prior @ outcomes.T @ scores**2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        best = pb.estimation_mechanism(prior, level, values)
    assert bound <= best.value and best.bound <= value * (1 + 1e-9)
    assert value <= best.value * (1 + 1e-4) and float(bound) >= best.bound * (1 - 1e-3)
    channel = evened(outcomes, scores, np.array(goal, dtype=float), prior, 1e-9)
    made = pb.Mechanism(channel, prior)
    assert made.epsilon <= level + 1e-9 and channel.min() >= 0
    assert pb.estimation.estimation_variance(made, values) <= value * (1 + 1e-7)


@pytest.mark.parametrize("n, level", [(13, 1e-6), (20, 1e-4), (25, 0.05), (30, 2.0), (40, 6.0)])
def test_far_ends(n, level):
    rng = np.random.default_rng(n)
    prior = np.maximum(rng.dirichlet(np.full(n, 0.3)), 1e-8)
    values = rng.normal(size=n) ** 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.estimation_mechanism(prior / prior.sum(), level, values)
    assert design.mechanism.certify(level) and len(design.mechanism.outputs) <= 2 * n
    assert 0 < design.bound <= design.value <= 1.01 * design.bound


def test_no_line_is_above_its_claim_at_any_score():
    """Against sorting and filling in fractions."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        n, limit = int(rng.integers(2, 9)), Fraction(float(rng.uniform(1.01, 6)))
        shares = exact_prior(np.maximum(rng.dirichlet(np.ones(n)), 1e-6))
        alpha, gamma = rng.normal(size=(2, n)) * 10.0 ** rng.integers(-2, 3)
        line = Line(np.array(shares, dtype=float), float(limit), alpha, gamma)
        most, _ = line.most(1e-3)
        for score in rng.normal(size=30) * 3:
            worth = [Fraction(a) + Fraction(score) * Fraction(g) for a, g in zip(alpha, gamma)]
            left, best = Fraction(1), Fraction(0)
            for x in sorted(range(n), key=lambda x: -worth[x] / shares[x]):
                take = min(left, limit * shares[x])
                left, best = left - take, best + take * worth[x] / shares[x]
            assert best <= Fraction(float(line.above(np.array([score]))[0]))
            assert best - Fraction(score) ** 2 <= Fraction(most)


def test_two_outcomes_are_linear_and_within_the_limit():
    goal = np.array([-3.0, 0.5, 1.0, 9.0])
    outcomes, scores = two_outcomes(goal, 1.6)
    assert np.allclose(outcomes.sum(axis=0), 1) and np.allclose(scores @ outcomes, goal)
    assert (outcomes >= -1e-15).all()


def test_every_processor_finds_the_same():
    code = (
        "import json, numpy as np, pmlbook as pb\n"
        "p = np.random.default_rng(3).dirichlet(np.ones(30)) + 0.001; p /= p.sum()\n"
        "d = pb.estimation_mechanism(p, 0.5, np.arange(30.0) ** 2)\n"
        "print(json.dumps([d.value, d.bound]))"
    )
    values, bounds = np.array(told_everywhere(code)).T
    assert values.max() <= values.min() * (1 + 4e-6) and bounds.max() <= values.min()


def test_a_mean_of_words_is_refused():
    prior = pd.Series([0.2, 0.3, 0.5], ["1", "2", "many"])
    with pytest.raises(ValueError, match="'many' is none"):
        pb.estimation_mechanism(prior, 0.3, "mean")
    numbers = pd.Series([0.2, 0.3, 0.5], ["1", "2", "4"])
    best = pb.estimation_mechanism(numbers, 0.3, "mean")
    assert best.value == pb.estimation_mechanism([0.2, 0.3, 0.5], 0.3, [1, 2, 4]).value
    assert pb.estimation.estimation_variance(best.mechanism, "mean") == best.value


@pytest.mark.parametrize(
    "n, target, seconds",
    [
        (6, "frequencies", 0.1),
        (15, "frequencies", 0.1),
        (18, "frequencies", 0.1),
        (15, "pair", 1.0),
        (40, "frequencies", 0.1),
        (60, "one", 0.1),
    ],
)
def test_a_limit_in_time_reaches_every_part(n, target, seconds):
    """What is listed, stored and measured afterwards takes a few seconds more, on a busy machine."""
    prior = np.maximum(np.random.default_rng(n).dirichlet(np.ones(n)), 1e-4)
    wanted = {"pair": np.eye(n)[:, :2], "one": np.arange(n) ** 2.0}.get(target, target)
    begin, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = pb.estimation_mechanism(prior / prior.sum(), 1.0, wanted, max_time=seconds)
    spent = min(time.process_time() - begin, time.perf_counter() - wall)
    assert spent < seconds + 4
    assert design.mechanism.certify(1.0) and design.bound <= design.value < np.inf


@pytest.mark.parametrize("level, most", [(1e-6, 1.001)])
def test_a_strict_level_is_near_its_bound(level, most):
    """Below 1e-6 nats a search over vertices took over, whose bound was a sixth of the value."""
    shares = np.random.default_rng(0).dirichlet(np.ones(20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        made = pb.estimation_mechanism(shares, level, np.arange(20.0), tol=1e-4)
    assert made.bound <= made.value <= most * made.bound and made.mechanism.certify(level)


def test_a_warning_states_a_distance_above_zero():
    """A bound below the value had a negative distance, and the warning named another call."""
    with pytest.warns(pb.LooseBound, match=r"estimation_mechanism: the value .* are \d"):
        pb.estimation_mechanism(np.full(40, 1 / 40), 0.5, np.arange(40.0), max_time=0.0)

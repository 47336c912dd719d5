"""Every call for an optimal mechanism ends, within its time, and says why where the gap stays open.

Time is a fake clock that advances with every look at it, so that nothing here depends on the machine.
`test_searches.py` asks the real one.
"""

import warnings
from itertools import count

import numpy as np
import pytest
from scipy.optimize import nnls

from pmlbook import LooseBound, optimal_mechanism
from pmlbook.extremal import column_generation as module
from pmlbook.extremal.column_generation import column_generation
from pmlbook.extremal.enumeration import enumerate_optimum
from pmlbook.extremal.lattice import common_unit
from pmlbook.extremal.randomized_response import randomized_response_for_pml
from pmlbook.extremal.ungrouping import unroll, wrap_around
from pmlbook.foundations.utility import NAMED
from pmlbook.numerics import progress
from pmlbook.numerics.progress import Clock

INFORMATION = NAMED["mutual_information"]
KINDS = ("random", "counted", "near ties", "rare answers")


def normal(weights):
    weights = np.asarray(weights, dtype=float)
    return weights / weights.sum()


def prior_of(kind, n, rng):
    """A prior of one of the four kinds."""
    if kind == "random":
        return normal(rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0]))) + 1e-9)
    if kind == "counted":
        people = int(rng.choice([100, 1000, 10**4, 10**5]))
        return normal(rng.multinomial(people, rng.dirichlet(np.ones(n))) + 1)
    if kind == "near ties":
        return normal(abs(1 + rng.choice([1e-9, 1e-6, 1e-3, 1e-2, 0.1]) * rng.normal(size=n)))
    rare = rng.dirichlet(np.ones(n))
    rare[: int(rng.integers(1, 3))] = rng.choice([1e-3, 1e-4, 1e-6])
    return normal(rare + 1e-9)


def case(trial, least=3, most=50):
    """Kind, prior, level and utility; a third of the levels is at or near a region's boundary."""
    rng = np.random.default_rng([12, trial])
    kind, n = KINDS[trial % 4], int(rng.integers(least, most + 1))
    prior, name = prior_of(kind, n, rng), list(NAMED)[int(rng.integers(6))]
    edges = -np.log1p(-np.cumsum(np.sort(prior))[:-1])
    if trial % 3 == 0:
        edge = edges[int(rng.integers(len(edges)))]
        return kind, prior, float(edge * rng.choice([1, 1 - 1e-9, 1 + 1e-9, 1.0001, 1.5])), name
    return kind, prior, float(rng.choice([0.1, 0.5, 1.0, 2.0]) * rng.uniform(0.8, 1.2)), name


@pytest.fixture
def ticks(monkeypatch):
    """A clock that advances by a tenth of a second with every look; returns the looks so far."""
    looks = count()
    seen = []

    def look():
        seen.append(next(looks))
        return seen[-1] / 10

    monkeypatch.setattr(progress, "perf_counter", look)
    return seen


def late(looks, limit):
    """How often a search looked at the clock after its time was up: to end it takes a few."""
    return sum(look / 10 > limit for look in looks)


def told(prior, level, utility=INFORMATION, tol=1e-9):
    """What a search reports round by round."""
    rounds = []
    column_generation(prior, level, utility, tol, progress=lambda *now: rounds.append(now))
    return rounds


COUNTS = [1305, 1028, 864, 550, 600, 253, 297, 221, 427, 1257, 1044, 1386, 854, 1]


def test_a_level_just_above_the_first_region_ends():
    rounds, prior, level = [], normal(COUNTS), 9.915233240665044e-05
    lifts, _, bound = column_generation(
        prior, level, INFORMATION, progress=lambda *now: rounds.append(now)
    )
    truth = enumerate_optimum(prior, level, INFORMATION)[1]
    value = rounds[-1][0]
    assert len(rounds) < 100 and lifts.shape[1] <= 14
    assert bound - value <= 1.1e-9 * value and abs(bound - truth) <= 1e-8 * truth


@pytest.mark.parametrize("share", [1.0001, 1.01, 1.1, 1.5, 2.0])
def test_one_rare_answer_in_ten_thousand(share):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        prior = normal(np.append(rng.dirichlet(np.ones(13)), 1e-4))
        rounds = told(prior, -np.log1p(-prior.min()) * share)
        value, bound, _ = rounds[-1]
        assert len(rounds) < 300 and bound - value <= max(1e-9 * value, 1e-16)


def test_dependent_vectors_are_not_called_too_uneven():
    prior = normal((14, 6, 7, 8, 12, 20, 12, 27, 23, 16, 14, 13, 21, 5, 1))
    design = optimal_mechanism(prior, 1.6044253722149817, "chi_square")
    assert design.mechanism.channel.shape[1] <= 15 and abs(design.gap) <= 2e-9 * design.value


def test_near_misses_of_both_signs_close_harmonic_shares():
    rounds = []
    prior = normal(1 / np.arange(1, 51))
    column_generation(prior, 1.0, INFORMATION, progress=lambda *now: rounds.append(now))
    value, bound, _ = rounds[-1]
    assert bound - value <= 1e-9 * value and len(rounds) < 100


def test_an_answer_without_a_limit_depends_on_no_load(monkeypatch):
    """The same call on a machine that stands still, and on one where an hour passes between two looks at the clock."""
    monkeypatch.setattr(module, "DEFAULT_WORK", 0.2)
    prior = normal(1 + 1e-3 * np.random.default_rng(3).normal(size=100))
    answers = []
    for pace in (0.0, 3600.0):
        looks = count()
        monkeypatch.setattr(progress, "perf_counter", lambda: pace * next(looks))  # noqa: B023
        with pytest.warns(LooseBound, match=r"value .* bound .* tol = 1e-09 .*work .* is done"):
            lifts, shares, bound = column_generation(prior, 0.5, INFORMATION)
        answers.append((lifts.tobytes(), shares.tobytes(), bound))
    assert answers[0] == answers[1] and lifts.shape[1] <= 100


@pytest.mark.parametrize("max_time", [0, 2, 5])
@pytest.mark.parametrize("n", [20, 50, 140])
def test_the_limit_is_kept_and_needs_no_warning(max_time, n, ticks):
    prior = normal(1 + 1e-3 * np.random.default_rng(3).normal(size=n))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "(?s).*seconds are over", LooseBound)
        lifts, _, bound = column_generation(prior, 0.5, INFORMATION, max_time=max_time)
    assert late(ticks, max_time) <= 12
    assert (
        lifts.shape[1] <= n
        and np.allclose(prior @ lifts, 1, rtol=0, atol=1e-12)
        and 0 < bound <= 0.5 + 1e-12
    )


@pytest.mark.parametrize("trial", range(12))
def test_no_time_at_all_still_beats_randomized_response(trial):
    _, prior, level, name = case(trial, most=30)
    prior = np.maximum(prior, 1e-6) / np.maximum(prior, 1e-6).sum()
    level = min(level, -np.log(prior.min()))
    lifts, _, bound = column_generation(prior, level, NAMED[name], max_time=0)
    rival = NAMED[name](randomized_response_for_pml(prior, level), prior)
    value = optimal_mechanism(prior, level, name, "column_generation", max_time=0).value
    assert value >= 0.99 * rival and rival <= bound + 1e-9 and lifts.shape[1] <= len(prior)


def test_nearly_equal_shares_of_five_hundred_get_a_mechanism():
    prior = normal(1 + 1e-3 * np.random.default_rng(0).normal(size=500))
    lifts, _, bound = column_generation(prior, 0.5, INFORMATION, max_time=0)
    weights, rest = nnls(lifts, np.ones(500))
    assert lifts.shape[1] <= 500 and rest < 1e-9
    assert weights @ INFORMATION.columns(lifts, prior) >= 0.98 * bound


def test_ties_of_a_ten_millionth_are_closed():
    rounds, prior = [], normal(1 + 1e-7 * np.random.default_rng(0).normal(size=50))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        column_generation(prior, 0.5, INFORMATION, 1e-7, progress=lambda *now: rounds.append(now))
    value, bound, _ = rounds[-1]
    assert bound - value <= 1e-7 * value  # two lists alone leave two per cent


def test_counts_of_many_people_are_closed_by_possible_rests():
    rng, rounds = np.random.default_rng(5), []
    prior = normal(rng.multinomial(10**5, normal(1 / np.arange(1, 41))) + 1)
    column_generation(prior, 1.0, INFORMATION, 1e-7, progress=lambda *now: rounds.append(now))
    value, bound, _ = rounds[-1]
    assert common_unit(np.unique(prior)) == 100_040
    assert bound - value <= 1e-7 * value


def test_units_of_a_prior():
    assert common_unit(np.array([0.1, 0.9])) == 10
    assert common_unit(np.random.default_rng(0).dirichlet(np.ones(13))) is None


@pytest.mark.parametrize("trial", range(24))
def test_bounds_are_bounds_where_everything_can_be_listed(trial):
    _, prior, level, name = case(trial, most=12)
    prior = np.maximum(prior, 1e-5) / np.maximum(prior, 1e-5).sum()
    level = min(max(level, 1e-3), 1.1 * -np.log(prior.min()))
    truth = enumerate_optimum(prior, level, NAMED[name])[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        for limit in (0, 5):
            bound = column_generation(prior, level, NAMED[name], max_time=limit)[2]
            assert bound >= truth - 1e-11 * max(1, truth)


@pytest.mark.parametrize("trial", [120, 284, 288, *range(1, 60, 10)])
def test_every_column_adds_up(trial):
    """Symbols of 1e-8 beside heavy ones: a part that is rounding must not look like a remainder."""
    _, prior, level, name = case(trial, least=19)
    if level <= -np.log1p(-prior.min()):
        level = 0.5
    with Clock(0.3) as clock:
        task = module.Task(prior, level, NAMED[name], 1e-9)
        generation = module.searched(task, task.groups, None, clock)
    groups, columns = generation.groups, generation.programme.columns
    filled = columns.held.T @ groups.width + columns.place * groups.width[columns.taker]
    assert abs(filled - groups.capacity).max() <= 1e-13 * groups.width.sum()
    assert (columns.held <= groups.size[:, None]).all() and (columns.held >= 0).all()
    lifts, weights = generation.lifts()
    assert np.allclose(prior @ lifts, 1, rtol=0, atol=1e-11)
    assert np.allclose(lifts @ weights, 1, rtol=0, atol=1e-7)


@pytest.mark.parametrize("people, symbols", [(10**5, 400), (2000, 300)])
def test_ties_are_dealt_out_to_at_most_as_many_outcomes(people, symbols):
    counts = np.random.default_rng(1).multinomial(people, normal(1 / np.arange(1, symbols + 1))) + 1
    prior = normal(counts)
    lifts, _, bound = column_generation(prior, 2.0, INFORMATION, max_time=1)
    _, rest = nnls(lifts, np.ones(symbols))  # fewer columns than symbols may leave weights open
    assert lifts.shape[1] <= symbols and rest < 1e-9
    assert lifts.max() <= np.exp(2.0) * (1 + 1e-12)


def test_dealing_keeps_every_average():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n, v = rng.integers(1, 9, size=2)
        mass, weights = rng.random(n) + 0.01, rng.dirichlet(np.ones(v))
        share = np.where(rng.random(v) < 0.3, rng.integers(0, 2, size=v), rng.random(v))
        dealt = wrap_around(share * mass.sum(), weights, mass)
        assert np.allclose(dealt @ weights, share @ weights, rtol=0, atol=1e-12) and np.allclose(
            mass @ dealt, share * mass.sum(), rtol=0, atol=1e-12
        )
        x, shares = unroll(mass, np.zeros(n, dtype=int), share[None], weights)
        assert x.shape[1] <= v + n - 1 and ((x > 0) & (x < 1)).sum(axis=0).max() <= 1
        assert np.allclose(x @ shares, share @ weights, rtol=0, atol=1e-12) and np.isclose(
            shares.sum(), 1, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("trial", range(0, 2000, 125))
def test_a_sample_of_priors_closes_or_says_why(trial, monkeypatch):
    monkeypatch.setattr(module, "DEFAULT_WORK", 0.2)
    _, prior, level, name = case(trial)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        design = optimal_mechanism(prior, level, name)
    loose = [w for w in seen if issubclass(w.category, LooseBound)]
    assert len(loose) <= 1 and design.mechanism.certify(level) and design.value >= 0
    assert loose or design.gap <= 1e-8 * design.value + 1e-14

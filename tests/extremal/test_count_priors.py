"""Priors of counts: the lattice bound against enumeration, and searches that end because of it."""

from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.extremal.enumeration import enumerate_optimum
from pmlbook.extremal.lattice import (
    EXACT_DENOMINATOR,
    denominator_of,
    hulls,
    lattice_loss,
    possible_rests,
)
from pmlbook.extremal.lift_vectors import lift_vectors
from pmlbook.extremal.losses import Groups
from pmlbook.foundations.leakage import epsilon_max
from pmlbook.foundations.utility import NAMED, alpha_information

UTILITIES = [*NAMED.values(), alpha_information(0.5), alpha_information(3)]


def table(n, people, seed=0):
    """Counts of so many people, with shares that fall like 1/k."""
    shares = 1 / np.arange(1, n + 1)
    return np.random.default_rng(seed).multinomial(people, shares / shares.sum()) + 1


def fractions_of(counts):
    total = int(counts.sum())
    return [Fraction(int(count), total) for count in counts]


@pytest.mark.parametrize("trial", range(80))
def test_the_bound_is_never_violated(trial):
    rng = np.random.default_rng(trial)
    counts = np.sort(rng.integers(1, [4, 12, 60][trial % 3], size=int(rng.integers(2, 9))))
    if trial % 5 == 0:
        counts[-1] = 3 * counts.sum()  # one symbol too heavy for any outcome
    prior, utility = counts / counts.sum(), UTILITIES[trial % len(UTILITIES)]
    level = rng.uniform(0.02, 1.05) * epsilon_max(prior)
    if trial % 4 == 0 and len(prior) > 2:  # a whole number of people: no person is divided
        level = -np.log(prior[: rng.integers(1, len(prior))].sum())
    groups = Groups(prior, level, utility, int(counts.sum()))
    truth = enumerate_optimum(prior, level, utility)[1]
    assert groups.closed - lattice_loss(groups) >= truth - 1e-11 * max(1, truth)


@pytest.mark.parametrize("trial", range(40))
def test_every_vertex_has_a_taker_on_the_lattice(trial):
    """The lemma: some symbol has a modulo 1/n, and all others are at an end."""
    rng = np.random.default_rng(trial)
    counts = np.sort(rng.integers(1, 9, size=int(rng.integers(2, 8))))
    if trial % 4 == 0:
        counts[-1] = 2 * counts.sum()
    people, prior = int(counts.sum()), counts / counts.sum()
    a = np.exp(-rng.uniform(0.05, 0.98) * epsilon_max(prior))
    for lifts in lift_vectors(prior, -np.log(a)).T:
        parts = a * prior * lifts
        low, high = np.maximum(0, a - 1 + prior), np.minimum(prior, a)
        inside = (parts > low + 1e-9) & (parts < high - 1e-9)
        near = abs((parts - a) * people - np.rint((parts - a) * people)) < 1e-7
        assert inside.sum() <= 1 and near[inside].all() and near.any()


def test_the_bound_is_sometimes_the_optimum_of_eight_symbols():
    counts = np.array([1, 1, 2, 2, 3, 3, 4, 5])
    prior, reached = counts / counts.sum(), 0
    for level in np.linspace(0.3, 2, 15):
        groups = Groups(prior, level, NAMED["mutual_information"], int(counts.sum()))
        truth = enumerate_optimum(prior, level, NAMED["mutual_information"])[1]
        reached += abs(groups.closed - lattice_loss(groups) - truth) < 1e-12
    assert reached >= 3


def test_any_dual_variable_gives_a_bound_and_none_a_better_one():
    counts = table(30, 1000)
    groups = Groups(np.sort(counts) / counts.sum(), 0.8, NAMED["hellinger"], int(counts.sum()))
    best, rests = lattice_loss(groups), possible_rests(groups)
    for dual in best * np.geomspace(0.01, 100, 60):
        assert dual + groups.size @ hulls(groups, rests, dual)[0] <= best + 1e-12


def test_counts_of_many_people_close():
    """A hundred thousand people stayed 1e-5 open until the time was up, though the optimum was there."""
    prior = fractions_of(table(140, 100_000))
    design = pb.optimal_mechanism(prior, 2.0, tol=1e-6)
    assert design.mechanism.certify(2.0) and design.gap <= 2e-6 * design.value


def test_a_country_is_counted_in_fractions():
    counts = table(40, 330_000_000, seed=2)
    design = pb.optimal_mechanism(fractions_of(counts), 1.0)
    assert design.gap <= 2e-9 * design.value


def test_people_are_read_from_fractions_and_not_invented():
    assert denominator_of(fractions_of(table(40, 330_000_000))) > 10**8
    assert denominator_of([0.5, 0.25, 0.25]) == 4
    assert denominator_of([0.1, 0.9]) is None
    assert (
        denominator_of(
            [Fraction(1, EXACT_DENOMINATOR + 1), Fraction(EXACT_DENOMINATOR, EXACT_DENOMINATOR + 1)]
        )
        is None
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_loss_is_nothing_where_no_unit_is_known(seed):
    prior = np.sort(np.random.default_rng(seed).dirichlet(np.ones(20)))
    assert lattice_loss(Groups(prior, 1.0, UTILITIES[seed])) == 0

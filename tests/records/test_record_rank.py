"""Bounds on all adversaries from one of them: valid for exact priors, tight at rest, and quick where cells never end."""

import mpmath as mp
import numpy as np
import pytest

from pmlbook.foundations.classic import geometric
from pmlbook.foundations.probability import random_channel
from pmlbook.numerics.progress import Clock
from pmlbook.records.certificate import per_record_leakage
from pmlbook.records.classes import record_problem
from pmlbook.records.data_processing import data_processing_bound
from pmlbook.records.output_bound import conditional_slack, output_bound, reach
from pmlbook.records.queries import Query, SumQuery, counting, modular_sum, pairwise_products
from pmlbook.records.tilted import LeakageClaim, best_adversary

mp.mp.dps = 40


def exact(problem, prior):
    """Leakage and largest entropy of a prior, with forty digits."""
    table = [[mp.mpf(float(p)) for p in row] for row in prior]
    total = mp.fsum(p for row in table for p in row)
    table = [[p / total for p in row] for row in table]
    both = [
        [mp.fsum(p * mp.mpf(float(w[y])) for p, w in zip(row, rows)) for y in range(rows.shape[1])]
        for row, rows in zip(table, problem.rows)
    ]
    distribution = [mp.fsum(row) for row in table]
    outputs = [mp.fsum(column) for column in zip(*both)]
    learnt = mp.fsum(
        p * mp.log(p / p_a / q)
        for row, p_a in zip(both, distribution)
        for p, q in zip(row, outputs)
        if p > 0
    )
    sizes = np.rint(np.exp(problem.log_counts))
    entropy = mp.fsum(
        p * mp.log(mp.mpf(float(n)) / p)
        for row, ns in zip(table, sizes)
        for p, n in zip(row, ns)
        if p > 0
    )
    return learnt, entropy


@pytest.mark.parametrize("seed", range(30))
def test_no_prior_exceeds_the_bound(seed):
    """Any prior may be the reference; all others with its entropy stay below, to forty digits."""
    rng = np.random.default_rng(seed)
    shape = [(2, 2), (2, 2, 2), (3, 2)][seed % 3]
    query = Query(lambda x: int(sum(x)), [range(k) for k in shape])
    values = 1 + sum(k - 1 for k in shape)
    channel = random_channel(values, 3, rng) if seed % 2 else geometric(values, 1.5)
    problem = record_problem(query, channel, 0)
    for width in (0.2, 1, 20):
        prior = rng.dirichlet(np.full(problem.log_counts.size, width))
        prior = np.where(
            np.isfinite(problem.log_counts), prior.reshape(problem.log_counts.shape), 0
        )
        prior /= prior.sum()
        learnt, entropy = exact(problem, prior)
        b = float(entropy) - 1e-15
        lent = rng.dirichlet(np.full(prior.size, 0.5)).reshape(prior.shape)
        start = rng.choice([0, 1])
        assert (
            data_processing_bound(problem, b, [prior, lent][start], steps=int(rng.integers(0, 3)))
            >= learnt
        )
        best, found = best_adversary(problem, b, rng, 6)
        assert data_processing_bound(problem, b, best) >= max(found, learnt)


@pytest.mark.parametrize("query", [pairwise_products(10), counting(16), counting(64)])
def test_dear_doubt_needs_no_search(query):
    """Gaps of .05 to .2 after ten seconds of cutting cells, closed by one formula."""
    b = 0.997 * len(query.shape) * np.log(2)
    found = per_record_leakage(query, geometric(query.n_values, 2.0), b, tol=1e-9)
    assert found.method == "data processing" and 0 <= found.gap <= 1e-9


@pytest.mark.parametrize("noise", [1e-6, 1e-3, 5.0, 40.0])
@pytest.mark.parametrize("missing", [1e-10, 1e-6, 1e-2])
def test_noise_and_doubt_at_the_edges(noise, missing):
    """Outputs of probability 1e-17 and entropy slacks of 1e-10 leave a bound that is one."""
    query = counting(5)
    problem = record_problem(query, geometric(6, noise), 0)
    b = problem.largest_entropy - missing
    classes, leakage = best_adversary(problem, b, np.random.default_rng(0), 6)
    bound = data_processing_bound(problem, b, classes)
    assert bound >= leakage


# --- cells in rank ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_no_prior_exceeds_cells_in_rank(seed):
    """From any stationary point, for exact priors with the entropy that is demanded."""
    rng = np.random.default_rng(seed)
    query = [counting(4), counting(5), pairwise_products(4), modular_sum(5, 3)][seed % 4]
    channel = geometric(query.n_values, rng.uniform(0.1, 0.6))
    problem = record_problem(query, channel, 0)
    b = float(rng.uniform(0.9, 0.999)) * problem.largest_entropy
    classes, found = best_adversary(problem, b, rng, 6, accuracy=1e-7)
    bound = output_bound(LeakageClaim(problem, b, classes, found, 1e-3), Clock())
    assert bound >= found
    for weight in (0.1, 0.3, 0.5):
        drawn = rng.dirichlet(np.full(classes.size, 0.5)).reshape(classes.shape)
        prior = weight * drawn + (1 - weight) * classes
        learnt, entropy = exact(problem, prior)
        if entropy >= b:
            assert learnt <= bound
    learnt, entropy = exact(problem, classes)
    assert learnt <= bound and entropy >= b


@pytest.mark.parametrize("share", [0.8, 0.95])
def test_three_values_and_much_noise_need_few_cells(share):
    """Cells of posteriors leave .07 and .007 nats after seconds."""
    b = share * 3 * np.log(3)
    found = per_record_leakage(SumQuery([range(3)] * 3), geometric(7, 0.5), b, tol=1e-3)
    assert found.method == "output space" and 0 <= found.gap <= 1e-3


def test_reach_is_reached():
    """The tilted distribution with just that divergence comes within a few parts in a thousand of the bound."""
    rng = np.random.default_rng(4)
    logs = np.log(rng.dirichlet(np.ones(9)))
    gains = rng.normal(size=9)
    for heat in (0.1, 0.5, 3.0):
        distribution = np.exp(logs + gains / heat - np.logaddexp.reduce(logs + gains / heat))
        slack = float((distribution * (np.log(distribution) - logs)).sum())
        found = reach(logs, gains[:, None], slack)[0]
        assert distribution @ gains <= found <= distribution @ gains + 0.02 * np.ptp(gains)


def test_rooms_hold_every_adversary_who_leaks_more():
    """No prior with the entropy and the leakage has a belief further from uniform than its entropy slack."""
    rng = np.random.default_rng(5)
    problem = record_problem(counting(4), geometric(5, 1.0), 0)
    uniform = problem.uniform / problem.uniform.sum(axis=1, keepdims=True)
    for _ in range(300):
        prior = rng.dirichlet(np.full(8, rng.choice([0.2, 1, 5]))).reshape(2, 4)
        inside = prior / prior.sum(axis=1, keepdims=True)
        away = np.where(inside > 0, inside * np.log(np.maximum(inside, 1e-300) / uniform), 0).sum(1)
        b, learnt = float(problem.entropy(prior)), float(problem.leakage(prior))
        assert (away <= conditional_slack(problem, b, learnt) + 1e-9).all()

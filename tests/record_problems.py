"""A record view with a good adversary, for the tests of proof trees."""

import numpy as np

from pmlbook.per_record.proof_search import problem_of, record_views
from pmlbook.per_record.tilted import best_adversary


def asked(query, channel, share):
    """A record view, its least entropy, a good prior and its leakage."""
    view = record_views(query, channel)[0]
    problem = problem_of(view)
    b = share * problem.largest_entropy
    return view, b, *best_adversary(problem, b, np.random.default_rng(0), 16, 200)


def random_adversaries(problem, rng, n):
    """Entropies and leakages of `n` random adversaries, from nearly certain ones to nearly uniform ones."""
    present = np.isfinite(problem.log_counts)
    distributions = (
        rng.gamma(rng.choice([0.05, 0.3, 2.0], (n, 1, 1)), size=(n, *present.shape)) * present
        + 1e-300 * present
    )
    distributions = distributions / distributions.sum(axis=(1, 2), keepdims=True)
    distributions += rng.random((n, 1, 1)) * (problem.uniform - distributions)
    return problem.entropy(distributions), problem.leakage(distributions)

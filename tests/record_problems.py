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

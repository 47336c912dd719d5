"""Random tables of allowed pairs with priors, for tests of the least leakage."""

import numpy as np

from pmlbook.foundations.probability import random_prior


def drawn(rng, largest=7):
    """A table in which every input and every output has a pair, and a prior."""
    n, m = rng.integers(1, largest, size=2)
    mask = rng.random((n, m)) < 0.6
    mask[np.arange(n), rng.integers(m, size=n)] = True
    return mask[:, mask.any(axis=0)], random_prior(n, rng)

"""Hypothesis strategies: priors, channels, levels and processings from small whole numbers; and seeded problems of design."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def priors(draw, least=1, most=5):
    """A prior without zeros; ties and uniform priors are common."""
    size = st.integers(least, most)
    weights = np.array(
        draw(size.flatmap(lambda n: st.lists(st.integers(1, 20), min_size=n, max_size=n)))
    )
    return weights / weights.sum()


@st.composite
def channels(draw, rows, most=5):
    """A channel with `rows` rows; zeros and equal rows are common, empty columns may occur."""
    columns = draw(st.integers(1, most))
    row = st.lists(st.integers(0, 6), min_size=columns, max_size=columns).filter(any)
    counts = np.array([draw(row) for _ in range(rows)])
    return counts / counts.sum(axis=1, keepdims=True)


@st.composite
def pairs(draw, least=1):
    """A channel and the prior it is used with."""
    prior = draw(priors(least))
    return draw(channels(len(prior))), prior


levels = st.floats(1e-9, 4) | st.sampled_from([0.0, np.log(4 / 3), np.log(2), 1.0, 20.0])
labels = st.lists(st.text(max_size=3) | st.integers(), min_size=5, max_size=5, unique=True)


def problems(count, seed, targets):
    """Priors, levels from 1e-6 on, on a boundary too, and what `targets` makes of generator, number and place."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(2, 7))
        prior = rng.dirichlet(np.full(n, rng.choice([0.3, 1, 5]))) + 1e-4
        prior /= prior.sum()
        edge = float(-np.log1p(-prior.min()))
        yield prior, (1e-6, 1e-3, 0.3, 1.0, 4.0, edge)[k % 6], targets(rng, n, k)

"""What is no mechanism is refused before a certificate decides anything; what is one is decided as fractions do."""

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import refusal

from pmlbook.release.certificate import Certificate, exp_below
from pmlbook.release.levels import certified_level
from pmlbook.release.sampling import UNITS, to_weights

fair = np.array([0.5, 0.5])


def test_certificates_of_no_mechanism_are_refused():
    half = UNITS // 2
    good = {
        "epsilon": 1.0,
        "weights": [[half, half]] * 2,
        "prior": fair,
        "inputs": (0, 1),
        "outputs": ("no", "yes"),
    }
    refused = {
        "weights must be rows": (
            "weights",
            [[[1.0, 0.0]] * 2, [UNITS, 0], [[half, half], [UNITS]], [[], []], "no"],
        ),
        "weights has 1 rows": ("weights", [[[UNITS, 0]]]),
        "must be non-negative": (
            "weights",
            [
                [[half, half], [-1, UNITS + 1]],
                [[half, half], [half, 0]],
                np.full((2, 2049), UNITS),  # 64 bits hold 2^53 of this sum
                np.array([[half, half], [2**64 - 1, UNITS + 1]], np.uint64),
            ],
        ),
        "must be a list or tuple": ("inputs", ["01", {0, 1}, None]),
        "must be 2 different names": (
            "inputs",
            [(0, 0), (0, False), (0,), (0, 1, 2), (0, [1]), ([0], [1])],
        ),
        "must be positive": (
            "prior",
            [[Fraction(1), Fraction(0)], [Fraction(3, 2), Fraction(-1, 2)]],
        ),
        "not to 1": ("prior", [[Fraction(1, 2), Fraction(1, 3)]]),
    }
    for told, (argument, wrong) in refused.items():
        for value in wrong:
            assert told in refusal(lambda given: Certificate(**given), good | {argument: value}), (
                told,
                value,
            )
    for mixed in ([Fraction(1, 2), 0.5], [0.5, Fraction(1, 2)], list(fair)):
        assert Certificate(**good | {"prior": mixed}) == Certificate(**good)


def priors(n, rng):
    """Shares in fractions, from counts to denominators of a thousand digits, and floats."""
    yield [int(x) for x in rng.integers(1, 100, n)]
    yield [int.from_bytes(rng.bytes(rng.integers(1, 400)), "little") + 1 for _ in range(n)]
    yield [2 ** int(x) for x in rng.integers(0, 900, n)]
    yield [2 ** (16 * int(x)) - 1 for x in rng.integers(1, 6, n)]
    yield rng.dirichlet(np.full(n, 0.05)) + 1e-12


def mechanisms(n, m, rng):
    """Any rows, rows that publish, and columns that differ by single units only."""
    yield to_weights(rng.dirichlet(np.full(m, 0.2), size=n))
    yield to_weights(np.eye(m)[rng.integers(m, size=n)])
    near = np.tile(to_weights(rng.dirichlet(np.ones(m), size=1)), (n, 1))
    source, target = near.argmax(axis=1), rng.integers(m, size=n)
    near[range(n), source] -= 1
    near[range(n), target] += 1
    yield near


@pytest.mark.parametrize("n, m", [(1, 1), (1, 5), (5, 1), (2, 2), (7, 4), (70, 9)])
def test_a_level_is_decided_as_fractions_decide_it(n, m):
    rng = np.random.default_rng(10 * n + m)
    for numbers in priors(n, rng):
        shares = [Fraction(x) / sum(map(Fraction, numbers)) for x in numbers]
        for weights in mechanisms(n, m, rng):
            columns = [column for column in weights.T.tolist() if any(column)]
            means = [sum(map(Fraction.__mul__, shares, map(Fraction, k))) for k in columns]
            largest = max(Fraction(max(k)) / mean for k, mean in zip(columns, means))
            level = min(certified_level(largest), 1000.0)
            for epsilon in (level, math.nextafter(level, 0.0), rng.exponential()):
                found = Certificate(epsilon, weights, shares, tuple(range(n)), tuple(range(m)))
                assert found.largest_lift == largest
                assert found.holds == (largest <= exp_below(epsilon))

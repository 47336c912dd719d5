"""The optimum by other means, in exact arithmetic; nothing here is imported from pmlbook."""

from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from scipy.special import xlogy

ppl = pytest.importorskip("ppl")


def f_information(f):
    """The f-information of each column, sum_i P(x_i) P(y_j) f(lift), of arrays of shape (..., N, M)."""

    def columns(array, prior):
        outcome = (prior[:, None] * array).sum(axis=-2, keepdims=True)
        lift = np.where(outcome > 0, array / np.where(outcome > 0, outcome, 1), 1)
        return (prior[:, None] * outcome * f(lift)).sum(axis=-2)

    return columns


def expected_gain(gain):
    """What the best action earns at each column, sum_i P(x_i) P(y_j | x_i) gain_ia at its largest."""
    return lambda array, prior: ((gain * prior[:, None]).T @ array).max(axis=-2)


UTILITIES = {
    "mutual_information": f_information(lambda t: xlogy(t, t)),
    "total_variation": f_information(lambda t: np.abs(t - 1) / 2),
    "chi_square": f_information(lambda t: (t - 1) ** 2),
    "jensen_shannon": f_information(
        lambda t: (xlogy(t, t) - (t + 1) * np.log((t + 1) / 2)) / 2,
    ),
    "hellinger": f_information(lambda t: (np.sqrt(t) - 1) ** 2),
    "le_cam": f_information(lambda t: (t - 1) ** 2 / (2 * t + 2)),
}


def _integers(numbers):
    """The numbers over their common denominator, and that denominator."""
    scale = lcm(*(Fraction(x).denominator for x in numbers))
    return [int(x * scale) for x in numbers], scale


def _vertices(rules):
    """Vertices of the polytope that the constraints describe, as lists of fractions."""
    system = ppl.Constraint_System()
    for rule in rules:
        system.insert(rule)
    points = [g for g in ppl.C_Polyhedron(system).minimized_generators() if g.is_point()]
    return [[Fraction(int(v), int(g.divisor())) for v in g.coefficients()] for g in points]


def mechanisms(prior, c):
    """All vertices of Lemma 1's polytope with N inputs and N outputs, as floats of shape (V, N, N)."""
    n = len(prior)
    p = [[ppl.Variable(n * i + j) for j in range(n)] for i in range(n)]
    weights, scale = _integers([c * x for x in prior])
    rules = [p[i][j] >= 0 for i in range(n) for j in range(n)] + [sum(row) == 1 for row in p]
    for j in range(n):
        most = sum(w * p[k][j] for k, w in enumerate(weights))  # scale * c * P(y_j)
        rules += [scale * p[i][j] <= most for i in range(n)]
    return np.array(_vertices(rules), dtype=float).reshape(-1, n, n)


def lift_vertices(prior, c):
    """All vertices of {0 <= lift <= c, prior . lift = 1}, as lists of fractions."""
    x = [ppl.Variable(i) for i in range(len(prior))]
    weights, scale = _integers(prior)
    rules = [v >= 0 for v in x] + [c.denominator * v <= c.numerator for v in x]
    return _vertices([*rules, sum(w * v for w, v in zip(weights, x)) == scale])


def best_mechanism(vertices, prior, utility):
    """Largest utility of a vertex of Lemma 1's polytope."""
    return utility(vertices, np.array(prior, dtype=float)).sum(axis=-1).max()


def best_mixture(vertices, prior, utility):
    """Largest utility of a mixture of lift vertices that averages to one: an LP solved exactly."""
    gains = utility(np.array(vertices, dtype=float).T, np.array(prior, dtype=float))
    goal, scale = _integers([Fraction(g) for g in gains.tolist()])
    w = [ppl.Variable(k) for k in range(len(vertices))]
    system = ppl.Constraint_System()
    for v in w:
        system.insert(v >= 0)
    for row in zip(*vertices):
        entries, one = _integers(row)
        system.insert(sum(a * v for a, v in zip(entries, w)) == one)
    programme = ppl.MIP_Problem(len(w), system, sum(g * v for g, v in zip(goal, w)))
    programme.set_optimization_mode("maximization")
    return float(Fraction(str(programme.optimal_value())) / scale)


def exp_from_below(epsilon):
    """A rational number at most e^epsilon: a partial sum of a series of positive terms.

    It stops when a term is half the one before and below 1e-50: the remainder is below 2e-50.
    """
    x, term, total, k = Fraction(epsilon), Fraction(1), Fraction(0), 0
    while term > Fraction(1, 10**50) or k < 2 * x:
        k, total, term = k + 1, total + term, term * x / (k + 1)
    return total


def largest_lift(channel, prior):
    """Largest P(y | x) / P(y) in exact arithmetic, the rows and the prior taken relative to their sums."""
    rows = [[Fraction(v) for v in row] for row in channel.tolist()]
    weights = [Fraction(v) for v in prior.tolist()]
    totals = [sum(row) for row in rows]
    columns = [[v / t for v, t in zip(column, totals)] for column in zip(*rows)]
    return max(
        max(column) * sum(weights) / sum(w * v for w, v in zip(weights, column))
        for column in columns
        if any(column)
    )

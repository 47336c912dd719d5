"""A bound is a bound to the last digit: against the exact optimum, e^epsilon to 90 digits, on and around every boundary."""

import math
import os
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from test_roads import largest_lift, powers

import pmlbook as pb
from pmlbook.extremal import enumeration, optimal
from pmlbook.extremal.column_generation import column_generation
from pmlbook.extremal.enumeration import Contradiction, ceilings, excess
from pmlbook.extremal.lift_vectors import exact_lift_vectors
from pmlbook.extremal.regions import lift_limit
from pmlbook.foundations.probability import exact_prior
from pmlbook.foundations.utility import ExpectedGain, alpha_information

FULL = os.environ.get("PMLBOOK_FUZZ") == "full"
mp = mpmath.mp.clone()
mp.dps = 90


def ratio(x):
    """A fraction in the precision of this file."""
    return mp.mpf(x.numerator) / x.denominator


def exact_shares(prior):
    """The prior that floats mean: their exact values over their exact sum."""
    parts = [Fraction(p) for p in prior]
    return [part / sum(parts) for part in parts]


def power(alpha):
    """The textbook's f of order alpha."""
    return lambda t: (mp.power(t, alpha) - alpha * t + alpha - 1) / (alpha * (alpha - 1))


def shannon(t):
    """t ln t."""
    return t * mp.log(t) if t else mp.zero


TEXTBOOK = {
    "mutual_information": shannon,
    "total_variation": lambda t: abs(t - 1) / 2,
    "chi_square": lambda t: (t - 1) ** 2,
    "jensen_shannon": lambda t: (shannon(t) - 2 * shannon((t + 1) / 2)) / 2,
    "hellinger": lambda t: (mp.sqrt(t) - 1) ** 2,
    "le_cam": lambda t: (t - 1) ** 2 / (2 * (t + 1)),
}


class Judge:
    """The utility of a column of lifts, and the optimum, computed apart from the library."""

    def __init__(self, kind, shares):
        self.shares = [ratio(p) for p in shares]
        self.gain = None if isinstance(kind, (str, float)) else mp.matrix(kind.tolist())
        self.f = TEXTBOOK[kind] if isinstance(kind, str) else None
        if isinstance(kind, float):
            self.f = power(mp.mpf(kind))

    def column(self, lifts):
        """Its value."""
        if self.gain is None:
            return mp.fdot(self.shares, [self.f(t) for t in lifts])
        belief = [p * t for p, t in zip(self.shares, lifts)]
        return max(mp.fdot(belief, self.gain[:, a]) for a in range(self.gain.cols))

    def value(self, channel):
        """Utility of a channel whose entries are exact."""
        total = mp.zero
        for column in channel.T.tolist():
            mean = mp.fdot(self.shares, column)
            if mean:
                total += mean * self.column([entry / mean for entry in column])
        return total

    def optimum(self, epsilon):
        """The best mixture of extremal lift vectors: over the bases, with 90 digits."""
        vertices = list(lift_vertices(self.shares, min(mp.exp(epsilon), 1 / min(self.shares))))
        values, best = [self.column(vertex) for vertex in vertices], mp.mpf("-inf")
        for basis in likely_bases(vertices, values):
            weights = mixing_weights([vertices[v] for v in basis])
            if weights and min(weights) >= 0:
                best = max(best, mp.fdot(weights, [values[v] for v in basis]))
        return best


def mixing_weights(vertices):
    """The weights with which vertices average to one; None if they depend on each other."""
    n = len(vertices)
    rows = [[vertex[i] - 1 for vertex in vertices] + [mp.zero] for i in range(n - 1)]
    rows.append([mp.one] * (n + 1))
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if abs(rows[pivot][k]) < mp.mpf(10) ** -60:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in set(range(n)) - {k}:
            rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k])]
    return [row[n] for row in rows]


def lift_vertices(shares, c):
    """All entries but one at 0 or c: every set and every place that leave a remainder in between."""
    n = len(shares)
    for size in range(n):
        for tall in combinations(range(n), size):
            for place in set(range(n)) - set(tall):
                rest = (1 - c * mp.fsum(shares[i] for i in tall)) / shares[place]
                rest = mp.zero if abs(rest) < mp.mpf(10) ** -80 else rest  # c = 1 / min P(x)
                if 0 <= rest and (rest < c or size == n - 1):
                    yield [c if i in tall else rest if i == place else mp.zero for i in range(n)]


def likely_bases(vertices, values):
    """Bases that floats find feasible and among the best, and all that floats cannot judge."""
    n = len(vertices[0])
    sets = np.array(list(combinations(range(len(vertices)), n)))
    moved = np.array([[float(t - 1) for t in vertex] for vertex in vertices])
    moved /= np.maximum(abs(moved).max(axis=0), 1e-300)
    rows = np.concatenate([moved[:, :-1], np.ones((len(moved), 1))], axis=1)[sets].swapaxes(1, 2)
    worth = np.array([float(v) for v in values])
    worth = (worth / (abs(worth).max() or 1.0))[sets]
    sure = abs(np.linalg.det(rows)) > 1e-9
    right = np.broadcast_to(np.eye(n)[-1][:, None], (int(sure.sum()), n, 1))
    weights = np.linalg.solve(rows[sure], right)[..., 0]
    total = (weights * worth[sure]).sum(axis=1)
    fine = weights.min(axis=1, initial=0) > -1e-5
    near = fine & (total > total[fine].max(initial=-np.inf) - 1e-5)
    return sets[sure][near].tolist() + sets[~sure].tolist()


RNG = np.random.default_rng(1213)
KINDS = [*TEXTBOOK, "alpha", "gain"]


def random_case(rng):
    """A prior, a level, a utility and a method: half of the levels within 1e-9 of a boundary."""
    n = int(rng.integers(2, 5))
    prior = [
        rng.dirichlet(np.ones(n)),
        rng.integers(1, 12, n) / 1.0,
        rng.dirichlet(np.ones(n)) * 10.0 ** rng.uniform(-5, 0, n),
        1 + rng.normal(size=n) * 1e-9,
    ][rng.integers(4)]
    prior = np.maximum(prior / prior.sum(), 1e-7)
    prior = prior / math.fsum(prior)
    if rng.random() < 0.2:
        counts = rng.integers(1, 30, n).tolist()
        prior = np.array([Fraction(count, sum(counts)) for count in counts])
    kind = KINDS[rng.integers(len(KINDS))]
    if kind == "alpha":
        kind = float(rng.choice([0.1, 0.5, 2.0, 5.0, rng.uniform(0.1, 5)]))
    if kind == "gain":
        size = n, int(rng.integers(1, 5))
        kind = rng.normal(size=size) if rng.random() < 0.5 else rng.integers(-3, 4, size) * 1.0
    if rng.random() < 0.5:
        edge = -math.log(math.fsum(prior[rng.permutation(n)[: rng.integers(1, n)]].tolist()))
        level = edge + rng.choice([-1, 1]) * min(edge, 1.0) * 10.0 ** rng.uniform(-17, -9.1)
    else:
        level = 10.0 ** rng.uniform(-6, math.log10(50))
    ways = ["auto", "auto", "enumeration"]
    if isinstance(kind, (str, float)):
        ways.append("column_generation")
    return prior, max(level, 1e-6), kind, str(rng.choice(ways))


def as_utility(kind):
    """What the library calls it."""
    if isinstance(kind, float):
        return alpha_information(kind)
    return kind if isinstance(kind, str) else ExpectedGain(kind)


def check(prior, level, kind, method="auto"):
    """A design keeps its level, has the stated value, and its bound is valid."""
    design = pb.optimal_mechanism(prior, level, as_utility(kind), method=method)
    mechanism, shares = design.mechanism, exact_shares(prior)
    judge = Judge(kind, shares)
    assert mechanism.certify(level) and list(mechanism.exact_prior) == shares
    assert largest_lift(mechanism.weights.tolist(), shares) <= powers(level)
    best, reached = judge.optimum(level), judge.value(mechanism.channel)
    size = reached if isinstance(kind, (str, float)) else abs(kind).max()
    assert abs(design.value - reached) <= 1e-12 * size
    ninety = mp.mpf(10) ** -80 * max(1, abs(reached))  # what the judge itself may lose
    assert design.bound >= best >= reached - ninety, (best, design)
    assert design.gap >= abs(design.value - reached)
    return float((design.bound - best) / (abs(best) or 1)), float(
        (best - reached) / (abs(best) or 1)
    )


@pytest.mark.parametrize("block", range(100 if FULL else 1))
def test_no_bound_is_below_the_optimum(block):
    """PMLBOOK_FUZZ=full looks at ten thousand."""
    rng = np.random.default_rng([1213, block])
    for _ in range(100):
        check(*random_case(rng))


REPORTED = [
    (np.array([1, 8, 10]) / 19, 0.7472144018302098, 0.1),
    (np.array([0.55, 0.45]), 0.7985076962177563, "hellinger"),
]


@pytest.mark.parametrize("prior, level, kind", REPORTED)
def test_bounds_that_were_too_low(prior, level, kind):
    check(prior, level, kind)


@pytest.mark.parametrize("kind", [*TEXTBOOK, 0.1, 0.5, 5.0])
@pytest.mark.parametrize("level", [1e-6, 1e-8, 1e-10, 1e-12])
def test_small_levels_are_no_noise(kind, level):
    """Twelve digits of what the rounded mechanism is worth; rounding it costs little of the optimum."""
    for prior in ([0.6, 0.4], [0.5, 0.3, 0.2]):
        excess_of_bound, lost = check(np.array(prior), level, kind)
        assert excess_of_bound < 1e-11 and lost < 1e-3


def test_a_level_above_a_boundary_is_not_on_it():
    """Just above the first region its formula is not the optimum, and its bound was no bound."""
    prior = np.array([0.5, 0.3, 0.2])
    edge = pb.extremal.privacy_regions(prior)[1]
    for level in (edge, math.nextafter(edge, 1), edge + 1e-13, edge + 9e-13):
        assert pb.optimal_mechanism(prior, level, "hellinger").method == "enumeration"
        check(prior, level, "hellinger")
    assert pb.optimal_mechanism(prior, math.nextafter(edge, 0)).method == "closed_form"


FORMULAS = [([0.7, 0.3], 0.4), ([0.5, 0.3, 0.2], 0.1), ([0.25] * 4, 0.9)]


@pytest.mark.parametrize("prior, level", FORMULAS)
@pytest.mark.parametrize("kind", TEXTBOOK)
def test_a_gap_is_not_below_rounding(prior, level, kind):
    design = pb.optimal_mechanism(prior, level, kind)
    assert design.gap >= 0.999 * optimal.rounding(design.mechanism, optimal.as_utility(kind)) > 0
    assert pb.optimal_mechanism(prior, 0.0, kind).gap == 0  # no information: exact


def test_a_contradiction_is_an_error(monkeypatch):
    """A bound below the value used to be replaced by the value, silently."""
    too_low = optimal.formula_bound
    monkeypatch.setattr(optimal, "formula_bound", lambda *given: too_low(*given) * (1 - 1e-9))
    with pytest.raises(Contradiction, match="exceeds the upper bound"):
        pb.optimal_mechanism([0.7, 0.3], 0.4)
    programme = optimal.enumerate_optimum

    def lowered(*given):
        lifts, bound = programme(*given)
        return lifts, bound * (1 - 1e-9)

    monkeypatch.setattr(optimal, "enumerate_optimum", lowered)
    with pytest.raises(Contradiction):
        pb.optimal_mechanism([0.5, 0.3, 0.2], 0.5)


def test_a_utility_that_is_not_sub_linear_contradicts_its_bound():
    """The value of such a function may exceed what the programme proves for its word."""
    with pytest.raises(Contradiction, match="sub-linear"):
        pb.optimal_mechanism([0.5, 0.3, 0.2], 0.5, lambda column: math.sqrt(column.sum()))


@pytest.mark.parametrize("n", [3, 5, 7])
def test_margins_cover_what_floats_lose(n):
    """The float that stands for a vertex is never below its exact value."""
    rng = np.random.default_rng(n)
    for trial in range(8):
        shares = exact_prior(rng.dirichlet(np.ones(n)))
        level = 10.0 ** rng.uniform(-9, 0.3)
        if trial % 2:
            level = pb.extremal.privacy_regions(np.array(shares, dtype=float))[1] * (1 - 1e-15)
        vertices = exact_lift_vectors(shares, lift_limit(shares, level)[1])
        duals = [Fraction(y) for y in (rng.normal(size=n) * level).tolist()]
        for kind in (*TEXTBOOK, 0.1, 5.0, rng.normal(size=(n, 3))):
            utility = optimal.as_utility(as_utility(kind))
            tops = ceilings(vertices, utility, duals)
            exact = [excess(vertices, v, utility, duals) for v in range(len(tops))]
            assert all(Fraction(float(top)) >= true for top, true in zip(tops, exact))


GENERATED = [(seed, 0.1) for seed in (27, 261, 277)] + [
    (k, name) for k, name in enumerate(TEXTBOOK)
]


@pytest.mark.parametrize("seed, kind", GENERATED)
def test_generated_columns_bound_what_listed_vertices_reach(seed, kind):
    """Near a boundary the bound of a search used to be too low by 4e-7 of the value where f is steep."""
    rng = np.random.default_rng(seed)
    utility = optimal.as_utility(as_utility(kind))
    for _ in range(4):
        n = int(rng.integers(8, 11))
        prior = rng.dirichlet(np.ones(n))
        edge = -math.log(math.fsum(prior[rng.permutation(n)[: rng.integers(1, n)]].tolist()))
        level = edge * (1 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-17, -13))
        shares = exact_prior(prior)
        vertices = exact_lift_vectors(shares, lift_limit(shares, level)[0])
        used, _ = enumeration.best_mix(vertices, utility)
        shapes = vertices.lifts[:, used]
        weights = np.linalg.lstsq(shapes, np.ones(n), rcond=None)[0]
        worth = [float(utility.enclose(vertices.column(v), shares)[0]) for v in used]
        bound = column_generation(prior, level, utility, max_time=5)[2]
        assert bound >= (1 - 1e-13) * float(weights @ worth)

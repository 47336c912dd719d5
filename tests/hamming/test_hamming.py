"""Least leakage under worst-case Hamming distortion: against a programme over whole channels, and at the edges."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from pmlbook.foundations.leakage import local_dp
from pmlbook.hamming.class_one_and_two import symmetric_threshold
from pmlbook.hamming.exact import dp_leakage, min_distortion
from pmlbook.hamming.known_source import known_source_leakage
from pmlbook.hamming.source_sets import SourceSet
from pmlbook.numerics.linear_programmes import SolverFailed
from pmlbook.numerics.validation import InvalidPrior

FILE = Path(__file__).parents[3] / "shared" / "cases" / "hamming.json"
DATA = json.loads(FILE.read_text()) if FILE.exists() else {"curves": {}, "random": []}
CASES = [
    pytest.param(curve["V"], point["D"], point["eps_fast"], id=f"{name}-{point['D']:.3f}")
    for name, curve in DATA["curves"].items()
    for point in curve["curve"]
] + [
    pytest.param(case["V"], case["D"], case["eps_fast"], id=f"{case['cls']}-{k}")
    for k, case in enumerate(DATA["random"])
]


def exact_distortion(channel, vertices):
    """Largest average error over the vertices in fractions, rows and vertices relative to their sums."""
    rows = [[Fraction(v) for v in row] for row in channel.tolist()]
    wrong = [1 - row[i] / sum(row) for i, row in enumerate(rows)]
    distributions = [
        [Fraction(v) for v in distribution]
        for distribution in np.asarray(vertices, dtype=float).tolist()
    ]
    return max(
        sum(p * d for p, d in zip(distribution, wrong)) / sum(distribution)
        for distribution in distributions
    )


def exact_ratio(channel):
    """Largest ratio of two entries of a column in fractions; inf where zeros and others mix."""
    rows = [[Fraction(v) for v in row] for row in channel.tolist()]
    rows = [[v / sum(row) for v in row] for row in rows]
    used = [column for column in zip(*rows) if any(column)]
    return max(max(c) / min(c) if min(c) else math.inf for c in used)


def keeps_its_word(design, vertices, limit):
    """Whether the channel has the stated leakage, and at most the allowed distortion."""
    channel = design.mechanism.channel
    ratio = float(exact_ratio(channel))
    return (
        exact_distortion(channel, vertices) <= Fraction(limit)
        and math.isclose(design.value, math.log(ratio), abs_tol=1e-14, rel_tol=1e-14)
        and design.bound <= design.value
    )


def full_distortion(vertices, odds):
    """Least worst average error of all M x M channels with ratio `odds`, every pair of entries one row."""
    count, m = vertices.shape
    rules, at_most = [], np.append(np.zeros(m * m * (m - 1)), -np.ones(count))
    for j in range(m):
        for i in range(m):
            for k in range(m):
                if i != k:
                    row = np.zeros(m * m + 1)
                    row[i * m + j], row[k * m + j] = 1, -odds
                    rules.append(row)
    diagonal = np.arange(m) * (m + 1)
    for distribution in vertices:
        row = np.zeros(m * m + 1)
        row[diagonal], row[-1] = -distribution, -1
        rules.append(row)
    sums = np.hstack([np.kron(np.eye(m), np.ones(m)), np.zeros((m, 1))])
    cost = np.append(np.zeros(m * m), 1)
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    matrix = sparse.csr_matrix(np.array(rules))
    best = linprog(cost, matrix, at_most, sums, np.ones(m), method="highs-ds", options=options)
    assert best.status == 0
    return best.fun


def full_leakage(vertices, limit, near):
    """Leakage by bisection over whole channels, begun around a guess that need not be right."""
    if full_distortion(vertices, 1.0) <= limit + 1e-12:
        return 0.0
    low, high = max(0.0, near - 2e-8), near + 2e-8
    if full_distortion(vertices, math.exp(low)) <= limit:
        low, high = 0.0, low
    elif full_distortion(vertices, math.exp(high)) > limit:
        low, high = high, 50.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        enough = full_distortion(vertices, math.exp(middle)) <= limit
        low, high = (low, middle) if enough else (middle, high)
    return (low + high) / 2


def random_vertices(kind, rng, most=6):
    """Vertices of a random source set of Class I, II or III, sometimes with zeros or a repeated row."""
    m, k = int(rng.integers(2, most + 1)), int(rng.integers(1, 6))
    table = rng.dirichlet(np.full(m, rng.choice([0.3, 1, 5])), k)
    if rng.random() < 0.25:
        table = np.where(table < 0.1 / m, 0, table)
    if kind == "II":
        table = -np.sort(-table, axis=1)
    table /= table.sum(axis=1, keepdims=True)
    if kind == "I":  # the last vertex pulls the mean to the uniform distribution
        centre, weight = 1 / m, k / (k + 1)
        pull = (centre - weight * table.mean(axis=0)) / (1 - weight)
        if pull.min() < 0:
            table = centre + (table - centre) * centre / (centre - pull.min())
            pull = (centre - weight * table.mean(axis=0)) / (1 - weight)
        table = np.vstack([table, np.clip(pull, 0, None) / np.clip(pull, 0, None).sum()])
    return table[rng.integers(0, len(table), len(table) + 1)] if rng.random() < 0.1 else table


def test_the_reference_values_are_there():
    if not CASES:
        pytest.skip(f"no reference values at {FILE}")
    assert len(CASES) >= 20


@pytest.mark.parametrize("vertices, limit, best", CASES)
def test_reference_value(vertices, limit, best):
    design = dp_leakage(vertices, limit)
    assert design.value == pytest.approx(best, abs=1e-8)
    assert design.bound == pytest.approx(best, abs=1e-8)
    assert keeps_its_word(design, vertices, limit)


@pytest.mark.parametrize("kind", ["I", "II", "III"])
@pytest.mark.parametrize("seed", range(27))
def test_against_whole_channels(kind, seed):
    rng = np.random.default_rng([seed, "I II III".split().index(kind)])
    vertices = random_vertices(kind, rng, most=6 if seed % 9 == 0 else 4)
    limit = rng.uniform(0.01, 1 - 0.9 / vertices.shape[1])
    design = dp_leakage(vertices, limit)
    assert design.value == pytest.approx(full_leakage(vertices, limit, design.value), abs=1e-8)
    assert design.gap < 1e-9
    assert keeps_its_word(design, vertices, limit)
    forced = design.distribution
    assert SourceSet(vertices).contains(forced)
    if limit < 1 - forced.max() - 1e-13:  # else it sits on its own jump, up to rounding
        assert known_source_leakage(forced, limit) == pytest.approx(design.bound, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_inverse(seed):
    """The least distortion against the whole channel, and the level kept in fractions."""
    rng = np.random.default_rng([7, seed])
    vertices = random_vertices("III", rng, most=4)
    epsilon = float(rng.choice([0, 1e-6, 1e-3, 0.3, 1, 2, 4]))
    design = min_distortion(vertices, epsilon)
    assert design.value == pytest.approx(full_distortion(vertices, math.exp(epsilon)), abs=1e-9)
    assert design.gap < 1e-9 and exact_distortion(design.mechanism.channel, vertices) <= Fraction(
        design.value
    )
    assert local_dp(design.mechanism.channel) <= epsilon
    assert dp_leakage(vertices, min(1, design.value)).value <= epsilon + 1e-9


@pytest.mark.parametrize("kind", ["I", "II", "III"])
def test_more_knowledge_never_hurts(kind):
    rng = np.random.default_rng(17)
    for _ in range(10):
        vertices, limit = random_vertices(kind, rng), rng.uniform(0.05, 0.6)
        inside = rng.dirichlet(np.ones(len(vertices)), 2) @ vertices
        assert dp_leakage(inside, limit).value <= dp_leakage(vertices, limit).value + 1e-9


def test_renaming_and_repeating_change_nothing():
    rng = np.random.default_rng(23)
    for _ in range(20):
        vertices, limit = random_vertices("III", rng), rng.uniform(0.05, 0.6)
        value, m = dp_leakage(vertices, limit).value, vertices.shape[1]
        shuffled = vertices[rng.permutation(len(vertices))][:, rng.permutation(m)]
        assert dp_leakage(shuffled, limit).value == pytest.approx(value, abs=1e-9)
        assert dp_leakage(np.vstack([vertices, vertices]), limit).value == value
        never = np.column_stack([vertices, np.zeros(len(vertices))])
        assert dp_leakage(never, limit).value == pytest.approx(value, abs=1e-9)
        assert dp_leakage(SourceSet(vertices), limit).value == value


ONE, TWO = np.array([[6, 1, 1]]) / 8, np.array([[5, 2, 1], [2, 5, 1]]) / 8


def test_the_jump():
    """For (6, 1, 1) / 8 the leakage falls from ln 6 to 0 at D0 = 1/4, without a tolerance to spare."""
    assert dp_leakage(ONE, 0.25).value == 0
    assert keeps_its_word(dp_leakage(ONE, 0.25), ONE, 0.25)
    assert dp_leakage(ONE, 0.25 - 1e-12).value == pytest.approx(math.log(6), abs=1e-9)
    assert known_source_leakage(ONE[0], 0.25) == 0
    assert dp_leakage([[0.7, 0.2, 0.1]], 0.3).value == 0  # D0 up to rounding
    assert dp_leakage([[0.9, 0.06, 0.04]], 1 - 0.9).value == 0
    game = 1 - 7 / 16  # the mean of TWO is (7, 7, 2) / 16
    assert dp_leakage(TWO, game).value == 0 and keeps_its_word(dp_leakage(TWO, game), TWO, game)
    assert 0 < dp_leakage(TWO, game - 1e-6).value < 1e-5


@pytest.mark.parametrize("below", [1e-3, 1e-6, 1e-9, 1e-12, 1e-13])
def test_just_below_the_jump(below):
    for vertices in (ONE, TWO, np.eye(3), [[0.5, 0.5, 0], [0, 0.3, 0.7]]):
        limit = min_distortion(vertices, 0).value - below
        design = dp_leakage(vertices, limit)
        assert keeps_its_word(design, vertices, limit) and design.gap < 1e-10


@pytest.mark.parametrize("vertices", [ONE, TWO, np.eye(3), [[0.5, 0.5, 0], [0.3, 0.7, 0]]])
@pytest.mark.parametrize("limit, gap", [(1e-14, 0.2), (1e-12, 1e-2), (1e-6, 1e-8), (0.01, 1e-11)])
def test_strict(vertices, limit, gap):
    """A stored channel has steps of 2^-53, so the gap grows as the distortion falls to them."""
    design = dp_leakage(vertices, limit)
    occurring = np.asarray(vertices).any(axis=0).sum()
    assert design.value == pytest.approx(math.log((occurring - 1) / limit), abs=max(0.02, gap))
    assert keeps_its_word(design, vertices, limit) and design.gap < gap


def test_too_strict_to_store():
    with pytest.raises(SolverFailed, match="distortion = 1e-17 is too small"):
        dp_leakage(TWO, 1e-17)


def awkward_vertices(rng):
    """Vertices with zeros, tiny entries, near copies or ties, in 2 to 8 symbols."""
    m, k = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    table = rng.dirichlet(np.full(m, rng.choice([0.05, 0.3, 1, 5, 100])), k)
    kind = rng.integers(5)
    if kind == 0:
        table = np.where(table < 0.2 / m, 0, table)
    elif kind == 1:
        table = table ** rng.integers(1, 12)
    elif kind == 2:
        table = np.round(table * 12) / 12
    elif kind == 3:
        table = np.vstack([table, table[0] * (1 + 1e-9 * rng.standard_normal(m))])
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > 0, table, 1) / np.where(sums > 0, sums, m)


@pytest.mark.parametrize("seed", range(8))
def test_many_orders_of_magnitude(seed):
    """Strict validity in fractions, and the gap, for distortions and levels from next to nothing on."""
    rng = np.random.default_rng([99, seed])
    for _ in range(40):
        vertices = awkward_vertices(rng)
        limit = float(10 ** rng.uniform(-14, 0)) if rng.random() < 0.7 else rng.random()
        design = dp_leakage(vertices, limit)
        assert keeps_its_word(design, vertices, limit)
        assert design.gap < 1e-9 + 40 * 2.0**-53 / limit * len(vertices[0])
        epsilon = float(10 ** rng.uniform(-6, 2.8)) if rng.random() < 0.7 else 5 * rng.random()
        design = min_distortion(vertices, epsilon)
        assert local_dp(design.mechanism.channel) <= epsilon and design.bound <= design.value
        assert exact_distortion(design.mechanism.channel, vertices) <= Fraction(design.value)
        assert design.gap < 1e-8


@pytest.mark.parametrize("above", [0, 1e-15, 1e-12, 1e-9, 1e-3])
def test_silence_is_valid_from_the_jump_on(above):
    """Constant answers keep the distortion in fractions, at the jump up to 1e-14 of one."""
    rng = np.random.default_rng(31)
    for _ in range(40):
        vertices = awkward_vertices(rng)
        limit = min(1.0, min_distortion(vertices, 0).value + above)
        design = dp_leakage(vertices, limit)
        grace = Fraction(min(1e-14, limit / 1000)) if design.method == "constant" else 0
        reached = exact_distortion(design.mechanism.channel, vertices)
        assert reached <= Fraction(limit) + (grace if above < 1e-13 else 0)
        assert design.value < 1e-9 or above < 1e-9


def test_no_distortion():
    design = dp_leakage(TWO, 0)
    assert design.value == design.bound == math.inf and design.gap == 0
    assert (design.mechanism.channel == np.eye(3)).all()
    for vertices in ([[1.0]], [[0, 1, 0]], [[0, 1, 0], [0, 1, 0]]):
        silent = dp_leakage(vertices, 0)
        assert silent.value == 0 and exact_distortion(silent.mechanism.channel, vertices) == 0


def test_large_distortion():
    for limit in (2 / 3, 0.9, 1):
        assert dp_leakage(np.eye(3), limit).value == 0


def test_threshold_by_hand():
    assert symmetric_threshold([[0.7, 0.2, 0.1]]) == pytest.approx(0.2)
    assert symmetric_threshold(np.eye(4)) == pytest.approx(0.75)
    assert symmetric_threshold([[0.5, 0.5, 0], [0, 0.5, 0.5]]) == pytest.approx(0.5)
    assert symmetric_threshold([[0.5, 0.5, 0]]) == 0


BAD_LIMITS = [
    -0.1,
    -1e-300,
    1.0000001,
    2,
    math.nan,
    math.inf,
    -math.inf,
    None,
    "0.2",
    [0.2],
    0.2j,
    True,
]


@pytest.mark.parametrize("limit", BAD_LIMITS, ids=repr)
@pytest.mark.parametrize("call", [dp_leakage, lambda v, d: known_source_leakage(v[0], d)])
def test_bad_distortion(call, limit):
    with pytest.raises(ValueError, match=r"distortion = .* must be a number between 0 and 1"):
        call(TWO, limit)


@pytest.mark.parametrize("level", [-0.1, math.nan, math.inf, None, "1"], ids=repr)
def test_bad_level(level):
    with pytest.raises(ValueError, match="epsilon"):
        min_distortion(TWO, level)


BAD_SETS = {
    "sum": ([[0.5, 0.6]], r"vertices\[0\] sums to 1\.1"),
    "negative": ([[0.5, 0.5], [1.5, -0.5]], r"vertices\[1\]|vertices\[1, 1\]"),
    "nan": ([[math.nan, 1]], r"vertices\[0, 0\] = nan is not finite"),
    "vector": ([0.5, 0.5], "vertices must have 2 dimension"),
    "ragged": ([[0.5, 0.5], [1]], "vertices must hold real numbers"),
    "empty": ([], "vertices"),
    "word": ("x", "vertices must hold real numbers"),
    "none": (None, "vertices"),
}


@pytest.mark.parametrize("vertices, message", BAD_SETS.values(), ids=BAD_SETS)
@pytest.mark.parametrize("call", [dp_leakage, min_distortion, lambda v, _: symmetric_threshold(v)])
def test_bad_source_set(call, vertices, message):
    with pytest.raises(InvalidPrior, match=message):
        call(vertices, 0.2)


def test_inputs_are_left_alone():
    vertices = TWO.copy()
    dp_leakage(vertices, 0.3), min_distortion(vertices, 1)
    assert (vertices == TWO).all() and vertices.flags.writeable

"""Class I and II closed forms, colours and mutual information of Kalantari et al., against other methods."""

import json
import math
import pathlib
import re

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import rel_entr

from pmlbook.foundations.leakage import local_dp
from pmlbook.foundations.probability import mutual_information
from pmlbook.hamming.class_one_and_two import (
    class_one_leakage,
    class_two_leakage,
    min_with_censored,
    thresholds,
)
from pmlbook.hamming.colouring import BLACK, RED, WHITE, ZERO, colours, levelled
from pmlbook.hamming.exact import dp_leakage
from pmlbook.hamming.information_barrier import complement, lower_bound
from pmlbook.hamming.known_source import channel_with
from pmlbook.hamming.mechanisms import is_valid
from pmlbook.hamming.mutual_information import (
    mi_leakage,
    replacing_channel,
    worst_case_information,
)
from pmlbook.hamming.source_sets import TABLES, SourceSet
from pmlbook.numerics.validation import InvalidChannel, InvalidPrior

CASES = pathlib.Path(__file__).parents[3] / "shared" / "cases" / "hamming.json"


def reference():
    """(vertices, case) of every reference value."""
    if not CASES.exists():
        pytest.skip("no folder of reference values")
    data = json.loads(CASES.read_text())
    for curve in data["curves"].values():
        yield from ((curve["V"], point) for point in curve["curve"])
    yield from ((case["V"], case) for case in data["random"])


def test_information_reference_values():
    for vertices, case in reference():
        design = mi_leakage(vertices, case["D"])
        assert design.gap < 1e-9
        assert design.bound <= case["mi_ub"] + 1e-10 and design.value >= case["mi_lb"] - 1e-10


def test_no_symbol_is_changed_with_a_probability_above_one():
    """One of the first prior was, by 2^-52."""
    heavy = [0.41726610010031306, 0.2970511937687185, 0.28378868821055275]
    for shares in ([*heavy, 0.0015728595234501285, 0.0003211583969655851], [0.8, 0.1, 0.06, 0.04]):
        leakage, errors = min_with_censored([shares], 0.5, 1)
        assert 0 <= errors.min() and errors.max() <= 1 and leakage < math.inf
        assert math.fsum(p * e for p, e in zip(shares, errors)) + shares[-1] <= 0.5 + 1e-9


def test_class_two_reference_values():
    for vertices, case in reference():
        source = SourceSet(vertices)
        if source.order is not None:
            assert class_two_leakage(source, case["D"]) == pytest.approx(case["eps_fast"], abs=1e-7)
        if source.kind == "I":
            assert class_one_leakage(source.size, case["D"]) == pytest.approx(
                case["eps_fast"], abs=1e-9
            )


def sequential_programme(vertices, D, start):
    """min over Q, r of max_k sum_i P_i D(Q_i || r) in all entries, by a general-purpose solver."""
    k, m = vertices.shape

    def split(x):
        return x[: m * m].reshape(m, m), x[m * m : -1], x[-1]

    def room(x):
        Q, r, top = split(x)
        return top - vertices @ rel_entr(Q, r).sum(axis=1)

    constraints = [
        {"type": "ineq", "fun": room},
        {"type": "ineq", "fun": lambda x: D - vertices @ (1 - np.diag(split(x)[0]))},
        {"type": "eq", "fun": lambda x: np.append(split(x)[0].sum(axis=1), split(x)[1].sum()) - 1},
    ]
    x = np.concatenate([start.ravel(), np.full(m, 1 / m), [2.0]])
    found = minimize(
        lambda x: x[-1],
        x,
        method="SLSQP",
        constraints=constraints,
        bounds=[(1e-9, 1)] * (m * m + m) + [(0, None)],
        options={"maxiter": 300, "ftol": 1e-10},
    )
    return found.fun if found.success else math.nan


@pytest.mark.filterwarnings(
    "ignore:Values in x were outside bounds:RuntimeWarning"
)  # SciPy before 1.16
def test_information_against_a_general_solver():
    rng, solved = np.random.default_rng(1), 0
    for _ in range(8):
        m, k = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        V = rng.dirichlet(np.full(m, 3.0), k)
        D = float(rng.uniform(0.1, 0.4))
        start = np.full((m, m), D / (m - 1)) + np.eye(m) * (1 - D - D / (m - 1))
        other = sequential_programme(V, D, start)
        if math.isfinite(other):
            solved += 1
            assert mi_leakage(V, D).value == pytest.approx(other, abs=2e-6)
    assert solved >= 5


def test_information_certificate_on_hard_sets():
    rng = np.random.default_rng(2)
    for _ in range(60):
        m, k = int(rng.integers(2, 9)), int(rng.integers(1, 6))
        V = rng.dirichlet(np.full(m, rng.choice([0.1, 1, 10])), k)
        V = np.where(V < 0.03, 0, V)
        source = SourceSet(V / V.sum(axis=1, keepdims=True))
        D = float(rng.choice([1e-6, 0.01, rng.random()]))
        design = mi_leakage(source, D)
        assert design.gap < 1e-9
        assert design.method == "constant" or is_valid(design.mechanism.channel, source, D)
        low, high, worst = worst_case_information(source, design.mechanism.channel, 1e-6, 300)
        assert low <= design.value + 1e-10 and design.bound <= high + 1e-10
        assert source.contains(worst / worst.sum())
        assert source.contains(design.distribution)


def test_information_large():
    rng = np.random.default_rng(3)
    V = rng.dirichlet(np.ones(300), 4)
    design = mi_leakage(V, 0.3)
    assert design.gap < 1e-9 and is_valid(design.mechanism.channel, V, 0.3)
    assert mutual_information(design.mechanism.channel, design.distribution) == pytest.approx(
        design.value, abs=1e-7
    )


def test_information_ends():
    source = TABLES["IIIa_6"]
    clear = mi_leakage(source, 0)
    assert (clear.mechanism.channel == np.eye(6)).all() and clear.gap < 1e-8
    assert mi_leakage(source, 1e-9).value == pytest.approx(clear.value, abs=1e-7)
    assert mi_leakage(source, 1).value == 0 and mi_leakage(source, 0.575 + 2e-16).value == 0
    # no answer that is constant and stored keeps 0.575, the threshold in decimals, exactly
    assert mi_leakage(source, 0.575).value < 1e-11
    impossible = mi_leakage([[0.6, 0.4, 0.0]], 0.1)
    assert impossible.value == pytest.approx(mi_leakage([[0.6, 0.4]], 0.1).value, abs=1e-9)
    assert np.allclose(impossible.distribution, [0.6, 0.4, 0], rtol=0, atol=1e-12)


def test_inputs_are_not_modified():
    V = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]])
    Q, before = np.array([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.3, 0.1, 0.6]]), V.copy()
    kept = Q.copy()
    mi_leakage(V, 0.2)
    worst_case_information(V, Q)
    levelled(Q)
    colours(Q)
    assert (V == before).all() and (Q == kept).all()


def test_small_helpers():
    assert complement(np.array([1 - 1e-17, 1e-17])).tolist() == [1e-17, 1.0]
    Q = replacing_channel(np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    assert Q.tolist() == [[1, 0, 0]] * 3
    assert lower_bound(np.array([[0.5, 0.5]]), 0.1, np.ones(1), np.zeros(1)) == 0


def test_closed_forms():
    assert class_one_leakage(5, 0) == math.inf and class_one_leakage(5, 0.8) == 0
    assert thresholds([[0.2, 0.5, 0.3]]).tolist() == pytest.approx([0, 0.2, 0.5])
    assert class_two_leakage([[0.2, 0.5, 0.3]], 0.25) == pytest.approx(math.log(6))
    assert class_two_leakage([[1, 0]], 0) == 0 and class_two_leakage([[0.6, 0.4]], 0) == math.inf
    leak, errors = min_with_censored([[0.5, 0.3, 0.2]], 0.1, 1)
    assert leak == math.inf and errors.size == 0


def test_class_two_is_the_truth():
    rng = np.random.default_rng(4)
    for _ in range(40):
        m, k = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        V = -np.sort(-rng.dirichlet(np.ones(m), k), axis=1)
        shuffled = V[:, rng.permutation(m)]
        D = float(rng.uniform(0.02, 1) * thresholds(shuffled)[-1])
        truth = dp_leakage(shuffled, D)
        assert truth.bound - 1e-8 <= class_two_leakage(shuffled, D) <= truth.value + 1e-8


def test_colours_of_known_mechanisms():
    errors = np.array([0.1, 0.2, 0.3, 1.0])
    paint = colours(channel_with(errors))
    assert paint.tolist() == [
        [WHITE, RED, RED, ZERO],
        [WHITE, BLACK, WHITE, ZERO],
        [WHITE, WHITE, BLACK, ZERO],
        [WHITE, WHITE, WHITE, ZERO],
    ]


def test_levelled_keeps_what_it_must():
    rng = np.random.default_rng(5)
    for _ in range(50):
        m = int(rng.integers(2, 6))
        Q = rng.dirichlet(np.ones(m), m)
        flat = levelled(Q)
        assert np.allclose(flat.sum(axis=1), 1, rtol=0, atol=1e-12) and np.allclose(
            np.diag(flat), np.diag(Q), rtol=0, atol=1e-12
        )
        assert local_dp(flat) <= local_dp(Q) + 1e-12


BAD = [
    (lambda: mi_leakage([[0.5, 0.5]], -0.1), ValueError, "distortion = -0.1"),
    (lambda: mi_leakage([[0.5, 0.5]], 1.5), ValueError, "distortion = 1.5"),
    (lambda: mi_leakage([[0.5, 0.5]], math.nan), ValueError, "distortion = nan"),
    (lambda: mi_leakage([[0.5, 0.5]], "half"), ValueError, "distortion = 'half'"),
    (lambda: mi_leakage([[0.5, 0.4]], 0.1), InvalidPrior, r"vertices\[0\] sums to 0.9"),
    (lambda: worst_case_information([[0.5, 0.5]], np.eye(3)), InvalidChannel, "3 rows"),
    (lambda: class_one_leakage(1, 0.1), ValueError, "size = 1"),
    (lambda: class_one_leakage(2.5, 0.1), ValueError, "size must be a whole number, got 2.5"),
    (lambda: class_one_leakage(3, 2), ValueError, "distortion = 2"),
    (lambda: class_two_leakage([[0.7, 0.3], [0.3, 0.7]], 0.1), ValueError, "different orders"),
    (lambda: min_with_censored([[0.5, 0.3, 0.2]], 0.1, 2), ValueError, "censored = 2"),
    (lambda: min_with_censored([[0.5, 0.3, 0.2]], 0.1, -1), ValueError, "censored = -1"),
    (lambda: colours(np.full((2, 2), 0.5)), ValueError, "leakage 0"),
    (lambda: colours(np.eye(2)), ValueError, "leakage inf"),
    (lambda: levelled([[0.5, 0.5], [0.9, 0.2]]), InvalidChannel, "row 1"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD, ids=[m for _, _, m in BAD])
def test_bad_input(call, error, message):
    with pytest.raises(error, match=re.compile(message)):
        call()

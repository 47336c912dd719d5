"""Balls contain the truth, and the search over a box proves what is true, refutes what is false, and is not fooled."""

import math
from fractions import Fraction

import pytest

pytest.importorskip("flint")
import numpy as np  # noqa: E402

from pmlbook.numerics.balls import (  # noqa: E402
    Ball,
    enclose,
    exp,
    information,
    joint_information,
    ln,
    prove_over,
    shannon_entropy,
    xlogx,
)
from pmlbook.numerics.enclosure import exp_around, ln_around  # noqa: E402
from pmlbook.numerics.linear_programmes import SolverFailed  # noqa: E402

HALF = Fraction(1, 2)


@pytest.mark.parametrize("x", [Fraction(1, 7), Fraction(10**9, 3), 1 + Fraction(1, 10**20)])
def test_two_roads_to_a_logarithm_overlap(x):
    for around, f, at in ((ln_around, ln, x), (exp_around, exp, x / 10**8)):
        (low, high), (below, above) = around(at), enclose(lambda y, f=f: f(y), y=at)
        assert max(low, below) <= min(high, above) and above - below <= Fraction(1, 10**30)


def test_a_ball_over_a_side_contains_every_value():
    rng, f = np.random.default_rng(4), (lambda p: xlogx(p) - ln(1 + p))
    for _ in range(50):
        low, high = sorted(Fraction(int(k), 1000) for k in rng.integers(0, 1000, 2))
        assert prove_over(
            f, {"p": (low, high)}, -1
        )  # -1/e - ln 2 < -1 lies below, but not at the same p
        worst = min(x * math.log(x) - math.log1p(x) for x in np.linspace(low + 1e-9, high, 50))
        gap = Fraction(worst) + Fraction(1, 1000)
        assert prove_over(f, {"p": (low, high)}, gap).status != "proved"


def test_a_false_claim_is_refuted_in_fractions_and_shows_its_value():
    proof = prove_over(lambda p, q: ln(p) - ln(q), {"p": (1, 2), "q": (1, 2)})
    assert proof.status == "refuted" and not proof
    assert all(type(value) is Fraction for value in proof.point.values())
    assert proof.value[1] < 0 and proof.point["p"] < proof.point["q"]


def test_what_touches_is_undecided_and_a_margin_decides_it():
    f, box = (lambda x: x - 1 - ln(x)), {"x": (HALF, 2)}
    assert prove_over(f, box, pieces=300).status == "undecided"
    assert prove_over(f, box, least=Fraction(-1, 10**6))
    assert prove_over(f, box, least=Fraction(1, 10**6)).status == "refuted"


def test_hypotheses_are_used_and_contradictions_are_noticed():
    f, box = (lambda p, q: ln(q) - ln(p)), {"p": (1, 2), "q": (1, 2)}
    ahead = [lambda p, q: q - p - Fraction(1, 10)]
    assert prove_over(f, box, given=ahead)
    assert prove_over(f, box).status == "refuted"
    assert prove_over(f, box, given=[lambda p, q: q - p - 5]).status == "vacuous"
    one_point = [lambda p, q: -((p - q) ** 2), lambda p, q: p * p - 2 + q - q]
    assert prove_over(f, box, -1, one_point, pieces=300).status != "vacuous"


def test_no_pieces_decide_nothing():
    assert prove_over(lambda x: x, {"x": (1, 2)}, pieces=0).status == "undecided"
    assert prove_over(lambda: Ball(1), {}).status == "proved"
    assert prove_over(lambda: Ball(-1), {}).status == "refuted"
    assert prove_over(lambda: ln(2) - ln(2), {}, pieces=50).status == "undecided"


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 1 if x > 0 else 2,
        lambda x: 1 if x == 0 else 2,
        lambda x: 1 if x else 2,
        lambda x: abs(0.5) * x,
        lambda x: max(x, 0),
        lambda x: x**HALF,
        lambda x: x**-1,
        lambda x: None,
        lambda x: "x",
        lambda x: True,
        lambda x: float("nan"),
        lambda x: np.float64(1) * x,
    ],
)
def test_what_is_no_claim_is_refused(f):
    with pytest.raises((ValueError, TypeError)):
        prove_over(f, {"x": (-1, 1)})


@pytest.mark.parametrize(
    "side", [(1, 0), (0.5, 1), (0, math.nan), (0,), (0, 1, 2), "ab", (False, True), None, 1]
)
def test_a_box_of_anything_but_fractions_is_refused(side):
    with pytest.raises(ValueError, match="box: x"):
        prove_over(lambda x: x, {"x": side})


@pytest.mark.parametrize(
    "f",
    [lambda x: 1 / x, ln, xlogx, lambda x: shannon_entropy([x, 1 - x]), lambda x: ln(x) - ln(x)],
)
def test_where_a_function_has_no_value_nothing_is_proved(f):
    proof = prove_over(lambda x: f(x), {"x": (-1, 1)}, least=-(10**6), pieces=300)
    assert proof.status != "proved"


def test_a_point_without_a_value_is_no_enclosure():
    for f in (lambda: ln(0), lambda: 1 / Ball(0), lambda: xlogx(-1)):
        with pytest.raises(SolverFailed, match="no enclosure"):
            enclose(f)
    with pytest.raises(ValueError, match="not 0.5"):
        enclose(lambda x: x, x=0.5)


def test_information_is_entropy_of_what_is_known_for_sure():
    prior = [Fraction(1, 3), Fraction(2, 3)]
    low, high = enclose(lambda: information(prior, [[1, 0], [0, 1]]) - shannon_entropy(prior))
    assert low <= 0 <= high
    low, high = enclose(lambda: information(prior, [[1, 0], [1, 0]]))
    assert low <= 0 <= high


def test_what_is_no_distribution_has_no_information():
    third = Fraction(1, 3)
    with pytest.raises(ValueError, match="prior sums to"):
        enclose(lambda: information([third, third], [[1, 0], [0, 1]]))
    with pytest.raises(ValueError, match="a row of channel sums to"):
        enclose(lambda p: information([HALF, HALF], [[p, 1 + p], [0, 1]]), p=third)
    with pytest.raises(ValueError, match="table sums to"):
        enclose(lambda: joint_information([[third, third]]))
    low, high = enclose(
        lambda p: joint_information([[p, 0], [0, 1 - p]]) - shannon_entropy([p, 1 - p]), p=third
    )
    assert low <= 0 <= high

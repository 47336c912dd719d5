"""The prover proves what is true, refutes what is false, and notices hypotheses that contradict each other."""

import subprocess
import sys
from fractions import Fraction

import pytest

pytest.importorskip("z3")

from pmlbook.numerics.proof import prove, reals, symbols  # noqa: E402


def test_a_true_claim_is_proved_with_a_point_of_its_hypotheses():
    x, y = reals("x y")
    proof = prove(x + y >= 2, given=[x > 0, x * y == 1])
    assert proof and proof.status == "proved"
    assert proof.point["x"] * proof.point["y"] == 1


def test_a_false_claim_is_refuted_in_fractions():
    x, y = reals("x y")
    proof = prove([x * x >= 0, x + y >= 2], given=[x * y == 1])
    assert not proof and proof.status == "refuted"
    assert all(type(value) is Fraction for value in proof.point.values())
    assert proof.point["x"] * proof.point["y"] == 1 and sum(proof.point.values()) < 2


def test_contradictory_hypotheses_prove_nothing():
    (x,) = reals("x")
    assert prove(x == 5, given=[x > 0, x < 0]).status == "vacuous"
    assert not prove(x == x, given=[False])


def test_a_limit_of_steps_leaves_a_hard_claim_undecided():
    p = symbols("p", 6)
    given = [[w > 0 for w in p], sum(p) == 1]
    hard = sum(w**5 for w in p) * 7776 >= 6 + p[0] * p[1] * p[2] - p[3] * p[4] * p[5]
    proofs = [prove(hard, given, steps=20_000) for _ in range(2)]
    assert [proof.status for proof in proofs] == ["undecided"] * 2
    assert all(proof.point == {} for proof in proofs)


def test_the_answer_does_not_depend_on_what_was_asked_before():
    def counterexample():
        x, y = reals("x y")
        return prove(x + y >= 2, given=[x * y == 1]).point

    first = counterexample()
    assert prove(sum(symbols("q", 5)) <= 1).status == "refuted"
    assert counterexample() == first


@pytest.mark.parametrize("claim", ["x > 0", 1, [[1.5]], [], None])
def test_what_is_no_formula_is_refused(claim):
    with pytest.raises(ValueError, match="claim"):
        prove(claim)


def test_a_division_by_zero_is_no_counterexample():
    x, y = reals("x y")
    with pytest.raises(ValueError, match="divides by 0"):
        prove(y * (x / y) == x)
    assert prove(y * (x / y) == x, given=[y != 0])


def test_an_identity_has_no_hypotheses():
    x, y = reals("x y")
    assert prove(x + y == y + x, identity="a sum has no order")
    assert prove(x + y == x, identity="wrong").status == "refuted"
    with pytest.raises(ValueError, match="given must be empty"):
        prove(x + y == y + x, given=[x > 0], identity="a sum has no order")


def test_importing_the_book_needs_no_solver():
    code = (
        "import sys, pmlbook, pmlbook.numerics.proof; assert not {'z3', 'flint'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

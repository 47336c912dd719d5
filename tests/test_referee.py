"""Errata are complete, each has its executed evidence, and what the referee found stays found."""

import itertools
import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from test_results import GRADES, NBS, ROWS, cells, evidence, table

from pmlbook import Mechanism
from pmlbook.budget.composition import compose, worst_joint_level
from pmlbook.foundations import geometric, mutual_information
from pmlbook.foundations.leakage import local_dp
from pmlbook.hamming import SourceSet
from pmlbook.hamming.class_one_and_two import class_two_leakage, min_with_censored, thresholds
from pmlbook.hamming.class_three import _is_group
from pmlbook.hamming.colouring import BLACK, RED, WHITE, colours, levelled
from pmlbook.record_design.algorithms import random_belief
from pmlbook.records import counting
from pmlbook.records.classes import record_problem
from pmlbook.worst_case.dual_certificate import dual_certificate_bound
from pmlbook.worst_case.frontier import worst_case_frontier
from pmlbook.worst_case.problem import worst_value

ERRATA = table(NBS / "errata.csv")
KNOWN = {row["id"]: row for row in ROWS}


def test_errata_name_what_there_is():
    ids = [row["id"] for row in ERRATA]
    assert len(ids) == len(set(ids))
    for row in ERRATA:
        assert all(row[key].strip() for key in row if key != "result"), row["id"]
        assert set(row["result"].split()) <= set(KNOWN)
        assert row["id"].startswith(row["paper"]) and (NBS / row["notebook"]).exists()


def test_every_erratum_has_its_class():
    """What is wrong, or slips of notation or in a proof, is for the authors; what can be left out or improved is not."""
    assert {row["class"] for row in ERRATA} == {"wrong", "slip", "redundant", "improved"}


def test_every_erratum_cites_the_hypothesis_that_its_example_meets():
    """By place in the paper: a numbered result, an equation, a section, or its conclusion."""
    place = re.compile(
        r"(Section|Appendix|Theorem|Lemma|Claim|Remark|Definition|Example|Corollary|Algorithm|Assumption"
        r"|Figure|Table) \w|\(\d+\)|\b[IV]+-[A-Z]\b|\b\d\.\d|Conclusion"
    )
    assert [row["id"] for row in ERRATA if not place.search(row["hypothesis"])] == []


def test_a_result_is_corrected_exactly_where_an_erratum_says_that_it_is_wrong():
    corrected = {row["id"] for row in ROWS if row["status"] in ("corrected", "refuted")}
    wrong = [row["result"].split() for row in ERRATA if row["class"] == "wrong"]
    assert corrected == {name for names in wrong for name in names}


@pytest.mark.parametrize("row", ERRATA, ids=[row["id"] for row in ERRATA])
def test_every_erratum_is_executed(row):
    path = NBS / row["notebook"]
    verbs = "checks", *GRADES, "refutes"
    shown = {name for verb in verbs for name in evidence(path, verb)}
    assert row["id"] in evidence(path, "corrects") or set(row["result"].split()) & shown


def unproved(sources):
    """Labels of the statements after which no proof comes before the next statement."""
    box = r"^:::+ *\{prf:(theorem|lemma|proposition|corollary|proof)\}[^\n]*(?:\n:label: *(\S+))?"
    found = re.findall(box, "\n\n".join(sources), re.MULTILINE) + [("theorem", "the end")]
    return [
        label for (kind, label), (then, _) in itertools.pairwise(found) if kind != "proof" != then
    ]


def test_a_proof_belongs_to_the_statement_before_it():
    first, second = ":::{prf:lemma} A\n:label: a\n:::", "::::{prf:theorem} B\n:label: b\n::::"
    proof, definition = ":::{prf:proof}\nAs said.\n:::", ":::{prf:definition} C\n:label: c\n:::"
    assert unproved([first, definition, proof, second, proof]) == []
    assert unproved([first, second, proof, proof]) == ["a"]
    assert unproved([proof, first]) == ["a"]


STATED = sorted(NBS.rglob("*/*.ipynb"))


@pytest.mark.parametrize("path", STATED, ids=[f"{path.parent.name}/{path.stem}" for path in STATED])
def test_every_statement_has_its_proof(path):
    assert unproved(cells(path, "markdown")) == []


def test_cells_correct_only_what_is_listed():
    paths = [path for path in NBS.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    found = {
        (name, p.relative_to(NBS).as_posix()) for p in paths for name in evidence(p, "corrects")
    }
    assert found <= {(row["id"], row["notebook"]) for row in ERRATA}


def test_each_paper_has_a_page_of_errata():
    contents = (NBS.parent / "docs" / "_toc.yml").read_text(encoding="utf-8")
    for paper in {row["paper"] for row in ERRATA}:
        text = (NBS / "referee" / f"errata_{paper}.md").read_text(encoding="utf-8")
        assert re.search(rf"^<!-- errata {paper} -->$", text, re.M)
        assert f"referee/errata_{paper}\n" in contents


def test_no_value_is_compared_with_a_hidden_tolerance():
    """An absolute tolerance alone carries a relative one of 1e-5; in these parts it is said."""
    hidden = re.compile(r"(?:is|all)close\((?:[^()]|\([^()]*\))*?\batol=")
    for part in ("extremal", "foundations", "large_alphabets"):
        for path in sorted((NBS / part).glob("*.ipynb")):
            for source in cells(path, "code"):
                calls = [m.group() for m in hidden.finditer(source)]
                assert [call for call in calls if "rtol" not in call] == [], path.name


@pytest.mark.parametrize("seed", range(5))
def test_information_is_right_to_the_last_digits(seed):
    rng = np.random.default_rng(seed)
    prior, rows = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(5), 4)
    with mpmath.workdps(40):
        p = [mpmath.mpf(x) / mpmath.fsum(map(mpmath.mpf, prior)) for x in prior.tolist()]
        q = [[mpmath.mpf(x) / mpmath.fsum(map(mpmath.mpf, r)) for x in r] for r in rows.tolist()]
        out = [mpmath.fdot(p, column) for column in zip(*q)]
        exact = mpmath.fsum(w * x * mpmath.log(x / o) for w, r in zip(p, q) for x, o in zip(r, out))
    assert mutual_information(rows, prior) == pytest.approx(float(exact), rel=1e-13, abs=0)


def test_a_best_dual_certificate_need_not_exist():
    table = np.array([[0, 0, 1], [1, 0, 1], [1, 0, 0], [0, 1, 0]]) > 0
    prior = np.array([Fraction(k, 17) for k in (3, 5, 1, 8)])
    limit = np.array([Fraction(k, 34) for k in (9, 0, 9, 16)])
    short = Fraction(1, 10**12)
    near = limit + short * np.array([Fraction(1, 2), 0, Fraction(1, 2), -1])
    assert dual_certificate_bound(table, prior, limit) == Fraction(17, 8)
    assert 0 < Fraction(34, 9) - dual_certificate_bound(table, prior, near) < Fraction(1, 10**10)


def test_closed_under_squares_is_no_group():
    assert not _is_group([(0, 1, 2), (1, 0, 2), (0, 2, 1)])  # each undoes itself
    assert _is_group([(0, 1, 2), (1, 2, 0), (2, 0, 1)])


@pytest.mark.parametrize("seed", range(20))
def test_levelled_rows_have_one_colour(seed):
    rng = np.random.default_rng(seed)
    channel = rng.dirichlet(np.full(m := int(rng.integers(3, 6)), 3.0), m)
    even = levelled(channel)
    assert local_dp(even) <= local_dp(channel) + 1e-12
    assert np.array_equal(np.diag(even), np.diag(channel))
    for i, row in enumerate(colours(even)):
        assert len(set(np.delete(row, i)) & {RED, WHITE, BLACK}) == 1


def test_one_programme_is_enough_for_a_known_order():
    rng = np.random.default_rng(5)
    for _ in range(40):
        m = int(rng.integers(2, 7))
        known = -np.sort(-rng.dirichlet(np.ones(m), 2), axis=1)
        levels = thresholds(known)
        D = rng.uniform(0, levels[-1])
        numbers = np.flatnonzero(levels[:-1] <= D)
        every = [min_with_censored(known, D, int(k))[0] for k in numbers]
        assert math.isclose(class_two_leakage(known, D), min(every), rel_tol=0, abs_tol=1e-9)


TRIANGLE = SourceSet([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])


@pytest.mark.parametrize(("step", "inside"), [(0, True), (1e-12, True), (1e-7, False)])
def test_a_source_set_ends_where_it_ends(step, inside):
    outward = np.array([1, -0.5, -0.5]) * step  # from a vertex, away from the two others
    assert TRIANGLE.contains(TRIANGLE.vertices[0] + outward) is inside


def test_a_vertex_that_sticks_out_a_little_is_kept():
    for share in (0.5, 0.95):  # in the middle of an edge, and next to a vertex that hides it
        edge = share * TRIANGLE.vertices[0] + (1 - share) * TRIANGLE.vertices[1]
        out = edge + np.array([5e-5, 5e-5, -1e-4])  # beyond the edge, by a ten-thousandth
        assert len(SourceSet([*TRIANGLE.vertices, out]).hull().vertices) == 4
        assert len(SourceSet([*TRIANGLE.vertices, edge]).hull().vertices) == 3


def test_what_can_happen_at_all_counts():
    rare = 2.0**-50
    assert worst_value([[1 - rare, rare], [1, 0]], [[0, -9], [0, -1]]) == -9


def test_steps_of_the_frontier_may_be_small():
    """An outcome for a secret of probability .3 leaks 0.0007 nats less than one for .2998."""
    prior, no = [0.2998, 0.4002, 0.3], -1.0
    table = [[0, 1, no, 2, no], [0, 1, no, no, 2], [0, no, 2, no, no]]
    steps = worst_case_frontier(table, prior)
    assert [step.worst for step in steps] == [0, 1, 2]
    least = [-math.log(share) for share in (1, 0.3, 0.2998)]
    assert np.allclose([s.design.value for s in steps], least, rtol=0, atol=1e-9)


def test_rare_secrets_count_in_two_releases():
    """Two releases that together single out a secret of probability 1/1000."""
    prior = [0.001, 0.4995, 0.4995]
    spot = [[1, 0], [1, 0], [0, 1]], [[1, 0], [0, 1], [1, 0]]
    made = [Mechanism(np.array(channel, dtype=float), prior) for channel in spot]
    levels = [mechanism.epsilon for mechanism in made]
    assert compose(*made).epsilon > 6.9
    assert worst_joint_level(prior, *levels) >= compose(*made).epsilon


@pytest.mark.parametrize("b", [0.0, 0.5, 1.2])
def test_a_start_of_the_printed_search_is_a_belief(b):
    rng = np.random.default_rng(2)
    for _ in range(50):
        start = random_belief((2, 2), b, rng)
        assert start.min() >= 0 and abs(start.sum() - 1) < 1e-12
        assert -(start * np.log(np.maximum(start, 1e-300))).sum() >= b - 1e-9


def test_the_uniform_prior_of_classes_counts_datasets():
    problem = record_problem(counting(4), geometric(5, 1.0), 0)
    sizes = np.array([[math.comb(3, c) for c in range(4)]] * 2) / 16
    assert np.allclose(problem.uniform, sizes, rtol=0, atol=1e-15)

"""Source sets, their classes, their folds and the Class III bounds, by other means."""

import subprocess
import sys
from fractions import Fraction
from itertools import permutations
from math import lcm, nan

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import Delaunay

from pmlbook.hamming.class_three import folding_bounds, orbits, symmetric_leakage
from pmlbook.hamming.exact import dp_leakage
from pmlbook.hamming.folding import Folding, fold
from pmlbook.hamming.source_sets import TABLES, SourceSet
from pmlbook.numerics.validation import InvalidPrior

ppl = pytest.importorskip("ppl")

BAD = {
    "sum-low": ([[0.5, 0.5], [0.5, 0.4]], r"vertices\[1\] sums to 0\.9, not to 1"),
    "counts": ([[3, 5]], r"vertices\[0\] sums to 8.*divided by their sum"),
    "negative": ([[0.5, 0.5], [1.5, -0.5]], r"vertices\[1\]\[1\] = -0\.5 is negative"),
    "nan": ([[0.5, nan]], r"vertices\[0, 1\] = nan is not finite"),
    "ragged": ([[0.5, 0.5], [1.0]], r"vertices must hold real numbers"),
    "empty": ([], r"vertices must have 2 dimension.*\(0,\)"),
    "no-symbols": ([[]], r"vertices is empty: shape \(1, 0\)"),
    "one-dimensional": ([0.5, 0.5], r"vertices must have 2 dimension.*\(2,\)"),
    "number": (0.5, r"vertices must have 2 dimension.*\(\)"),
    "words": ([["half", "half"]], r"vertices must hold real numbers.*'half'"),
    "none": (None, r"vertices must hold real numbers.*None"),
}


@pytest.mark.parametrize("bad, message", BAD.values(), ids=BAD)
def test_bad_vertices_are_refused_with_their_place(bad, message):
    with pytest.raises(InvalidPrior, match=message):
        SourceSet(bad)


@pytest.mark.parametrize(
    "bad, message",
    [
        ([0.5, 0.5], "distribution has 2 entries, but there are 3 symbols"),
        ([0.5, 0.4, 0.0], "distribution sums to 0.9"),
        ([[0.5, 0.5, 0.0]], "distribution must have 1 dimension"),
    ],
)
def test_membership_refuses_what_is_no_distribution(bad, message):
    with pytest.raises(InvalidPrior, match=message):
        SourceSet([[0.5, 0.3, 0.2]]).contains(bad)


def test_only_ordered_sets_can_be_ordered():
    with pytest.raises(ValueError, match="different orders"):
        SourceSet([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]).ordered()


def test_the_input_is_copied_and_the_vertices_are_frozen():
    given = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]])
    source_set = SourceSet(given)
    given[0, 0] = 7
    assert source_set.vertices.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    with pytest.raises(ValueError):
        source_set.vertices[0, 0] = 7


def test_one_symbol_and_zeros_are_allowed():
    assert SourceSet([[1]]).kind == "I"
    assert SourceSet([[1, 0, 0]]).kind == "II" and SourceSet([[1, 0, 0]]).contains([1, 0, 0])


def test_membership_agrees_with_a_triangulation():
    rng = np.random.default_rng(0)
    for m in (3, 4):
        for _ in range(5):
            source_set = SourceSet(rng.dirichlet(np.ones(m), size=m + 2))
            simplices = Delaunay(source_set.vertices[:, :-1])
            points = rng.dirichlet(np.ones(m), size=20)
            inside = simplices.find_simplex(points[:, :-1]) >= 0
            assert [source_set.contains(P) for P in points] == inside.tolist()
            assert all(source_set.contains(P) for P in source_set.vertices)


def test_hull_keeps_exactly_the_vertices():
    rng = np.random.default_rng(1)
    for _ in range(10):
        vertices = rng.dirichlet(np.ones(5), size=4)  # independent: each is a vertex
        inner = rng.dirichlet(np.ones(4), size=3) @ vertices
        rows = rng.permutation(np.vstack([vertices, inner]))
        kept = SourceSet(rows).hull().vertices
        assert sorted(map(tuple, kept.round(12))) == sorted(map(tuple, vertices.round(12)))


def test_class_agrees_with_the_definition_read_literally():
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(60):
        m, count = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        cuts = np.sort(rng.integers(0, 13, size=(count, m - 1)), axis=1)
        rows = np.diff(cuts, prepend=0, append=12, axis=1)
        total = np.vstack([rows.T / 12, np.ones(count)])
        centre = np.append(np.full(m, 1 / m), 1)
        uniform = linprog(np.zeros(count), A_eq=total, b_eq=centre).status == 0
        ordered = any((np.diff(rows[:, T]) <= 0).all() for T in permutations(range(m)))
        expected = "I" if uniform else "II" if ordered else "III"
        assert SourceSet(rows / 12).kind == expected
        seen.add(expected)
    assert seen == {"I", "II", "III"}


def _polytope(vertices):
    """The hull of rational points as a ppl polyhedron."""
    system = ppl.Generator_System()
    for row in vertices:
        scale = lcm(*(Fraction(x).denominator for x in row))
        system.insert(ppl.point(ppl.Linear_Expression([int(x * scale) for x in row], 0), scale))
    return ppl.C_Polyhedron(system)


def _vertices(polytope):
    points = [g for g in polytope.minimized_generators() if g.is_point()]
    return sorted(
        [float(Fraction(int(v), int(g.divisor()))) for v in g.coefficients()] for g in points
    )


def test_pieces_and_intersection_agree_with_exact_polyhedra():
    rng = np.random.default_rng(3)
    empty = 0
    for _ in range(12):
        m, count = int(rng.integers(3, 5)), int(rng.integers(2, 5))
        cuts = np.sort(rng.integers(0, 25, size=(count, m - 1)), axis=1)
        rows = np.diff(cuts, prepend=0, append=24, axis=1)
        folding = fold(SourceSet(rows / 24))
        exact, common = {}, None
        for T in permutations(range(m)):
            piece = _polytope([[Fraction(int(x), 24) for x in row[list(T)]] for row in rows])
            for k in range(m - 1):
                piece.add_constraint(ppl.Variable(k) >= ppl.Variable(k + 1))
            if not piece.is_empty():
                exact[T] = piece
                common = ppl.C_Polyhedron(piece) if common is None else common
                common.intersection_assign(piece)
        assert set(exact) == set(folding.permutations)
        for T, piece in exact.items():
            found = sorted(folding.folded[T].hull().vertices.round(12).tolist())
            assert np.allclose(found, _vertices(piece), rtol=0, atol=1e-10)
        assert (folding.intersection is None) == common.is_empty()
        empty += common.is_empty()
        if folding.intersection is not None:
            found = sorted(folding.intersection.hull().vertices.round(12).tolist())
            assert np.allclose(found, _vertices(common), rtol=0, atol=1e-10)
    assert 0 < empty < 12


def test_ties_are_counted_or_left_out():
    uniform = SourceSet([np.full(3, 1 / 3)])
    assert (
        len(fold(uniform).permutations) == 6 and len(fold(uniform, walls=False).permutations) == 1
    )
    assert len(fold(TABLES["II_10"]).permutations) == 4


def test_orbits_agree_with_the_generated_group():
    rng = np.random.default_rng(4)
    for _ in range(40):
        m = int(rng.integers(2, 6))
        given = [tuple(rng.permutation(m).tolist()) for _ in range(int(rng.integers(1, 3)))]
        group = {tuple(range(m))}
        while True:
            more = group | {tuple(a[k] for k in b) for a in given for b in group}
            if more == group:
                break
            group = more
        assert orbits(given).tolist() == [min(g[i] for g in group) for i in range(m)]


def test_the_demand_equals_unfolding_with_the_whole_group():
    rng = np.random.default_rng(5)
    for _ in range(10):
        falling = SourceSet(-np.sort(-rng.dirichlet(np.ones(4), size=2), axis=1))
        group = [(0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2), (1, 0, 3, 2)]
        copies = SourceSet(np.vstack([falling.vertices[:, order] for order in group]))
        D = rng.uniform(0.05, 0.7)
        tied = symmetric_leakage(falling, D, group).value
        assert np.isclose(tied, dp_leakage(copies, D).value, rtol=0, atol=1e-9)


def test_the_bounds_do_not_depend_on_the_names():
    rng = np.random.default_rng(6)
    for _ in range(8):
        rows = rng.dirichlet(np.ones(4), size=2)
        turned = rows[:, rng.permutation(4)]
        one, other = (folding_bounds(fold(SourceSet(v), walls=False), 0.3) for v in (rows, turned))
        assert np.isclose(one.folded, other.folded, rtol=0, atol=1e-9)
        assert np.isclose(one.upper, other.upper, rtol=0, atol=1e-9)
        assert np.isclose(one.lower, other.lower, rtol=0, atol=1e-9, equal_nan=True)


def test_the_lower_bound_is_withheld_where_it_fails():
    three = SourceSet([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.7, 0.2]])
    assert np.isnan(folding_bounds(fold(three), 0.5).lower)
    listed = Folding(
        {(0, 1, 2): SourceSet([[0.7, 0.2, 0.1]]), (1, 2, 0): SourceSet([[0.1, 0.7, 0.2]])}
    )
    assert np.isnan(folding_bounds(listed, 0.5).lower)


def test_folding_has_limits():
    with pytest.raises(ValueError, match="most = 5 orders occur"):
        fold(np.full((1, 3), 1 / 3), most=5)
    assert len(fold([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]]).pieces) == 2
    with pytest.raises(ValueError, match=r"\(0, 0, 1\) is no permutation of 0, ..., 2"):
        symmetric_leakage([[0.7, 0.2, 0.1]], 0.3, [(0, 0, 1)])


def test_nothing_draws_on_import():
    code = (
        "import sys, pmlbook.hamming.exact, pmlbook.hamming.mutual_information, "
        "pmlbook.hamming.class_three, pmlbook.hamming.colouring; "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

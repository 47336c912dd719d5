"""The search for the worst adversary: when it climbs, when it asks other relaxations, and where it stops."""

import numpy as np
import pytest

from pmlbook.foundations.classic import binary_symmetric, geometric
from pmlbook.numerics.progress import Clock
from pmlbook.per_record import record_search
from pmlbook.per_record.certificate import (
    check_entropy,
    kinds,
    leakage_curve,
    per_record_leakage,
)
from pmlbook.per_record.classes import check_query_rows, record_problem
from pmlbook.per_record.data_processing import data_processing_bound
from pmlbook.per_record.posterior_bound import Posteriors, bound_cells, root_vertices
from pmlbook.per_record.queries import Query, modular_sum, pairwise_products
from pmlbook.per_record.record_search import search_prior
from pmlbook.per_record.tilted import best_adversary, climb_tilted

TOL = 1e-3


class Told(Clock):
    """Records its arguments."""

    def __init__(self, limit=900.0):
        super().__init__(limit)
        self.brackets = []

    def tell(self, value, bound):
        self.brackets.append((value, bound))


class Watched:
    """One search, with its parts watched; the first prior and the other relaxations return given values."""

    def __init__(self, monkeypatch):
        self.problem = record_problem(modular_sum(4, 3), binary_symmetric(0.2, 3), 0)
        self.first = self.best = best_adversary(self.problem, 2.0, np.random.default_rng(0), 8)
        self.says = {"separable": np.inf, "outputs": np.inf}
        self.branchings, self.events, self.asked, self.begun = [], [], [], []
        plain = Posteriors.branch

        def branch(relaxation, nodes, clock):
            children = plain(relaxation, nodes, clock)
            self.branchings.append(len(nodes))
            self.events.append((False, self.problem.leakage(children.classes)))
            return children

        def climbed(problem, b, classes, steps, clock):
            found, leakage = climb_tilted(problem, b, classes, steps, clock)
            self.events.append((True, problem.leakage(classes), steps, float(leakage.max())))
            return found, leakage

        def other(name):
            def bound(*parts):
                self.asked.append((name, sum(self.branchings), parts[-1].limit))
                return self.says[name]

            return bound

        def best(problem, b, rng, starts, accuracy, clock):
            self.begun.append((starts, accuracy))
            return self.first

        monkeypatch.setattr(Posteriors, "branch", branch)
        monkeypatch.setattr(record_search, "climb_tilted", climbed)
        monkeypatch.setattr(record_search, "separable_bound", other("separable"))
        monkeypatch.setattr(record_search, "output_bound", other("outputs"))
        monkeypatch.setattr(record_search, "best_adversary", best)

    def run(self, floor=0.0, limit=900.0, ceiling=np.inf, tol=TOL):
        for notes in (self.branchings, self.events, self.asked, self.begun):
            notes.clear()
        self.clock = Told(limit)
        return search_prior(self.problem, 2.0, tol, self.clock, floor, ceiling)


@pytest.fixture
def watched(monkeypatch):
    return Watched(monkeypatch)


def test_it_climbs_from_the_four_best_and_only_when_one_is_better(watched):
    problem = watched.problem
    near = 0.99 * watched.best[0] + 0.01 * problem.uniform
    for prior in (near, problem.uniform):
        value = float(problem.leakage(prior))
        watched.first = prior, value
        assert watched.best[1] - value > TOL
        found = watched.run()
        for event, after in zip(watched.events, [*watched.events[1:], (False,)]):
            if event[0]:
                value = event[3]
                continue
            assert after[0] == (event[1].max() > value + TOL / 10)
            four = np.sort(event[1])[-4:]
            assert not after[0] or after[2] == 20 and np.array_equal(np.sort(after[1]), four)
        assert found.value == value == float(problem.leakage(found.classes))
        assert found.value <= watched.best[1] + 1e-9
        assert watched.best[1] <= found.bound <= found.value + TOL
    assert watched.begun == [(32, TOL / 10)] and watched.branchings[:3] == [1, 2, 4]
    assert not watched.asked and found.method == "branch and bound"
    told = np.array(watched.clock.brackets)
    assert (np.diff(told[:, 0]) >= 0).all() and (np.diff(told[:, 1]) <= 0).all()
    assert watched.clock.brackets[-1] == (found.value, found.bound)


def test_other_relaxations_are_asked_once_unless_more_leaks_anyway(watched, monkeypatch):
    monkeypatch.setattr(record_search, "FIRST_NODES", 29)
    value = watched.best[1]
    for floor, names in (
        (0.0, ["separable", "outputs"]),
        (value, ["separable", "outputs"]),
        (np.nextafter(value, 1), []),
    ):
        watched.run(floor)
        assert [name for name, *_ in watched.asked] == names
        assert all(cut == 14 and 290 < limit <= 300 for _, cut, limit in watched.asked)


@pytest.mark.parametrize(
    "outputs, separable, method, names",
    [(0.5, 2, "output space", 2), (0.5, 0.7, "separable bound", 1), (2, 3, "branch and bound", 2)],
)
def test_who_closes_the_bracket_is_named(watched, monkeypatch, outputs, separable, method, names):
    monkeypatch.setattr(record_search, "FIRST_NODES", 29)
    value = watched.best[1]
    watched.says = {"outputs": value + outputs * TOL, "separable": value + separable * TOL}
    found = watched.run()
    assert found.method == method and found.bound <= value + TOL
    assert len(watched.asked) == names
    assert (sum(watched.branchings) == 14) == (method != "branch and bound")


def test_what_leaks_anyway_is_not_looked_for(watched):
    value = watched.best[1]
    watched.run()
    whole_way, high = len(watched.branchings), value + 0.03
    found = watched.run(high)
    assert 0 < len(watched.branchings) < whole_way
    assert value + TOL < found.bound <= high + TOL and found.value == value
    assert {low for low, _ in watched.clock.brackets} == {high}
    found = watched.run(0.7)  # more than all there is to know
    assert (
        found.bound <= 0.7 and watched.clock.brackets[-1] == (0.7, 0.7) and not watched.branchings
    )
    found = watched.run(ceiling=value + TOL / 2)
    assert found.bound == value + TOL / 2 and not watched.branchings
    assert watched.run(ceiling=0.0).bound == value


def test_batches_and_memory_are_limited(watched, monkeypatch):
    watched.run(tol=TOL / 10)
    assert max(watched.branchings) == 32
    size = watched.problem.rows.size
    cell = bound_cells(watched.problem, 2.0, root_vertices(watched.problem))
    parts = cell.vertices, cell.coefficients, cell.both, cell.classes, cell.reference
    numbers = sum(part.size for part in parts)
    for slack, allowed in ((4, [1, 2, 4]), (3, [1, 2])):
        for limits in ((slack, 2**25), (400_000, 4 * numbers - (4 - slack))):
            monkeypatch.setattr(record_search, "MAX_CELLS", limits[0])
            monkeypatch.setattr(record_search, "MAX_MEMORY", limits[1])
            found = watched.run()
            assert found.method == "too many cells" and watched.branchings == allowed
            assert found.bound > watched.best[1] + TOL
    monkeypatch.undo()
    again = Watched(monkeypatch)
    for at_once in (0, 3, 10):
        monkeypatch.setattr(record_search, "CLIMBING_NUMBERS", at_once * size)
        monkeypatch.setattr(record_search, "NUMBERS_AT_ONCE", at_once * size)
        again.run()
        assert again.begun[0][0] == max(6, at_once) and max(again.branchings) == max(1, at_once)
    found = again.run(limit=0.0)
    assert (
        found.method == "interrupted" and found.bound > again.best[1] + TOL and not again.branchings
    )


@pytest.mark.parametrize("share", [0.9, 0.99])
def test_a_data_processing_bound_that_does_is_the_answer(share):
    problem, tol = record_problem(pairwise_products(4), geometric(7, 1.0), 0), 1e-4
    b = share * problem.largest_entropy
    classes, value = best_adversary(problem, b, np.random.default_rng(0), 32, accuracy=tol / 10)
    dear = data_processing_bound(problem, b, classes)
    for floor in (0.0, dear - tol / 2, dear + tol):
        clock = Told()
        found = search_prior(problem, b, tol, clock, floor)
        enough = dear <= max(value, floor) + tol
        assert (found.method == "data processing") == enough
        assert not enough or (found.value, found.bound) == (value, max(value, dear))
        assert not enough or clock.brackets[-1] == (max(value, floor), max(dear, floor))


@pytest.mark.parametrize("largest", [0.5, 40.0])
def test_the_rounding_of_b_that_is_forgiven(largest):
    assert check_entropy(largest + 0.9e-12 * (1 + largest), largest) == largest
    with pytest.raises(ValueError, match="exceeds the entropy"):
        check_entropy(largest + 1.1e-12 * (1 + largest), largest)


def test_a_curve_has_the_defaults_of_its_points():
    assert leakage_curve.__defaults__ == per_record_leakage.__defaults__[:2]


def test_records_that_are_alike_are_attacked_once():
    flips = [np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([[0.9, 0.1], [0.1, 0.9]])]
    for last in (0, 1):
        each = np.kron(np.kron(flips[0], flips[0]), flips[last])
        bits = [record_problem(Query(sum, [(0, 1)] * 3), each, i) for i in range(3)]
        query = Query(sum, [(0, 1)] * 3)
        assert kinds(query, *check_query_rows(query, each)) == [0, 2][: 1 + last]
        assert kinds(query, *check_query_rows(query, each), Clock(0)) == [0, 1, 2]
        told = [search_prior(bit, 1.7, 1e-3, Clock()) for bit in bits]
        assert abs(told[0].value - told[1].value) < 1e-3  # found anew for each
        assert (abs(told[0].value - told[2].value) < 1e-3) == (last == 0)

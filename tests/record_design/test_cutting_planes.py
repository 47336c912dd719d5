"""Rounds: orbits by listing, rounding, whole matches and small steps."""

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from pmlbook.numerics.progress import Clock
from pmlbook.per_record.queries import counting, parity
from pmlbook.record_design import cutting_planes
from pmlbook.record_design.cutting_planes import (
    AdversarySet,
    DesignSearch,
    Goal,
    Orbits,
    best_against,
    play,
    rounding_loss,
    small_steps,
    solve_master,
)
from pmlbook.record_design.symmetry import parity_min_distortion, parity_min_leakage, setting


def whole_matches(n, b, D, L):
    """For the leakage at D and the distortion at L of a parity."""
    told = []
    bounded, quiet = (
        DesignSearch(setting(parity(n), reduce_symmetry=False), b, goal, 1e-5, Clock())
        for goal in (Goal(D=D), Goal(L=L))
    )
    assert (
        bounded.least == 0
        and bounded.most == 0.5
        and bounded.lower == 0
        and -1e-14 < quiet.lower <= 0
    )
    for q in (bounded.constant, bounded.exact, bounded.within_distortion(bounded.constant)):
        kept = bounded.within_distortion(q)
        assert (
            0 <= min(D, bounded.expected_distortion(q)) - bounded.expected_distortion(kept) <= 1e-14
        )
        assert quiet.within_distortion(q) is q and bounded.within_leakage(q, 9.0) is q
    assert (
        quiet.within_leakage(q, L - 1e-12) is q and quiet.within_leakage(q, L) is not q
    )  # room for the rounding
    share = (quiet.within_leakage(quiet.exact, 2 * L) - quiet.constant)[0, 0] / (
        quiet.exact - quiet.constant
    )[0, 0]
    assert L - 2 * quiet.loss <= 2 * L * share <= L - quiet.loss / 2
    assert np.allclose(
        DesignSearch(bounded.made, b, Goal(D=0.0), 1e-5, Clock()).within_distortion(q),
        bounded.exact,
        rtol=0,
        atol=1e-15,
    )
    assert bounded.worth(q, 0.3) == 0.3 and quiet.worth(q, 9.0) == quiet.expected_distortion(
        quiet.within_leakage(q, 9.0)
    )

    truths = parity_min_leakage(n, D, b), parity_min_distortion(n, L, b)
    for search, truth in zip((bounded, quiet), truths):
        told.clear()
        search.clock = Clock(None, lambda *report: told.append(report[:2]))
        best, learnt, why = play(search, search.within_distortion(search.constant))
        assert why == "cutting planes" and len(told) <= 10
        assert all(low - 1e-9 <= truth <= high + 1e-9 for high, low in told)
        reached = (
            learnt
            if search is bounded
            else search.expected_distortion(search.within_leakage(best, learnt))
        )
        assert (
            truth - 1e-9 <= reached <= truth + 1e-5
            and search.expected_distortion(search.within_distortion(best)) <= max(D, truth) + 1e-5
        )
        for solver, far in (
            (best_against, 1e-4),
            (small_steps, 0.05),
        ):  # both are good against the candidates
            v = solver(
                search.orbits,
                search.goal,
                search.candidates,
                search.orbits.variables(search.constant if search is quiet else search.exact),
                Clock(),
            )
            answer = search.orbits.table(v)
            errs = search.expected_distortion(answer)
            met = search.candidates.information(answer).max()
            limits = (D, truth + far) if search is bounded else (truth + far, L)
            assert errs <= limits[0] + 1e-6 and met <= limits[1] + 1e-6
            late = solver(search.orbits, search.goal, search.candidates, v, Clock(0.0, False))
            assert (late == v).all()
        bound, duals = solve_master(search.orbits, search.goal, search.cuts)
        assert (
            bound <= search.lower + 1e-12
            and truth - 1e-4 < bound <= truth + 1e-9
            and len(duals) == len(search.cuts)
        )
        assert solve_master(search.orbits, search.goal, search.cuts, Clock(0))[0] == -np.inf
    hurried = DesignSearch(setting(parity(n)), b, Goal(D=D), 1e-5, Clock(0.0, False))
    best, learnt, why = play(hurried, hurried.within_distortion(hurried.constant))
    assert (
        why == "interrupted"
        and learnt >= truths[0] - 1e-9
        and hurried.expected_distortion(best) <= D + 1e-15
    )


def test_orbits_translate_as_a_loop_would():
    few = 64 * 2.0**-52  # twice what a sum of 64 terms below one may lose, in any order
    draw = np.random.default_rng(22)
    for made in (
        setting(counting(3)),
        setting(parity(2), reduce_symmetry=False),
        setting(counting(2), np.array([0.4, 0.3, 0.2, 0.1])),
    ):
        orbits, cells = Orbits(made), made.cells
        v = draw.uniform(0.1, 1, made.size)
        assert (orbits.table(v) == v[cells] / v[cells].sum(axis=1, keepdims=True)).all()
        assert np.allclose(orbits.variables(v[cells]), v, rtol=0, atol=few)
        q = draw.uniform(0, 1, cells.shape)
        assert np.allclose(
            orbits.variables(q), [q[cells == k].mean() for k in range(made.size)], rtol=0, atol=few
        )
        gains = draw.uniform(-1, 1, (4, *cells.shape))
        assert np.allclose(
            orbits.gather(gains) @ v, (gains * v[cells]).sum(axis=(1, 2)), rtol=0, atol=1e-12
        )
        assert np.isclose(orbits.cost @ v, (made.cost * v[cells]).sum(), rtol=0, atol=1e-12)
        even = orbits.table(np.ones(made.size))
        assert np.allclose(orbits.rows @ orbits.variables(even), 1, rtol=0, atol=few)
        for gain in gains:
            average = orbits.variables(gain)[
                cells
            ]  # what a mechanism that respects the orbits can choose from
            assert np.isclose(
                orbits.floor(orbits.gather(gain), np.zeros(made.size)),
                average.min(axis=1).sum(),
                rtol=0,
                atol=1e-12,
            )


def test_the_loss_of_rounding():
    for M, symbols in ((2, 2), (9, 5)):
        moved = Decimal(M + 4) * Decimal(2) ** -52
        entropy = -moved * moved.ln() - (1 - moved) * (1 - moved).ln()
        loss = Decimal(rounding_loss(np.zeros((3, M)), symbols))
        assert abs(loss - entropy - moved * Decimal(symbols).ln()) < Decimal("1e-25")


def test_whole_matches_close():
    whole_matches(2, 1.0, 0.2, 0.1)
    whole_matches(2, 0.0, 0.1, 0.3)


def test_small_steps_end_near_the_solver():
    whole = DesignSearch(
        setting(parity(2), reduce_symmetry=False), 0.0, Goal(D=0.25), 1e-9, Clock()
    )
    one = np.zeros((1, 2, 4))
    muted = DesignSearch(whole.made, 0.0, Goal(L=0.02), 1e-9, Clock())
    for game in (whole, muted):
        orbits, candidates = game.orbits, AdversarySet({0: one})
        begin = orbits.variables(game.exact if game is whole else game.constant)
        reached = {}
        for solver in (best_against, small_steps):
            q = orbits.table(solver(orbits, game.goal, candidates, begin, Clock()))
            met, errs = candidates.information(q).max(), game.expected_distortion(q)
            assert (errs if game is whole else met) <= game.goal.limit + 1e-6
            reached[solver] = met if game is whole else errs
        assert reached[best_against] - 1e-9 <= reached[small_steps] <= reached[best_against] + 1e-3


FEW = 64 * 2.0**-52  # twice what a sum of 64 terms below one may lose, in any order


class Solver:
    """In place of the solver: records its arguments, and returns a given answer."""

    answer = None

    def __call__(self, objective, begin, **given):
        self.heard = {**given, "objective": objective, "begin": begin}
        return SimpleNamespace(x=begin if self.answer is None else self.answer)


@pytest.fixture(params=[Goal(D=0.8), Goal(L=0.2)], ids=["distortion", "leakage"])
def asked(request, monkeypatch):
    """A search, its candidates, an allowed start, and the solver that was asked for the best mechanism."""
    solver, draw = Solver(), np.random.default_rng(22)
    monkeypatch.setattr("scipy.optimize.minimize", solver)
    uneven = setting(counting(2), np.array([0.4, 0.3, 0.2, 0.1]))
    game = DesignSearch(uneven, 0.0, request.param, 1e-6, Clock())
    candidates = AdversarySet({i: draw.dirichlet(np.ones(8), 2).reshape(2, 2, 4) for i in (0, 1)})
    start = game.orbits.variables(0.3 * game.exact + 0.4 * game.constant + 0.1)
    assert (best_against(game.orbits, request.param, candidates, start, Clock()) == start).all()
    return game, request.param, candidates, start, solver


def test_the_solver_starts_where_it_may_and_as_high_as_it_must(asked):
    game, goal, candidates, start, solver = asked
    q, size = game.orbits.table(start), game.orbits.size
    begin, tell = solver.heard["begin"], solver.heard["constraints"]
    told, errs = candidates.information(q), game.expected_distortion(q)
    worth = told.max() if goal.L is None else errs
    assert np.isclose(solver.heard["objective"](begin), worth, rtol=0, atol=FEW)
    rooms = [each["fun"](begin) for each in tell]
    assert abs(rooms[0]).max() < FEW and min(rooms[1]) >= -FEW
    most = told.max() if goal.L is None else goal.L
    assert np.allclose(rooms[1], most - told, rtol=0, atol=FEW)
    assert goal.L is not None or np.isclose(rooms[2], goal.D - errs, rtol=0, atol=FEW)
    bounds = solver.heard["bounds"]
    assert [low for low, _ in bounds] == [0] * len(begin)  # no probability above 1
    assert [high for _, high in bounds[:size]] == [1] * size
    assert bounds[size:] in ([], [(0, None)])


def test_slopes_are_those_of_the_functions(asked):
    game, _, _, _, solver = asked
    begin, draw = solver.heard["begin"], np.random.default_rng(3)
    pairs = [(solver.heard["objective"], solver.heard["jac"])]
    pairs += [(each["fun"], each["jac"]) for each in solver.heard["constraints"]]
    for fun, slope in pairs:
        assert np.shape(slope(begin))[-1] == len(begin)
        for there in draw.dirichlet(np.ones(3), (4, 4)):  # on the way to other mechanisms
            other = np.append(game.orbits.variables(there), begin[game.orbits.size :] + 0.3)
            move = 1e-5 * (other - begin)
            rise = (fun(begin + move) - fun(begin - move)) / 2
            assert np.allclose(slope(begin) @ move, rise, rtol=0, atol=1e-12)


def test_an_answer_whose_rows_are_no_distributions_is_not_taken(asked):
    game, goal, candidates, start, solver = asked
    begin, size = solver.heard["begin"], game.orbits.size
    for answer, taken in (
        (begin * (1 + 0.9e-6), True),
        (begin * (1 + 1.1e-6), False),
        (begin + 0.1 * np.eye(len(begin))[0], False),
        (begin * np.where(np.arange(len(begin)) == 1, np.nan, 1), False),
        (begin * np.inf, False),
    ):
        solver.answer = answer
        got = best_against(game.orbits, goal, candidates, start, Clock())
        assert (got == (answer[:size] if taken else start)).all()
    solver.answer = np.append(game.orbits.variables(game.exact) * (1 + 5e-7), begin[size:])
    assert best_against(game.orbits, goal, candidates, start, Clock()).max() == 1.0


@pytest.fixture
def known():
    """Two adversaries: one for whom the data are ignored, one who learns."""
    priors = np.zeros((2, 2, 3))
    priors[0, 0, 0] = priors[0, 1, 2] = 0.5
    priors[1] = [[0.25, 0.25, 0], [0, 0.25, 0.25]]
    return priors


@pytest.fixture
def scripted(monkeypatch, known):
    """Run a search whose rounds reach given gaps and whose certificates miss given amounts."""

    def run(distances, certified=(0.0,), tol=1e-3, limit=None, slope=1.0):
        gaps, overlooked = iter(distances), iter(certified)
        search = DesignSearch(setting(counting(2)), 0.0, Goal(D=0.2), tol, Clock(limit))
        search.lower, search.local, search.slope = 0.1, 0.5, slope
        seen = SimpleNamespace(search=search, limits=[], accuracies=[])

        def play_round(search, q):
            seen.limits.append(search.clock.limit)
            search.local = search.lower + next(gaps)
            return q

        def certify(made, q, b, accuracy, clock):
            seen.accuracies.append(accuracy)
            learnt = search.local + next(overlooked)
            return AdversarySet({0: known[:1]}), learnt, learnt

        monkeypatch.setattr(cutting_planes, "play_round", play_round)
        monkeypatch.setattr(cutting_planes, "certify", certify)
        _, learnt, why = play(search, search.exact)
        assert learnt == search.local + certified[len(seen.accuracies) - 1]
        return (len(seen.limits), why), seen

    return run


def test_rounds_end_without_progress_or_at_the_tolerance(scripted):
    idle, most = cutting_planes.IDLE_ROUNDS, cutting_planes.MAX_ROUNDS
    for distances, tol, ended in (
        ([0.4] * 300, 1e-3, (idle, "no progress")),
        ([0.4 * 0.91**k for k in range(300)], 1e-9, (idle, "no progress")),
        ([0.3, *[0.3] * 300], 1e-3, (idle + 1, "no progress")),
        ([0.4] * (idle - 1) + [0.3] * 300, 1e-3, (2 * idle, "no progress")),
        ([0.4 * 0.89**k for k in range(300)], 1e-12, (most, "no progress")),
        ([0.6e-3, 0.501e-3, 0.499e-3, 0], 1e-3, (3, "cutting planes")),
    ):
        assert scripted(distances, tol=tol)[0] == ended


def test_an_adversary_that_was_missed_makes_another_round(scripted):
    ended, seen = scripted([1e-4] * 5, [0.126e-3, 0.124e-3])
    assert ended == (2, "cutting planes") and len(seen.search.cuts) == 1
    assert sum(map(len, seen.search.candidates.priors.values())) == 1
    ended, seen = scripted([1e-4] * 5, [0.3, 0.2, 0.0], limit=1e6)
    assert ended == (3, "cutting planes") and seen.search.clock.limit == 1e6
    assert all(0.5e6 < limit < 0.9e6 for limit in seen.limits)  # the rest is for the certificate


def test_the_certificate_is_as_accurate_as_the_slope_demands(scripted):
    wide, steep, fine = (
        scripted(distances, tol=tol, slope=slope)[1].accuracies[0]
        for distances, tol, slope in (([1e-4], 1e-3, 1.0), ([1e-4], 1e-3, 3.0), ([0.0], 1e-12, 1.0))
    )
    assert np.isclose(3 * steep, wide, rtol=0, atol=1e-18) and wide <= 1e-3 / 4
    assert 1e-10 < fine <= 1e-9  # no finer than floats allow


@pytest.mark.parametrize(("total", "limit"), [(0.5, 5.0), (2.5, None)])
def test_a_round_keeps_active_and_recent_planes_and_strong_adversaries(
    monkeypatch, known, total, limit
):
    clocks = []

    def solve(orbits, goal, cuts, clock):
        clocks.append(clock)
        return 0.0, total * np.eye(len(cuts))[0]

    monkeypatch.setattr(cutting_planes, "solve_master", solve)
    search = DesignSearch(setting(counting(2)), 0.0, Goal(L=0.2), 1e-3, Clock(limit))
    search.cuts = np.arange(150 * search.orbits.size).reshape(150, -1)
    even = search.orbits.table(np.ones(search.orbits.size) + search.orbits.variables(search.exact))
    search.answer = even.copy
    search.candidates.add(0, np.stack([np.full((2, 3), 1 / 6), known[0]]))  # weak and strong
    cutting_planes.play_round(search, search.exact)
    leaks = search.candidates.information(even)
    assert min(leaks) >= 0.8 * max(leaks)
    assert all((prior > 0.4).any() for prior in search.candidates.priors[0])
    assert len(search.cuts) == 101 and search.cuts[0, 0] == 0 and search.cuts[1, 0] > 0
    assert search.slope == max(1, total) and clocks == [search.clock]

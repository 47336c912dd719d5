"""Rounds of cutting planes: whole matches, small steps, and the loss of rounding."""

from decimal import Decimal

import numpy as np

from pmlbook.numerics.progress import Clock
from pmlbook.record_design.cutting_planes import (
    AdversarySet,
    DesignSearch,
    Goal,
    best_against,
    play,
    rounding_loss,
    small_steps,
    solve_master,
)
from pmlbook.record_design.symmetry import parity_min_distortion, parity_min_leakage, setting
from pmlbook.records.queries import parity


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

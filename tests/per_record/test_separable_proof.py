"""The checker of trees of dual variables: the curve, its maxima, and hints that are nonsense."""

from decimal import Decimal, localcontext

import flint
import numpy as np
import pytest
from record_problems import asked, random_adversaries

from pmlbook.foundations.classic import geometric, randomized_response
from pmlbook.foundations.probability import random_channel
from pmlbook.numerics.progress import Clock
from pmlbook.per_record.proof_checker import BALL_BITS, ProofFailed, interval_problem
from pmlbook.per_record.proof_search import problem_of, record_views
from pmlbook.per_record.proof_separable import (
    Curve,
    SeparableBranching,
    SeparableLeaf,
    SeparableTree,
    approximate_maximum,
    curve_maximum,
    curve_of,
    log_odds_middle,
    output_terms,
    piece_children,
    separable_tree_bound,
)
from pmlbook.per_record.queries import Query, counting, modular_sum, parity
from pmlbook.per_record.separable_dual import separable_rows, starting_dual
from pmlbook.per_record.tilted import own_multiplier


def by_definition(view, b, dual, distribution, y, t):
    "F of an output at a posterior, from the theorem, with fifty digits."
    with localcontext(prec=50):
        total, everyone = Decimal(0), Decimal(sum(map(sum, view.ways)))
        for a, (rows, ways) in enumerate(zip(view.rows, view.ways)):
            exact = [[Decimal(x) / sum(map(Decimal, row)) for x in row] for row in rows.tolist()]
            least = [min(column) for column in zip(*exact)]
            log, mu = (Decimal(t) if a == 0 else 1 - Decimal(t)).ln(), Decimal(dual[1 + a])
            total += least[y] * Decimal(distribution[a]) * log
            for row, n in zip(exact, ways):
                above = [x - w for x, w in zip(row, least)]
                if above.index(max(above)) == y:
                    x = above[y] * log - mu
                    total += Decimal(dual[0]) * n / everyone * (x / Decimal(dual[0]) - 1).exp()
        return total


def ball(x):
    return flint.arb(float(x))


def nonsense(m, dual, rng, depth):
    "An arbitrary tree, with dual variables near given ones."
    nodes, pieces = [], [([(0.0, 1.0)] * (m + 1), 0)]
    while pieces:
        sides, level = pieces.pop(0)
        if level < depth and rng.random() < 0.9:
            y = int(rng.integers(-1, m))
            nodes.append(SeparableBranching(y, float(rng.uniform(*sides[y]))))
            pieces += [(side, level + 1) for side in piece_children(sides, nodes[-1])]
        else:
            nodes.append(
                SeparableLeaf(
                    dual[0] * float(np.exp(rng.normal(0, 0.3))),
                    *(dual[1:] + rng.normal(0, 0.05, 2)).tolist(),
                )
            )
    return SeparableTree(1e-3, nodes)


def channels_of(rng):
    """Queries with channels: symmetric, erasures, more than a mode, random."""
    return [
        (modular_sum(5, 3), randomized_response(3, 1.0)),
        (parity(4), np.array([[0.7, 0.1, 0.2], [0.05, 0.75, 0.2]])),
        (counting(3), geometric(4, 0.7)),
        (Query(max, [(0, 1), (0, 1)]), random_channel(4, 3, rng)),
    ]


def test_the_curve_in_fifty_digits():
    rng = np.random.default_rng(2)
    for query, channel in channels_of(rng):
        for view in record_views(query, channel):
            dual, share = (0.3, -0.4, -0.2), 0.4
            with flint.ctx.workprec(BALL_BITS):
                here = interval_problem(view, 0.5)
                known = output_terms(view, here)
                distribution = (flint.arb(share), 1 - flint.arb(share))
                for y in range(view.rows[0].shape[1]):
                    curve = curve_of(
                        known,
                        y,
                        distribution,
                        flint.arb(dual[0]),
                        tuple(map(flint.arb, dual[1:])),
                    )
                    for t in (1e-9, 0.3, 0.9):
                        found = curve.part(0, flint.arb(t)) + curve.part(1, 1 - flint.arb(t))
                        exact = by_definition(view, 0.5, dual, (share, 1 - Decimal(share)), y, t)
                        assert abs(found - flint.arb(str(exact))) < 1e-28
                for a, rows in enumerate(here.rows):
                    counted = sum(len(places[a]) for places in known.separable_rows)
                    assert counted == rows.nrows()
                    for row in rows.tolist():
                        assert all(pair[a] <= x for pair, x in zip(known.common, row))


def test_summits_are_never_understated():
    rng = np.random.default_rng(2)
    slow = 0
    for trial in range(120):
        logs = tuple(ball(x) for x in rng.choice([0, 0.001, 0.3], 2))
        powers = tuple(
            [
                (ball(x), ball(e))
                for x, e in zip(rng.gamma(1, size=k), rng.choice([0, 0.2, 1, 1.5, 8], k))
            ]
            for k in rng.integers(0, 3, size=2)
        )
        curve = Curve(logs, powers)
        low, high = (
            np.sort(rng.random(2)).tolist()
            if trial % 2
            else ((0.0, 1.0), (0.0, 1e-9), (0.999, 1.0), (0.4, 0.4))[trial // 2 % 4]
        )
        t = low + (high - low) * np.linspace(1e-9, 1 - 1e-9, 20_001)
        net = float(logs[0]) * np.log(np.maximum(t, 1e-300)) + float(logs[1]) * np.log(
            np.maximum(1 - t, 1e-300)
        )
        for a, side in enumerate((t, 1 - t)):
            net += sum(float(x) * side ** float(e) for x, e in powers[a])
        seen, most = approximate_maximum(curve, low, high), net.max()
        for more in (1e-3, 1e-6):
            top = float(curve_maximum(curve, low, high, seen + more))
            assert most - 1e-12 <= top
            slow += top > seen + more + 1e-12
        assert (
            abs(seen - most) < 1e-3 * (1 + abs(most)) or high - low < 1e-6 or low == 0 or high == 1
        )
    assert slow < 12


def test_nonsense_proves_only_what_is_true():
    rng = np.random.default_rng(2)
    near = refused = 0
    for query, channel in channels_of(rng):
        view, b, best, value = asked(query, channel, 0.85)
        problem = problem_of(view)
        entropies, learnt = random_adversaries(problem, rng, 3000)
        most = max(value, learnt[entropies >= b].max(initial=0))
        multiplier = own_multiplier(problem, b, best, Clock())
        start = starting_dual(problem, separable_rows(problem), best, max(multiplier, 0.05))
        for depth in (0, 1, 3):
            tree = nonsense(
                view.rows[0].shape[1], np.array([start.multiplier, *start.belief]), rng, depth
            )
            proved = separable_tree_bound(view, b, tree)
            assert proved >= most - 1e-12
            near += bool(proved < 1)
            k = int(rng.integers(len(tree.nodes)))
            node = tree.nodes[k]
            others = [
                [],
                [node, node],
                [SeparableBranching(0, -0.1)],
                [SeparableBranching(99, 0.5)],
                [SeparableLeaf(np.nan, 0.0, 0.0)],
                [SeparableLeaf(-1.0, 0.0, 0.0)],
                [SeparableLeaf(1.0, np.nan, 0.0)],
            ]
            for other in others:
                try:
                    spoiled = tree._replace(nodes=[*tree.nodes[:k], *other, *tree.nodes[k + 1 :]])
                    assert separable_tree_bound(view, b, spoiled) >= most - 1e-12
                except ProofFailed:
                    refused += 1
    assert near > 3 and refused > 60


def test_halfway_in_log_odds():
    """Odds of 1 and 9 have the geometric mean 3."""
    assert abs(log_odds_middle(0.5, 0.9) - 0.75) < 1e-15


@pytest.mark.parametrize("output, at", [(-1, 0.2), (1, 0.5), (0, 1.0)])
def test_a_piece_is_cut_inside(output, at):
    sides = [(0.0, 1.0), (0.2, 0.6)]
    assert piece_children(sides, SeparableBranching(0, 0.5))[0] == [(0.0, 0.5), (0.2, 0.6)]
    with pytest.raises(ProofFailed):
        piece_children(sides, SeparableBranching(output, at))

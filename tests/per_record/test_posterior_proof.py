"""The checker of trees over posteriors: its parts, and hints that are nonsense or spoiled."""

from decimal import Decimal, localcontext

import flint
import numpy as np
from record_problems import asked

from pmlbook.foundations.classic import binary_symmetric, geometric
from pmlbook.foundations.probability import random_channel
from pmlbook.foundations.processing import contraction
from pmlbook.per_record.proof_checker import (
    BALL_BITS,
    ProofFailed,
    RecordView,
    contracts,
    interval_problem,
)
from pmlbook.per_record.proof_posteriors import (
    PosteriorBranching,
    PosteriorLeaf,
    PosteriorTree,
    majorant,
    posterior_tree_bound,
    root_cell,
    tilted_bound,
)
from pmlbook.per_record.proof_search import PosteriorProof, problem_of, record_views
from pmlbook.per_record.queries import Query, counting, parity, threshold


def drawn(problem, rng, n):
    "Adversaries of all sorts: their entropies and leakages."
    present = np.isfinite(problem.log_counts)
    distributions = (
        rng.gamma(rng.choice([0.05, 0.3, 2.0], (n, 1, 1)), size=(n, *present.shape)) * present
        + 1e-300 * present
    )
    distributions = 0.5 * distributions / distributions.sum(axis=(1, 2), keepdims=True)
    distributions += rng.random((n, 1, 1)) * (problem.uniform / 2 - distributions)
    distributions /= distributions.sum(axis=(1, 2), keepdims=True)
    return distributions, problem.entropy(distributions), problem.leakage(distributions)


def random_tree(view, rng, depth):
    "A tree with nonsense at every node."
    a, m, nodes, width = len(view.rows), view.rows[0].shape[1], [], 1
    for level in range(depth + 1):
        inner = rng.random(width) < (level < depth) * 0.9
        for cut in inner:
            i, j = rng.permutation(a)[:2].tolist()
            distributions = [rng.gamma(0.3, size=len(w)).tolist() for w in view.ways]
            distributions = [[x + 1e-9 for x in distribution] for distribution in distributions]
            leaf = PosteriorLeaf(
                float(np.exp(rng.normal(-3, 2))),
                float(rng.choice([0, 0.2 * rng.random(), rng.random()])),
                distributions,
            )
            nodes.append(
                PosteriorBranching(int(rng.integers(m)), i, j, rng.uniform(0.01, 0.99))
                if cut
                else leaf
            )
        width = 2 * int(inner.sum())
    return PosteriorTree(float(contraction_of(view) + rng.choice([0, 1e-3])), nodes)


def contraction_of(view):
    return max(problem_of(view).contractions.max(), 1e-12)


def spoiled(tree, rng):
    "The same tree with one thing changed."
    nodes, k = list(tree.nodes), int(rng.integers(len(tree.nodes)))
    node, what = nodes[k], int(rng.integers(7))
    if what == 0:
        return tree._replace(contraction=tree.contraction * rng.choice([0.5, 0.99, -1, np.nan]))
    if what == 1:
        return tree._replace(nodes=nodes[:k] + nodes[k + 1 :])
    if what in (2, 3):
        nodes[k] = PosteriorBranching(
            int(rng.integers(-1, 6)),
            0,
            int(rng.integers(0, 3)),
            float(rng.choice([0.3, 0.0, 1.0, np.nan])),
        )
    elif isinstance(node, PosteriorBranching):
        nodes[k] = node._replace(at=rng.random(), first=node.second, second=node.first)
    else:
        change = {"multiplier": float(rng.choice([0.0, -1.0, np.nan, node.multiplier / 3]))}
        nodes[k] = node._replace(
            **(change if what < 6 else {"mixing": float(rng.choice([2.0, -0.1, 0.5]))})
        )
    return tree._replace(nodes=nodes)


def by_decimal(view, b, gains, multiplier):
    with localcontext(prec=50):
        everyone, heat, total = Decimal(sum(map(sum, view.ways))), Decimal(multiplier), Decimal(0)
        for ways, gain in zip(view.ways, gains):
            inside = sum(
                Decimal(n) / everyone * (Decimal(k) / heat).exp() for n, k in zip(ways, gain)
            )
            total += (heat / (1 + heat) * inside.ln()).exp()
        return (1 + heat) * total.ln() + heat * (everyone.ln() - Decimal(b))


def test_attacks_see_what_a_list_of_datasets_sees():
    rng = np.random.default_rng(5)
    for query in (counting(4), threshold(3, 2), Query(max, [(0, 1, 2), (0, 1), (0, 1)])):
        rows = random_channel(query.n_values, 3, rng)
        by_list = np.array([rows[v] for v in query.table.flat])
        for record in range(len(query.shape)):
            here = [a for a in record_views(query, rows) if a.record == record]
            listed = [a for a in record_views(query, by_list) if a.record == record]
            assert len(here) == len(listed)
            for one, other in zip(here, listed):
                assert sum(map(sum, one.ways)) == query.table.size
                for distributions, sizes, distributions2, sizes2 in zip(
                    one.rows, one.ways, other.rows, other.ways
                ):
                    table = {
                        tuple(distribution): n for distribution, n in zip(distributions, sizes)
                    }
                    assert table == {
                        tuple(distribution): n for distribution, n in zip(distributions2, sizes2)
                    }


def test_one_attack_for_records_that_are_alike():
    assert [a.record for a in record_views(counting(7), geometric(8, 0.3))] == [0]
    assert len(record_views(Query(max, [(0, 1, 2), (0, 1), (0, 1)]), np.eye(3))) == 2


def test_rows_and_contractions_are_enclosed():
    rng = np.random.default_rng(5)
    grid = np.linspace(1e-9, 1 - 1e-9, 20_001)[:, None]
    for k in range(30):
        rows = (random_channel(3, 4, rng) + 1e-3) ** (1 + k % 3 * 2)
        rows /= rows.sum(axis=1, keepdims=True)
        exact = flint.arb_mat(
            [[flint.arb(x) / sum(map(flint.arb, row)) for x in row] for row in rows.tolist()]
        )
        most = max(
            (1 - (p * q / (grid * p + (1 - grid) * q)).sum(axis=1)).max()
            for p, q in ((rows[0], rows[1]), (rows[0], rows[2]), (rows[1], rows[2]))
        )
        assert contracts(exact, flint.arb(contraction(rows))) and contracts(
            exact, flint.arb(most + 1e-5)
        )
        assert not contracts(exact, flint.arb(most - 1e-3))
    assert contracts(flint.arb_mat([[1, 0], [0, 1]]), flint.arb(1)) and not contracts(
        flint.arb_mat([[1, 0], [0, 1]]), flint.arb(0.999)
    )


def settings_of(rng):
    """Queries, channels and shares of the largest entropy."""
    return [
        (parity(4), binary_symmetric(0.1), 0.8),
        (counting(4), geometric(5, 0.5), 0.8),
        (counting(5), geometric(6, 0.2), 0.97),
        (threshold(9, 4), binary_symmetric(0.2), 0.5),
        (counting(3), np.eye(4), 0.9),  # without noise
        (Query(max, [(0, 1, 2), (0, 1)]), random_channel(3, 2, rng), 0.7),  # three values
        (Query(max, [(0,), (0, 1)]), random_channel(2, 2, rng), 0.5),  # nothing to learn
    ]


def test_trees_of_nonsense_prove_only_what_is_true():
    rng = np.random.default_rng(5)
    settings = settings_of(rng)
    tight = 0
    for query, channel, share in settings[:-1]:
        view, b, best, value = asked(query, channel, share)
        problem = problem_of(view)
        distributions, doubts, learnt = drawn(problem, rng, 4000)
        most = max(value, learnt[doubts >= b].max(initial=0))
        for depth in (0, 2, 4, 6, 6):
            tree = random_tree(view, rng, depth)
            proved = posterior_tree_bound(view, b, tree)
            assert proved >= most - 1e-12
            tight += bool(proved < np.log(len(view.rows)))
    assert tight > 1


def test_spoiled_trees_are_refused_or_true():
    rng = np.random.default_rng(5)
    settings = settings_of(rng)
    refused = 0
    for query, channel, share in settings[:5]:
        view, b, best, value = asked(query, channel, share)
        tree = PosteriorProof(view, b, best, value, value + 0.02).run()
        for _ in range(60):
            try:
                assert posterior_tree_bound(view, b, spoiled(tree, rng)) >= value
            except ProofFailed:
                refused += 1
    assert 100 < refused < 290


def test_the_best_reply_in_fifty_digits():
    rng = np.random.default_rng(5)
    settings = settings_of(rng)
    for query, channel, share in settings[:6]:
        view, b, *_ = asked(query, channel, share)
        gains = [rng.normal(size=len(ways)).tolist() for ways in view.ways]
        with flint.ctx.workprec(BALL_BITS):
            here = interval_problem(view, b)
            exact = [[flint.arb(k) for k in row] for row in gains]
            for multiplier in (1e-3, 0.4, 30.0):
                found = tilted_bound(here, exact, flint.arb(multiplier))
                assert abs(found - flint.arb(str(by_decimal(view, b, gains, multiplier)))) < 1e-33


def test_the_whole_simplex_is_paid_nothing():
    with flint.ctx.workprec(BALL_BITS):
        assert all(abs(float(x)) < 1e-30 for x in majorant(root_cell(3, 2).vertices[0]))


def test_a_large_multiplier_proves_little():
    rows = (np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.2, 0.8], [0.9, 0.1]]))
    view = RecordView(0, rows, ((1, 1), (1, 1)))
    low, high = (
        float(posterior_tree_bound(view, 1.0, PosteriorTree(1.0, [PosteriorLeaf(x, 0.0, None)])))
        for x in (0.01, 1e3)
    )
    assert low < np.log(2) + 0.01 and high > 300

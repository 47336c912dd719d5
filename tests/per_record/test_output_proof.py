"""The checker of trees by value: leaves, chords, and hints that are nonsense or spoiled."""

import flint
import numpy as np
import pytest
from record_problems import asked, random_adversaries
from scipy.special import rel_entr

from pmlbook.foundations.classic import geometric
from pmlbook.foundations.probability import random_channel
from pmlbook.numerics.progress import Clock
from pmlbook.per_record.data_processing import own_multiplier, stationary_point
from pmlbook.per_record.output_bound import boxed, frame
from pmlbook.per_record.proof_checker import ProofFailed, distribution_of, interval_problem
from pmlbook.per_record.proof_outputs import (
    OutputBranching,
    OutputLeaf,
    OutputTrees,
    ValueTree,
    box_bound,
    box_children,
    chord,
    interval_frame,
    intervals,
    mean_ranges,
    output_trees_bound,
)
from pmlbook.per_record.proof_search import OutputProof, negligible_probability, problem_of
from pmlbook.per_record.queries import Query, counting, modular_sum, pairwise_products


def nonsense(view, rng, depth):
    "An arbitrary proof."
    (m,), values = {rows.shape[1] for rows in view.rows}, []
    heat = float(np.exp(rng.normal(-0.5, 1)))
    for a, rows in enumerate(view.rows):
        n, d, nodes, width = len(rows), int(rng.integers(1, 4)), [], 1
        coordinates, middle = rng.normal(size=(n, d)), rng.dirichlet(np.ones(m))
        directions = (
            np.linalg.lstsq(coordinates, rows - middle, rcond=None)[0].T
            if rng.random() < 0.7
            else rng.normal(size=(m, d))
        )
        contraction = float(problem_of(view).contractions[a])
        low, high = coordinates.min(axis=0), coordinates.max(axis=0)
        for level in range(depth + 1):
            inner = rng.random(width) < 0.9 * (level < depth)
            distributions = rng.dirichlet(np.ones(n), width) + 1e-3
            for cut, distribution in zip(inner, distributions.tolist()):
                nodes.append(
                    OutputBranching(int(rng.integers(d)), None) if cut else OutputLeaf(distribution)
                )
            width = 2 * int(inner.sum())
        share = rng.random() * min(1, heat / max(contraction, 1e-9)) * 0.99
        boxes = [(low.tolist(), high.tolist())]
        for k, node in enumerate(nodes):
            box = boxes.pop(0)
            if isinstance(node, OutputBranching):
                j = node.direction
                nodes[k] = OutputBranching(j, float(rng.uniform(box[0][j], box[1][j])))
                boxes += box_children(box, nodes[k])
        ways = middle, directions, coordinates, low, high
        values.append(ValueTree(0.0, contraction, float(share), *(x.tolist() for x in ways), nodes))
    return OutputTrees(heat, rng.dirichlet(np.full(m, 20.0)).tolist(), 0.0, values)


def spoiled(proof, rng):
    "The same proof with one thing changed."
    a, what = int(rng.integers(len(proof.values))), int(rng.integers(9))
    value = proof.values[a]
    k, nodes = int(rng.integers(len(value.nodes))), list(value.nodes)
    if what < 2:
        nodes = nodes[:k] + nodes[k + 1 :] if what else [*nodes[:k], None, *nodes[k + 1 :]]
        value = value._replace(nodes=nodes)
    elif what == 2:
        value = value._replace(least=float(rng.choice([1.01, 2, np.nan])) * value.least)
    elif what == 3:
        value = value._replace(contraction=float(rng.choice([0.9, -1, np.nan])) * value.contraction)
    elif what == 4:
        value = value._replace(mixing=float(rng.choice([2.0, -0.1, np.nan, 0.0])))
    elif what == 5:
        value = value._replace(low=[x / 2 for x in value.low], high=[x / 2 for x in value.high])
    elif what == 6:
        value = value._replace(directions=(rng.random() * np.array(value.directions)).tolist())
    elif what == 7:
        return proof._replace(
            multiplier=float(rng.choice([0.0, -1, np.nan, 0.3])) * proof.multiplier
        )
    else:
        return proof._replace(outputs=[float(rng.choice([0.0, -1.0, 0.5])), *proof.outputs[1:]])
    return proof._replace(values=[*proof.values[:a], value, *proof.values[a + 1 :]])


def test_sums_of_columns_are_never_understated():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, columns = rng.integers(2, 6, size=2)
        weights, slack = rng.dirichlet(np.ones(n)), rng.choice([1e-9, 0.01, 0.3, 5.0])
        table = rng.normal(size=(n, columns)) * rng.choice([0, 1e-6, 1, 1e3], columns)
        distributions = weights + rng.random((3000, 1)) ** 3 * (
            rng.dirichlet(np.full(n, 0.5), 3000) - weights
        )
        distributions = distributions[rel_entr(distributions, weights).sum(axis=1) <= slack]
        ends = mean_ranges(
            [flint.arb(w).log() for w in weights.tolist()],
            [[flint.arb(x) for x in row] for row in table.tolist()],
            flint.arb(slack),
        )
        low, high = (np.array([float(end[k]) for end in ends]) for k in (0, 1))
        seen, wide = distributions @ table, np.ptp(table, axis=0)
        assert (low - 1e-9 * wide <= seen).all() and (seen <= high + 1e-9 * wide).all()
        assert (low >= table.min(axis=0) - 1e-9).all() and (high <= table.max(axis=0) + 1e-9).all()
        if slack > 0.1 and len(distributions) > 500:
            assert (seen.max(axis=0) - seen.min(axis=0) >= 0.3 * (high - low) - 1e-9).mean() > 0.5


def test_a_leaf_against_floats():
    rng = np.random.default_rng(3)
    whole = 0
    for query, channel, share in (
        (counting(6), geometric(7, 0.2), 0.98),
        (pairwise_products(5), geometric(11, 0.3), 0.97),
        (Query(max, [(0, 1, 2), (0, 1), (0, 1)]), random_channel(3, 4, rng), 0.95),
    ):
        view, b, best, value = asked(query, channel, share)
        problem = problem_of(view)
        stationary = stationary_point(
            problem, b, best, own_multiplier(problem, b, best, Clock()), 40, Clock()
        )
        here = interval_problem(view, b)
        distribution = distribution_of(stationary.outputs.tolist(), "q")
        for a, uniform in enumerate(problem.uniform.sum(axis=1)):
            least = negligible_probability(
                float(uniform), len(problem.rows), value, float(here.slack)
            )
            part = frame(problem, a, stationary, float(here.slack) / least if least else np.inf)
            t = 0.5 * min(1, stationary.multiplier / max(part.contraction, 1e-300))
            arrays = [
                x.tolist() for x in (part.middle, part.directions, part.coordinates, *part.box)
            ]
            said = ValueTree(least, float(part.contraction), t, *arrays, [])
            on, n = interval_frame(here, a, said, value), len(part.rows)
            for _ in range(6):
                ends = np.sort(rng.uniform(*part.box, (2, len(part.box[0]))), axis=0)
                low, high = ends if _ else part.box
                reference = rng.dirichlet(np.ones(n)) + 1e-3
                reference /= reference.sum()
                floats = boxed(part, stationary, t, low[None], high[None], reference[None])
                box = intervals(on, low.tolist(), high.tolist())
                if box is None:
                    continue
                assert floats.bound[0] > -np.inf
                found = float(
                    box_bound(
                        on,
                        (flint.arb(stationary.multiplier), distribution),
                        said,
                        box,
                        OutputLeaf(floats.compared[0].tolist()),
                    )
                )
                assert abs(found - floats.bound[0]) < 1e-9
                whole += 1
    assert whole > 20


def test_chords_are_above_the_entropy():
    for low, high in ((0, 0), (0, 1e-30), (1e-300, 1e-20), (0.3, 0.3), (0.2, 0.9), (0, 1)):
        slope, start = chord(flint.arb(low), flint.arb(high))
        for r in np.linspace(low, high, 7).tolist():
            r = flint.arb(r)
            assert not slope * r + start < (r * r.log() if r > 0 else 0)


def test_boxes_are_cut_inside():
    for cut in (
        OutputBranching(0, 2.0),
        OutputBranching(0, -2.0),
        OutputBranching(1, 0.0),
        OutputBranching(-1, 0.0),
        OutputBranching(0, np.nan),
    ):
        with pytest.raises(ProofFailed):
            box_children(([-1.0], [1.0]), cut)
    assert box_children(([-1.0, 0.0], [1.0, 2.0]), OutputBranching(1, 0.5)) == [
        ([-1.0, 0.0], [1.0, 0.5]),
        ([-1.0, 0.5], [1.0, 2.0]),
    ]


def test_nonsense_proves_only_what_is_true():
    rng = np.random.default_rng(3)
    near = 0
    for query, channel, share in (
        (counting(3), geometric(4, 0.5), 0.9),
        (counting(5), geometric(6, 1.0), 0.97),
        (modular_sum(6, 3), 0.5 * np.eye(3) + 1 / 6, 0.9),
        (Query(max, [(0, 1, 2), (0, 1)]), random_channel(3, 3, rng), 0.9),
    ):
        view, b, best, value = asked(query, channel, share)
        doubts, learnt = random_adversaries(problem_of(view), rng, 3000)
        most = max(value, learnt[doubts >= b].max(initial=0))
        for depth in (0, 2, 4, 6) * 4:
            proved = output_trees_bound(view, b, nonsense(view, rng, depth))
            assert proved >= most - 1e-12
            near += bool(proved < np.log(len(view.rows)))
    assert near > 2


def test_spoiled_proofs_are_refused_or_true():
    rng = np.random.default_rng(3)
    refused = 0
    for query, channel, share in (
        (counting(10), geometric(11, 0.1), 0.97),
        (counting(4), geometric(5, 0.1), 0.9),
    ):
        view, b, best, value = asked(query, channel, share)
        proof = OutputProof(view, b, best, value, value + 1e-3).run()
        assert value <= output_trees_bound(view, b, proof) <= value + 1e-3
        for _ in range(30):
            try:
                assert output_trees_bound(view, b, spoiled(proof, rng)) >= value
            except ProofFailed:
                refused += 1
    assert 25 < refused < 59


def test_the_chord_of_a_point_is_the_tangent():
    r = flint.arb(0.3)
    slope, start = chord(r, r)
    assert abs(slope - (r.log() + 1)) < 1e-12 and abs(slope * r + start - r * r.log()) < 1e-12

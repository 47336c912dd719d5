"""Proofs of leakage about one record, handed on: to a file, to another process, with a bad input, at the edges."""

import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.per_record.proof_checker import RecordView, Vertices, interval_problem, vertices_bound
from pmlbook.per_record.proof_outputs import output_trees_bound, sure_conditional_slack
from pmlbook.per_record.proof_posteriors import (
    PosteriorBranching,
    PosteriorLeaf,
    PosteriorTree,
    posterior_tree_bound,
)
from pmlbook.per_record.proof_search import OutputProof, PosteriorProof, problem_of, record_views
from pmlbook.per_record.tilted import best_adversary

COUNT, NOISY = pb.queries.counting(4), pb.mechanisms.geometric(5, 0.5)


@pytest.fixture(scope="module")
def proof():
    return pb.records.leakage_proof(COUNT, NOISY, 2.0, 1e-2)


def test_a_proof_is_checked_by_another_process(proof, tmp_path):
    """With the file, the question and the channel alone."""
    (tmp_path / "proof.json").write_text(proof.to_json())
    script = (
        "import sys, pmlbook as pb; text = open(sys.argv[1]).read();"
        "pb.records.LeakageProof.from_json(text).check(pb.queries.counting(4), pb.mechanisms.geometric(5, float(sys.argv[2])))"
    )
    for noise, code in (("0.5", 0), ("0.6", 1)):
        done = subprocess.run(
            [sys.executable, "-c", script, tmp_path / "proof.json", noise],
            capture_output=True,
            text=True,
        )
        assert done.returncode == code and ("ProofFailed" in done.stderr) == bool(code)


def test_a_proof_survives_pickle(proof):
    again = pickle.loads(pickle.dumps(proof))
    again.check(COUNT, NOISY)
    assert again.to_json() == proof.to_json()


@pytest.mark.parametrize(
    "change, says",
    [
        ({"b": -1.0}, "b = -1"),
        ({"b": True}, "True should be a finite number"),
        ({"b": "2"}, "'2' should be a finite number"),
        ({"value": 10**400}, "not written as Python writes it"),
        ({"bound": 0.1}, "is proved, not 0.1"),
        ({"value": 0.5}, "the witness learns"),
        ({"witness": {"view": 1, "classes": [[1.0]]}}, "no record view 1"),
        ({"witness": {"view": 0, "classes": [[1.0], [1.0]]}}, "a witness must have"),
        ({"witness": {"view": 0}}, "Witness needs view, classes"),
        ({"arguments": []}, "0 arguments for 1 record views"),
        ({"arguments": [{}]}, "an argument should be one of"),
        (
            {"arguments": [{"PosteriorTree": {"contraction": 1.0, "nodes": [[1.0]]}}]},
            "should be a node",
        ),
        (
            {"arguments": [{"PosteriorTree": {"contraction": 1.0, "nodes": [None]}}]},
            "None should be a node",
        ),
        ({"arguments": [{"Vertices": {"distributions": [[1.0]]}}]}, "each choice of classes"),
        (
            {"format": "pmlbook leakage proof 1"},
            "this is no pmlbook leakage proof 3: its format is .*1",
        ),
        ({"format": None}, "this is no pmlbook leakage proof 3: its format is None"),
        ({"more": 1}, "a proof needs format, b, value, bound, witness, arguments"),
    ],
)
def test_what_is_wrong_is_said(proof, change, says):
    text = json.dumps(json.loads(proof.to_json()) | change)
    with pytest.raises(pb.ProofFailed, match=says):
        pb.records.LeakageProof.from_json(text).check(COUNT, NOISY)


@pytest.mark.parametrize(
    "old, new",
    [
        ('"b": ', '"b": 0.0, "b": '),
        ('"bound": ', '"bound": 9.5, "bound": '),
        ('"value": ', '"value": NaN, "value": '),
        ('"b": 2.0', '"b": 2.00'),
    ],
)
def test_a_text_that_two_readers_may_read_differently_is_no_proof(proof, old, new):
    """Of two equal keys one reader takes the first and another the last."""
    text = proof.to_json()
    assert old in text
    with pytest.raises(pb.ProofFailed, match="strict JSON"):
        pb.records.LeakageProof.from_json(text.replace(old, new, 1))


def test_a_proof_with_a_signed_zero_is_read_back(proof):
    signed = replace(proof, value=-0.0)
    assert pb.records.LeakageProof.from_json(signed.to_json()).value == 0


def test_bad_input_is_refused():
    for b, tol, says in (
        (-1.0, 1e-3, "b"),
        (math.nan, 1e-3, "b"),
        (9.0, 1e-3, "exceeds the entropy"),
        (1.0, -1.0, "tol"),
    ):
        with pytest.raises(ValueError, match=says):
            pb.records.leakage_proof(COUNT, NOISY, b, tol)
    with pytest.raises(pb.InvalidChannel):
        pb.records.leakage_proof(COUNT, NOISY[:3], 1.0)


def test_zeros_and_empty_cells():
    """Outputs that identify the record, one that never occurs, and one that is the same for all."""
    channel = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]])
    for query in (pb.queries.counting(2), pb.queries.Query(max, [(0, 1, 2), (0, 1)])):
        for share in (0.0, 0.3, 0.9, 1.0):
            b = share * np.log(query.shape).sum()
            proof = pb.records.leakage_proof(query, channel, b, 1e-2)
            proof.check(query, channel)
            found = pb.per_record_leakage(query, channel, b, 1e-4, progress=False)
            assert proof.value <= found.bound and found.value <= proof.bound


def test_every_kind_of_record_has_an_argument():
    """A proof for one kind is none for two."""
    query = pb.queries.SumQuery([(0, 1), (0, 1), (0, 3)])
    channel = pb.mechanisms.geometric(6, 0.7)
    proof = pb.records.leakage_proof(query, channel, 1.5, 1e-2)
    assert len(record_views(query, channel)) == len(proof.arguments) == 2
    for arguments in (
        proof.arguments[:1],
        proof.arguments[1:],
        (*proof.arguments, proof.arguments[0]),
    ):
        other = pb.records.LeakageProof(proof.b, proof.value, proof.bound, proof.witness, arguments)
        with pytest.raises(pb.ProofFailed, match="arguments for 2 record views"):
            other.check(query, channel)


def test_a_tree_needs_a_node_for_each_cell():
    view = record_views(pb.queries.parity(2), np.eye(2))[0]
    leaf = PosteriorLeaf(0.1, 0.0, None)
    assert (
        posterior_tree_bound(
            view, 1.0, PosteriorTree(1.0, [PosteriorBranching(0, 0, 1, 0.5), leaf, leaf])
        )
        > 0
    )
    for nodes in (
        [],
        [leaf, leaf],
        [PosteriorBranching(0, 0, 1, 0.5), leaf],
        [PosteriorBranching(0, 0, 1, 0.5)] * 2,
    ):
        with pytest.raises(pb.ProofFailed):
            posterior_tree_bound(view, 1.0, PosteriorTree(1.0, nodes))


def test_a_distribution_that_excludes_an_output_is_refused():
    view = record_views(pb.queries.counting(1), np.eye(2))[0]
    assert abs(vertices_bound(view, Vertices([[1.0, 1.0]])) - math.log(2)) < 1e-15
    for distribution in ([1.0, 0.0], [1.0, -1.0], [1.0], [math.nan, 1.0], [math.inf, 1.0]):
        with pytest.raises(pb.ProofFailed):
            vertices_bound(view, Vertices([distribution]))


def test_shares_and_multipliers_outside_their_range_are_refused():
    """A share above one turns a chord upside down, though data processing leaves room for it."""
    view = record_views(pb.queries.counting(10), pb.mechanisms.geometric(11, 0.05))[0]
    b = 0.97 * 10 * math.log(2)
    problem = problem_of(view)
    best, value = best_adversary(problem, b, np.random.default_rng(0), 16, 200)
    proof = OutputProof(view, b, best, value, value + 1e-4).run()
    assert value <= output_trees_bound(view, b, proof) <= value + 1e-4
    tree, roomy = proof.values[0], proof._replace(multiplier=1.0)
    assert output_trees_bound(view, b, roomy) > value
    nowhere = [math.nan] * len(tree.low)
    for change in (
        {"mixing": 1.5},
        {"mixing": -0.5},
        {"contraction": 0.0},
        {"contraction": -1.0},
        {"low": nowhere},
    ):
        spoiled = [tree._replace(**change), *proof.values[1:]]
        with pytest.raises(pb.ProofFailed):
            output_trees_bound(view, b, roomy._replace(values=spoiled))
    for change in ({"multiplier": 0.0}, {"above": -1.0}, {"outputs": proof.outputs[1:]}):
        with pytest.raises(pb.ProofFailed):
            output_trees_bound(view, b, proof._replace(**change))
    tree = PosteriorProof(view, b, best, value, value + 1e-3).run()
    leaf = next(node for node in tree.nodes if isinstance(node, PosteriorLeaf) and node.mixing)
    for change in (
        {"mixing": 1.5},
        {"mixing": -0.5},
        {"multiplier": 0.0},
        {"multiplier": math.nan},
        {"reference": None},
    ):
        with pytest.raises(pb.ProofFailed):
            posterior_tree_bound(
                view, b, PosteriorTree(tree.contraction, [leaf._replace(**change)])
            )


def test_a_value_that_nearly_always_occurs_excludes_no_adversary():
    """A ball around its share contains one; the share of the others excludes that."""
    rows = np.array([[0.9, 0.1]]), np.array([[0.1, 0.9]])
    for digits in (20, 40, 400):
        here = interval_problem(RecordView(0, rows, ((10**digits,), (1,))), 0.0)
        for least, slack in ((0.4, math.inf), (1e-6, math.inf)):
            assert float(sure_conditional_slack(here, 0, least, 0.0)) == slack
        assert float(sure_conditional_slack(here, 0, 0.4, 0.7)) == pytest.approx(
            digits * math.log(10) / 0.4
        )
        for b in (1e-3, digits * math.log(10) / 2):
            here = interval_problem(RecordView(0, rows, ((10**digits,), (1,))), b)
            allowed = float(here.slack) < 0.6 * (
                digits * math.log(10) + math.log(0.6)
            ) + 0.4 * math.log(0.4)
            assert math.isfinite(float(sure_conditional_slack(here, 0, 0.4, 0.0))) == allowed


@pytest.mark.parametrize("tiny", [1e-100, 1e-170, 1e-200, 1e-300, 5e-324])
def test_entries_whose_squares_are_no_floats(tiny):
    """A hint was 0 / 0, and an honest proof was refused."""
    channel = [[0.3, tiny, 0.7], [0.6, tiny, 0.4], [0.05, 0.76, 0.19], [0.1, 0.65, 0.25]]
    proof = pb.records.leakage_proof(pb.queries.counting(3), channel, 2.0, 1e-3)
    proof.check(pb.queries.counting(3), channel)
    found = pb.per_record_leakage(pb.queries.counting(3), channel, 2.0, 1e-4, progress=False)
    assert proof.value <= found.bound and found.value <= proof.bound <= proof.value + 1.1e-3


@pytest.mark.parametrize("short", [1e-15, 1e-14, 1e-13])
def test_just_below_the_largest_entropy_there_is_a_proof(short):
    """There a frame of outputs may miss adversaries by rounding; another argument is taken."""
    query, channel = pb.queries.parity(3), [[0.9, 0.1], [0.1, 0.9]]
    proof = pb.records.leakage_proof(query, channel, 3 * math.log(2) * (1 - short))
    proof.check(query, channel)
    assert proof.value <= proof.bound < 1e-3


def test_a_proof_stays_what_was_checked():
    query, channel = pb.queries.parity(3), [[0.9, 0.1], [0.1, 0.9]]
    proof = pb.records.leakage_proof(query, channel, 1.5, tol=1e-3)
    assert hash(proof) == hash(pickle.loads(pickle.dumps(proof)))
    with pytest.raises(TypeError):
        proof.witness.classes[0][0] = 0.9
    assert pb.records.LeakageProof.from_json(proof.to_json()) == proof


@pytest.mark.parametrize("b, bound", [(math.log(3), 0.0), (1.2, -5.0), (50.0, -5.0)])
def test_more_entropy_than_there_is_proves_nothing(b, bound):
    """A float for ln 3 is above it: the slack was negative, and a large multiplier made any bound of it."""
    query = pb.queries.Query(lambda x: x[0], [(0, 1, 2)])
    tree = PosteriorTree(1.0, [PosteriorLeaf(1e307, 0.0, None)])
    with pytest.raises(pb.ProofFailed):
        pb.records.LeakageProof(b, 0.0, bound, None, (tree,)).check(query, np.eye(3))


@pytest.mark.parametrize("least", [1e-17, 1e-20, 1e-25, 1e-40])
def test_rows_with_a_rare_outcome_have_a_proof(least):
    """Sixty bisections end far from the best point of two rows: honest hints were refused."""
    channel = [[0.01, 0.8, 0.19], [0.375, least, 0.625]]
    query = pb.queries.parity(2)
    bound = pb.per_record_leakage(query, channel, 1.109).bound
    proof = pb.records.leakage_proof(query, channel, 1.109, max_time=5)
    assert proof.bound < bound + 2e-3
    assert pb.records.leakage_proof(query, channel, 1.109, max_time=0).bound >= bound - 1e-9

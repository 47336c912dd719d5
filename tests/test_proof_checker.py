"""The program that checks a proof of leakage: what it loads, how long it is, and that it believes nothing of a file."""

import ast
import json
import math
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import flint
import numpy as np
import pytest

import pmlbook as pb
from pmlbook.numerics.progress import Clock
from pmlbook.per_record import proof_separable
from pmlbook.per_record.leakage_proof import find_vertices
from pmlbook.per_record.proof_checker import (
    BALL_BITS,
    ProofFailed,
    check_proof,
    distribution_of,
    log_total,
    proved_bound,
    views_of_sum,
    witness_information,
)
from pmlbook.per_record.proof_search import (
    OutputProof,
    PosteriorProof,
    SeparableProof,
    problem_of,
    record_views,
)
from pmlbook.per_record.proof_text import read_proof
from pmlbook.per_record.tilted import best_adversary
from pmlbook.release.strict_json import read_object

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "pmlbook"
BASE = [f"per_record/{name}.py" for name in ("__init__", "proof_checker", "proof_text")]
CHECKER = {
    "Vertices": BASE,
    "PosteriorTree": [*BASE, "per_record/proof_posteriors.py"],
    "OutputTrees": [*BASE, "per_record/proof_outputs.py"],
    "SeparableTree": [*BASE, "per_record/proof_separable.py"],
}
FACE = "__init__.py"  # the list of public names, which every import of the package runs
MOST_LINES = 800
PROGRAM = """
import json, sys
from pmlbook.per_record.proof_checker import views_of_sum, check_proof
from pmlbook.per_record.proof_text import read_proof

text, adds, places, channel = json.load(sys.stdin)
views = views_of_sum(adds, channel, places and {k: v for k, v in enumerate(places)})
check_proof(read_proof(text), views)
assert "scipy" not in sys.modules
print(json.dumps([m.__file__ for n, m in sys.modules.items() if n.partition(".")[0] == "pmlbook"]))
"""


def proof_by(kind):
    """A proof with one argument of a kind; the sum and the channel that it is about."""
    n, noisy = 4, pb.mechanisms.geometric(5, 0.05)
    query = pb.queries.counting(n)
    places = None
    share = {"Vertices": 0.0, "OutputTrees": 0.97}.get(kind, 0.8)
    if kind == "SeparableTree":
        n = 7
        query = pb.queries.modular_sum(7, 7)
        places = [*range(7), 0]
        noisy = pb.mechanisms.randomized_response(7, 3.0)
        share = 0.95
    view, b = record_views(query, noisy)[0], share * n * math.log(2)
    best, value = best_adversary(problem_of(view), b, np.random.default_rng(0), 8, 100)
    argument = {
        "Vertices": lambda: find_vertices(view, Clock()),
        "PosteriorTree": lambda: PosteriorProof(view, b, best, value, value + 1e-2).run(),
        "OutputTrees": lambda: OutputProof(view, b, best, value, value + 1e-2).run(),
        "SeparableTree": lambda: SeparableProof(view, b, best, value, value + 1e-2).run(),
    }[kind]()
    assert type(argument).__name__ == kind
    bound = math.nextafter(float(proved_bound(view, b, argument)) + 1e-12, math.inf)
    proof = pb.records.LeakageProof(b, 0.0, bound, None, (argument,))
    return proof, [[0, 1]] * n, places, noisy.tolist()


@pytest.fixture(scope="module", params=list(CHECKER))
def made(request):
    return request.param, *proof_by(request.param)


def checked_alone(*told):
    """The output of a process with the file, the sum and the channel."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(told), capture_output=True, text=True
    )


def test_the_checker_is_short_and_loads_no_search(made):
    kind, proof, adds, places, channel = made
    done = checked_alone(proof.to_json(), adds, places, channel)
    assert done.returncode == 0, done.stderr
    loaded = {Path(name).relative_to(PACKAGE).as_posix() for name in json.loads(done.stdout)}
    assert loaded == {FACE, *CHECKER[kind]}
    lines = sum(len((PACKAGE / n).read_text("utf-8").splitlines()) for n in CHECKER[kind])
    assert lines <= MOST_LINES


def test_a_false_bound_is_refused_there(made):
    kind, proof, adds, places, channel = made
    record = json.loads(proof.to_json()) | {"bound": proof.bound * 0.9}
    done = checked_alone(json.dumps(record), adds, places, channel)
    assert done.returncode == 1 and "ProofFailed: record 0" in done.stderr


def test_a_checker_imports_its_own_modules_only():
    """Also where a line is not run."""
    own = {Path(name).stem for names in CHECKER.values() for name in names} - {"__init__"}
    for name in own:
        tree = ast.parse((PACKAGE / f"per_record/{name}.py").read_text("utf-8"))
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1 and node.module in own
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            for module in names:
                assert module.split(".")[0] not in ("scipy", "pmlbook")


def changed(record, rng):
    """The argument with one number or one node changed, however deep."""
    places = []

    def tree_bound(part, at):
        items = part.items() if isinstance(part, dict) else enumerate(part)
        for key, inner in items:
            if isinstance(inner, (dict, list)):
                tree_bound(inner, (*at, key))
            else:
                places.append((*at, key))

    tree_bound(record, ())
    *path, last = places[rng.integers(len(places))]
    part = record
    for key in path:
        part = part[key]
    old = part[last]
    number = isinstance(old, (int, float)) and not isinstance(old, bool)
    others = [None, [], "x", True, -1, 1e300, 0.5, 2**60, 5e-324]
    others += [old * 0.5, old * 1.001, -old, old + 1] if number else []
    part[last] = others[rng.integers(len(others))]


def test_hints_may_be_anything(made):
    """A forged argument is refused, or the leakage of an adversary who is known is below what it proves."""
    kind, proof, adds, places, channel = made
    known = views_of_sum(adds, channel, places and dict(enumerate(places)))
    problem = problem_of(known[0])
    prior, _ = best_adversary(problem, proof.b + 1e-9, np.random.default_rng(1), 8, 100)
    classes = [row[here].tolist() for row, here in zip(prior, np.isfinite(problem.log_counts))]
    surely = witness_information(known[0], proof.b, classes)
    rng, text, refused = np.random.default_rng(2), proof.to_json(), 0
    for _ in range(60):
        record = json.loads(text)
        changed(record["arguments"], rng)
        try:
            forged = read_proof(json.dumps(record))
            proved = proved_bound(known[0], proof.b, forged.arguments[0])
        except ProofFailed:
            refused += 1
        else:
            assert proved >= surely
    assert refused > 5


def test_arguments_of_another_kind_prove_nothing_false():
    """Under each other's names."""
    proof, adds, _, channel = proof_by("PosteriorTree")
    known = views_of_sum(adds, channel)
    (tree,) = json.loads(proof.to_json())["arguments"][0].values()
    for name in ("Vertices", "OutputTrees", "SeparableTree", "Nothing", "", "__class__"):
        record = json.loads(proof.to_json()) | {"arguments": [{name: tree}]}
        with pytest.raises(ProofFailed):
            check_proof(read_proof(json.dumps(record)), known)


@pytest.mark.parametrize("path", sorted((HERE / "forgeries").glob("*.json")), ids=lambda p: p.stem)
def test_both_strict_readers_refuse_the_same_texts(path):
    """The checker has a reader of its own; a text that is none for the other is none for it, too."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return
    try:
        read_object(text)
        strict = True
    except ValueError as error:
        strict = "no object with keys" in str(error)  # JSON, but no proof either
    with pytest.raises(ProofFailed) as refusal:
        read_proof(text)
    assert ("strict JSON" not in str(refusal.value)) == strict


def test_an_old_file_is_refused_with_one_message():
    for text in ('{"format": "pmlbook leakage proof 2", "b": 1.0}', '{"b": 1.0}', "[]", "3"):
        with pytest.raises(ProofFailed, match="this is no pmlbook leakage proof 3: its format is"):
            read_proof(text)


def test_classes_stand_in_the_order_of_the_channel():
    """For any way to count, in any order; here the values fall where the sums rise."""
    rows = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    query = pb.queries.Query(lambda dataset: 3 - sum(dataset), [(0, 1)] * 3)
    by_sum = views_of_sum([(0, 1)] * 3, rows, {total: 3 - total for total in range(4)})
    for known in (record_views(query, rows), by_sum):
        (view,) = known
        assert [table.tolist() for table in view.rows] == [rows[1:].tolist(), rows[:3].tolist()]
        assert view.ways == ((1, 2, 1), (1, 2, 1))


def test_a_sum_of_anything_but_whole_numbers_is_refused():
    for adds in ([(0, 1.5)], [(0, "1")], [(0, None)]):
        with pytest.raises(TypeError):
            views_of_sum(adds, np.eye(2))


@pytest.mark.parametrize("fine", [0.0, -1.0, 5e-324])
def test_a_proof_cannot_keep_the_checker_busy_by_asking_for_more_than_floats_tell(fine):
    """One number of a file made it look at a curve two hundred times as long; the proof is as good."""
    proof, adds, places, channel = proof_by("SeparableTree")
    view, *_ = views_of_sum(adds, channel, dict(enumerate(places)))
    (tree,) = proof.arguments
    looks = []
    for asked in (tree.fine, fine):
        with patch.object(
            proof_separable, "curve_bound", wraps=proof_separable.curve_bound
        ) as look:
            bound = proved_bound(view, proof.b, tree._replace(fine=asked))
        looks.append(look.call_count)
    assert bound <= proof.bound and looks[1] < 5 * looks[0]


def test_weights_become_a_distribution_and_one_term_may_outweigh_all_others():
    with flint.ctx.workprec(BALL_BITS):
        shares = distribution_of([1.0, 3.0], "a distribution")
        assert all(abs(x - y) < 1e-35 for x, y in zip(shares, (0.25, 0.75)))
        total = log_total([flint.arb(x) for x in (1e9, 1e9 - 1, -1e300)])
        assert abs(total - (10**9 + (1 + flint.arb(-1).exp()).log())) < 1e-20


@pytest.mark.parametrize("bad", [[0.0, 1.0], [-1.0, 2.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_a_distribution_is_positive(bad):
    with pytest.raises(ProofFailed):
        distribution_of(bad, "a distribution")

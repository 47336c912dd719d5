"""Proofs that are handed over: witnesses by listing, and forgeries."""

import json
from fractions import Fraction

import numpy as np
import pytest

from pmlbook.foundations.classic import binary_symmetric, geometric, randomized_response
from pmlbook.numerics.balls import enclose, information
from pmlbook.per_record.certificate import per_record_leakage
from pmlbook.per_record.leakage_proof import LeakageProof, leakage_proof
from pmlbook.per_record.proof_checker import ProofFailed, witness_information
from pmlbook.per_record.proof_search import record_views
from pmlbook.per_record.queries import counting, modular_sum, threshold


def places(record, at=()):
    "Every place of a JSON record."
    yield at
    for key, part in (
        record.items()
        if isinstance(record, dict)
        else enumerate(record)
        if isinstance(record, list)
        else ()
    ):
        yield from places(part, (*at, key))


def forged(text, rng):
    "The same text with something changed somewhere."
    record = json.loads(text)
    everywhere = [at for at in places(record) if at]
    *path, last = everywhere[rng.integers(len(everywhere))]
    part = record
    for key in path:
        part = part[key]
    old, what = part[last], int(rng.integers(6))
    if what == 0:
        del part[last]
    elif what == 1 and isinstance(part, list):
        part.insert(last, old)
    elif what == 2 or not isinstance(old, (int, float)) or isinstance(old, bool):
        junk = [None, [], {}, "x", True, -1, 10**400, [[1]], 0.5]
        part[last] = junk[rng.integers(len(junk))]
    else:
        part[last] = old * [0, -1, 0.5, 1.001, 1 - 1e-9][rng.integers(5)] if what < 5 else 1e300
    return json.dumps(record)


def test_a_witness_learns_what_it_says():
    query, channel = counting(3), geometric(4, 0.5)
    proof = leakage_proof(query, channel, 1.6, 1e-3)
    view = record_views(query, channel)[0]
    weights = [[Fraction(x) for x in row] for row in proof.witness.classes]
    total = sum(map(sum, weights))
    exact = [[Fraction(x) for x in row] for row in channel.tolist()]
    distribution, rows = [], []
    for distributions, table in zip(weights, view.rows):
        distribution.append(sum(distributions) / total)
        places = [channel.tolist().index(row) for row in table.tolist()]
        mixed = [
            sum(w * exact[k][y] / sum(exact[k]) for w, k in zip(distributions, places))
            for y in range(4)
        ]
        rows.append([x / sum(distributions) for x in mixed])
    low, high = enclose(lambda: information(distribution, rows))
    assert low - Fraction(1, 10**16) < proof.value <= high
    entropy = -sum(
        float(w / total) * np.log(float(w / total / n))
        for distributions, ways in zip(weights, view.ways)
        for w, n in zip(distributions, ways)
    )
    assert (
        abs(entropy - 1.6) < 1e-6
        and witness_information(view, entropy - 1e-9, proof.witness.classes) > 0
    )
    with pytest.raises(ProofFailed, match="not surely"):
        witness_information(view, entropy + 1e-9, proof.witness.classes)


def test_forgeries_are_refused_or_true():
    rng = np.random.default_rng(8)
    refused = said = 0
    for query, channel, b, tol in (
        (counting(4), geometric(5, 0.1), 2.6, 1e-4),
        (threshold(3, 2), binary_symmetric(0.2), 1.8, 1e-2),
        (modular_sum(7, 7), randomized_response(7, 3.0), 4.6, 1e-2),
        (counting(2), geometric(3, 0.5), 0.1, 1e-2),
    ):
        text = leakage_proof(query, channel, b, tol).to_json()
        truth = per_record_leakage(query, channel, b, 1e-8, progress=False)
        for _ in range(100):
            try:
                changed = LeakageProof.from_json(forged(text, rng))
                changed.check(query, channel)
            except ProofFailed:
                refused += 1
                continue
            said += 1
            other = (
                per_record_leakage(query, channel, changed.b, 1e-6, progress=False)
                if changed.b != b
                else truth
            )
            assert changed.value <= other.bound and other.value <= changed.bound
    assert refused > 200 and said > 20
    other_names = text.replace("proof 3", "proof 2"), text.replace("b", "c", 1)
    for no_proof in ("", "[]", "{}", "[" * 100_000, *other_names):
        with pytest.raises(ProofFailed):
            LeakageProof.from_json(no_proof)

"""Each reason of the checker to refuse, at both sides of its limit: the last byte, digit, row or level, and the next."""

import hashlib
import json
import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
import readers
import scipy

from pmlbook import Mechanism, estimation_mechanism
from pmlbook.release.certificate import Certificate, Pilot
from pmlbook.release.checker import (
    ROW_TOTAL,
    Refused,
    check,
    load,
    prior_shares,
    require_names,
    require_rows,
    verify_files,
)
from pmlbook.release.sampling import to_weights
from pmlbook.robust import ball_region, box_region
from pmlbook.robust.estimated_prior import PriorRegion

names = ("healthy", "flu", "rare")


answers = to_weights(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]))


honest = Certificate(1.6, answers, [0.6, 0.3, 0.1], names, names).to_json()


def reason(make, *arguments):
    """Why something is refused, or nothing."""
    try:
        make(*arguments)
        return ""
    except Refused as error:
        return str(error)


content = json.loads(honest)


def laid_out(values):
    """An object with one key to a line, as certificates are written."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(values[key])}" for key in values)
    return f"{{\n{lines}\n}}\n".encode()


def changed(**parts):
    """The honest certificate with some of its values replaced, as a file."""
    return laid_out({**content, **parts})


def test_another_value_is_refused():
    assert check(honest.encode())[2] == hashlib.sha256(honest.encode()).hexdigest()
    for parts, said in [
        ({"epsilon": 1}, "epsilon is no float"),
        ({"epsilon": -5e-324}, "epsilon is no float"),
        ({"epsilon": math.nextafter(1000, 2000)}, "epsilon is no float"),
        ({"epsilon": 1000.0}, "another claim"),
        ({"epsilon": 0.0}, "another claim"),
        ({"format": "pmlbook certificate 2"}, "another format"),
        ({"units": 2**53 + 1}, "another units"),
        ({"units": 2.0**53}, "to the letter"),
        ({"holds": False}, "another holds"),
        ({"holds": 1}, "to the letter"),
        ({"largest_lift": content["largest_lift"] + "0"}, "another largest_lift"),
        ({"claim": content["claim"] + " "}, "another claim"),
        ({"inputs": ["a", "b"]}, "another length"),
        ({"outputs": ["a", "b", "c", "d"]}, "another length"),
        ({"more": 1}, "other keys than those"),
    ]:
        assert said in reason(check, changed(**parts))
    assert "other keys" in reason(load, b"[]") and "no JSON" in reason(load, b"{")
    assert "no JSON" in reason(load, b"[" * 10**5) and "no JSON" in reason(load, b"\xff")
    for other in (
        honest.replace("{", '{"epsilon": 1.6, ', 1),
        honest + " ",
        honest.replace("1.6,", "1.60,"),
    ):
        assert "to the letter" in reason(check, other.encode())


def test_a_file_of_33554432_bytes_is_the_longest(tmp_path, capsys):
    full = honest.encode().ljust(2**25)
    assert load(full) == content and "2^25 bytes" in reason(load, full + b" ")
    (tmp_path / "full.json").write_bytes(full + b" ")
    (tmp_path / "honest.json").write_text(honest)
    false = Certificate(1.5, answers, [0.6, 0.3, 0.1], names, names)
    (tmp_path / "false.json").write_text(false.to_json())
    found = [
        verify_files([str(tmp_path / f"{name}.json")])
        for name in ("honest", "false", "full", "none")
    ]
    found.append(verify_files([]))
    assert found == [0, 1, 1, 1, 1] and not false.holds
    lines = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines == ["holds", "sha256", "does not hold", "sha256", "refused", "refused", "refused"]


def test_shares_are_positive_fractions_that_sum_to_one():
    assert prior_shares(["1"]) == ([1], 1) and prior_shares(["1/2", "1/3", "1/6"]) == ([3, 2, 1], 6)
    assert prior_shares([f"1/{2**14}"] * 2**14) == ([1] * 2**14, 2**14)
    assert "very long" in reason(prior_shares, [f"1/{2**14 + 1}"] * (2**14 + 1))
    assert "no list" in reason(prior_shares, "1") and "sum to one" in reason(prior_shares, [])
    odd = [0.5, "0/1", "01/2", "-1/2", "1/02", " 1/2", "1/2\n", "1/0", "1" * 601, "1/1" + "0" * 600]
    for text in odd:
        assert "something else than positive" in reason(prior_shares, [text, "1/2"])
    assert "lowest terms" in reason(prior_shares, ["2/4", "1/2"])
    assert "lowest terms" in reason(prior_shares, ["1/1"]) and "sum to one" in reason(
        prior_shares, ["1/2"]
    )
    widest = 10**600 - 1
    assert prior_shares([f"1/{widest}", f"{widest - 1}/{widest}"]) == ([1, widest - 1], widest)
    primes = [f"1/{10**300 + 1}", f"1/{10**300 + 3}"]
    assert "more than 600 digits" in reason(prior_shares, primes)


def test_rows_are_whole_units():
    even, sure = [ROW_TOTAL // 2, ROW_TOTAL // 2], [ROW_TOTAL, 0]
    (
        require_rows([sure, even], 2),
        require_rows([[ROW_TOTAL]], 1),
        require_rows([[ROW_TOTAL] + [0] * 1023] * 2**10, 2**10),
    )
    require_rows([[ROW_TOTAL] + [0] * (2**14 - 1)], 1)
    for rows, count, said in [
        ([sure], 2, "another length than prior"),
        ((sure,), 1, "another length than prior"),
        ([sure, [ROW_TOTAL]], 2, "ragged"),
        ([[ROW_TOTAL], sure], 2, "ragged"),
        ([tuple(sure)], 1, "ragged"),
        ([[]], 1, "ragged"),
        ([[ROW_TOTAL] + [0] * 2**14], 1, "more than 2^20"),
        ([[ROW_TOTAL] + [0] * 1024] * 2**10, 2**10, "more than 2^20"),
        ([[ROW_TOTAL + 1, -1]], 1, "sum to 2^53"),
        ([[ROW_TOTAL - 1, 0]], 1, "sum to 2^53"),
        ([[float(ROW_TOTAL), 0]], 1, "sum to 2^53"),
        ([[ROW_TOTAL - 1, True]], 1, "sum to 2^53"),
        ([even, [ROW_TOTAL, 1]], 2, "sum to 2^53"),
    ]:
        assert said in reason(require_rows, rows, count)


def test_names_differ_and_are_plain():
    require_names(["a", 1, 0.5, None, False], 5)
    for named, count, said in [
        (["a"], 2, "another length"),
        (("a",), 1, "another length"),
        ([["a"], "b"], 2, "a list or an object"),
        (["a", {}], 2, "a list or an object"),
        (["a", "a"], 2, "two names are equal"),
        ([1, True], 2, "two names are equal"),
        (["\ud800"], 1, "half a character"),
        ([10**40], 1, "a number is long"),
    ]:
        assert said in reason(require_names, named, count)


def test_an_outcome_that_never_occurs_says_nothing():
    mute = Certificate(
        0.5, to_weights(np.array([[1.0, 0.0], [1.0, 0.0]])), [0.5, 0.5], (0, 1), (0, 1)
    )
    assert check(mute.to_json().encode())[0]


def piloted(epsilon, low, high, prior=(0.6, 0.3, 0.1)):
    """The honest mechanism with a pilot of 656 people."""
    pilot = Pilot(656, 0.95, tuple(low), tuple(high))
    return Certificate(epsilon, answers, list(prior), names, names, pilot)


def test_a_pilot_is_decided_for_every_prior_that_it_allows():
    """Against a linear programme for each outcome, in all three readers."""
    rng, verdicts = np.random.default_rng(3), []
    files = []
    for _ in range(30):
        prior = rng.dirichlet([3, 2, 1.0])
        low = np.clip(prior - rng.uniform(0, 0.1, 3), 0, 1)
        high = np.clip(prior + rng.uniform(0, 0.1, 3), 0, 1)
        worst = max(
            np.log(
                column.max()
                / scipy.optimize.linprog(
                    column, A_eq=np.ones((1, 3)), b_eq=[1], bounds=list(zip(low, high))
                ).fun
            )
            for column in (answers / 2**53).T
        )
        for level in (worst * (1 - 1e-9), worst * (1 + 1e-9)):
            proof = piloted(float(level), low.tolist(), high.tolist(), prior / prior.sum())
            verdicts.append(proof.holds)
            files.append(proof.to_json().encode())
    assert verdicts == [False, True] * 30
    expected = readers.library(files)
    assert [verdict == "holds" for verdict, _ in expected] == verdicts
    assert all(found == expected for found in readers.answers(files).values())


def test_no_reader_takes_a_pilot_that_is_none():
    text = piloted(1.8, [0.55, 0.25, 0.07], [0.65, 0.35, 0.13]).to_json()
    good, own = json.loads(text), Certificate(1.8, answers, [0.6, 0.3, 0.1], names, names)
    dated = Certificate(1.8, answers, [0.6, 0.3, 0.1], ("a", "b", "c"), names, None, "date")
    bad = [
        laid_out({key: value for key, value in good.items() if key != dropped})
        for dropped in ("pilot_people", "pilot_confidence", "pilot_low", "pilot_high")
    ]
    for more in (
        {"pilot_people": 0},
        {"pilot_people": 656.0},
        {"pilot_people": True},
        {"pilot_people": 2**53},
        {"pilot_confidence": 1.0},
        {"pilot_confidence": 1},
        {"pilot_low": [0.7, 0.25, 0.07]},
        {"pilot_low": [0.55, 0.25]},
        {"pilot_low": [0.55, 0.25, -0.0]},
        {"pilot_low": [0.55, 0.25, 0]},
        {"pilot_low": "none"},
        {"pilot_high": [0.6, 0.3, 0.05]},
        {"pilot_high": [0.65, 0.35, 1.5]},
        {"pilot_low": [0.65, 0.35, 0.07]},
        {"pilot_low": [0.0, 0.0, 0.0]},  # then it does not hold
        {"input_kind": "date"},  # behind the pilot
    ):
        bad.append(laid_out(good | more))
    bad.append(laid_out(json.loads(own.to_json()) | {"claim": good["claim"]}))
    bad.append(text.replace(" and every prior that the pilot allows", "").encode())
    for kind in ("fruit", 7, ""):
        bad.append(laid_out(json.loads(dated.to_json()) | {"input_kind": kind}))
    numbers = Certificate(1.8, answers, [0.6, 0.3, 0.1], (1, 2, 3), names)
    bad.append(laid_out(json.loads(numbers.to_json()) | {"input_kind": "date"}))
    fine = [text.encode(), dated.to_json().encode()]
    for found in readers.answers(bad).values():
        assert found == [readers.REFUSED] * len(bad)
    for found in readers.answers(fine).values():
        assert [verdict for verdict, _ in found] == ["holds", "holds"]


def test_dates_are_stored_as_their_texts_and_said_to_be_dates():
    days = date(2024, 2, 29), date(2024, 3, 1)
    made = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], days)
    proof = made.certify(1.0)
    again = Certificate.from_json(proof.to_json())
    assert again == proof and again.inputs == ("2024-02-29", "2024-03-01")
    assert again.input_kind == "date" and '"input_kind": "date"' in proof.to_json()
    released = Mechanism.from_certificate(again).privatize(list(days) * 50)
    assert set(released) == {"r0", "r1"}
    mixed = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], (days[0], "never"))
    with pytest.raises(ValueError, match="cannot be written to JSON"):
        mixed.certify(1.0).to_json()


def test_a_region_from_counts_is_carried_by_the_certificate():
    counts = pd.Series([300, 250, 106], list("cab"))
    region = box_region(counts, 0.9)
    made = estimation_mechanism(region, 0.5).mechanism
    proof = made.certify(0.5, region)
    assert proof and (proof.pilot.people, proof.pilot.confidence) == (656, 0.9)
    assert proof.pilot.low == tuple(region.low) and not made.certify(0.45, region)
    turned = box_region(counts[["a", "b", "c"]], 0.9)
    assert made.certify(0.5, turned) == proof  # by the names, in any order
    for other in (ball_region(counts), PriorRegion([0.5, 0.3, 0.2], [0.0] * 3, [1.0] * 3)):
        with pytest.raises(ValueError):
            made.certify(0.5, other)

"""A certificate is read by three readers, and none of them can be fooled: forgeries, other spellings, copies."""

import ast
import copy
import csv
import ctypes
import hashlib
import json
import os
import pickle
import platform
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import forging
import numpy as np
import oracles
import pandas as pd
import pytest
import readers
from hypothesis import given
from strategies import levels, pairs

from pmlbook import Mechanism
from pmlbook.release import checker
from pmlbook.release.certificate import Certificate, exact_prior, exp_below
from pmlbook.release.sampling import UNITS
from pmlbook.release.strict_json import MAX_BYTES

FORGERIES = Path(__file__).parents[1] / "forgeries"
NEED_NODE = pytest.mark.skipif(not readers.NODE, reason="no Node; the browser's tests read these")


def table():
    """The rows of the table of forgeries."""
    with open(FORGERIES / "cases.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


ROWS = table()
FILES = [(FORGERIES / f"{row['name']}.json").read_bytes() for row in ROWS]
DUE = {row["name"]: row["verdict"] for row in ROWS}
HALF = UNITS // 2
COIN = [[3 * UNITS // 4, UNITS // 4], [UNITS // 4, 3 * UNITS // 4]]
HONEST = Certificate(0.6, COIN, (Fraction(1, 3), Fraction(2, 3)), ("no", "yes"), ("nay", "aye"))


# The table of forgeries


def test_table_is_what_it_should_be():
    assert {f"{row['name']}.json" for row in ROWS} == {p.name for p in FORGERIES.glob("*.json")}
    verdicts = [row["verdict"] for row in ROWS]
    assert verdicts.count("refused") >= 60 and len(set(FILES)) == len(FILES)
    assert verdicts.count("holds") >= 15 and verdicts.count("does not hold") >= 5
    assert all(row["reason"] for row in ROWS)


@pytest.mark.parametrize(
    "reader",
    [readers.library, readers.checker, pytest.param(readers.javascript, marks=NEED_NODE)],
    ids=lambda reader: reader.__name__,
)
def test_reader_on_the_table(reader):
    found = reader(FILES)
    assert {row["name"]: verdict for row, (verdict, _) in zip(ROWS, found)} == DUE
    assert [digest for _, digest in found] == [digest for _, digest in readers.library(FILES)]


@pytest.mark.parametrize("name", ["valid-coin", "valid-fails", "identity-old-claim", "text-bom"])
def test_checker_as_a_program(name):
    path = FORGERIES / f"{name}.json"
    command = [sys.executable, "-I", "-O", readers.CHECKER, path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == (DUE[name] != "holds") and not done.stderr
    assert done.stdout.startswith(DUE[name] + ": ")
    if DUE[name] != "refused":
        assert Certificate.from_json(path.read_text(encoding="utf-8")).digest in done.stdout


def test_checker_stands_alone():
    """It imports the standard library only, and nothing in it goes away with `python -O`."""
    nodes = list(ast.walk(ast.parse(readers.CHECKER.read_text(encoding="utf-8"))))
    assert not any(isinstance(node, ast.Assert) for node in nodes)
    assert not any(isinstance(node, ast.Name) and node.id == "__debug__" for node in nodes)
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    other = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    roots = {name.partition(".")[0] for name in plain | other}
    assert roots <= sys.stdlib_module_names


def test_script_stands_alone():
    text = readers.SCRIPT.read_text(encoding="utf-8")
    for word in ("import ", "require(", "fetch(", "XMLHttpRequest", "http:", "https:", "eval("):
        assert word not in text


# Differential fuzzing


def test_readers_agree_on_what_chance_writes():
    count = int(os.environ.get("PMLBOOK_FUZZ_CASES", 1000))
    files = list(forging.files(count, seed=12))
    found = readers.answers(files)
    assert found["checker"] == found["library"]
    assert found.get("javascript", found["library"]) == found["library"]
    verdicts = [verdict for verdict, _ in found["library"]]
    assert all(verdicts.count(v) > count / 10 for v in ("holds", "does not hold", "refused"))


def test_readers_agree_on_random_floats():
    """A name is any float, and a level any from 0 to 1000; JavaScript and Python spell them alike."""
    rng = np.random.default_rng(53)
    numbers = rng.integers(0, 2**64, size=4000, dtype=np.uint64).view(np.float64)
    numbers = np.r_[numbers[np.isfinite(numbers)], rng.normal(size=1000), 10.0 ** np.arange(-6, 25)]
    names = tuple(dict.fromkeys(numbers.tolist()))
    rows = [[UNITS]] * len(names)
    small = [*(2.0**-k for k in range(0, 1075, 7)), *(10.0**-k for k in range(30, 45)), 9.99e-40]
    certificates = [
        Certificate(0.0, rows, (Fraction(1, len(names)),) * len(names), names, ("all",))
    ] + [Certificate(level, COIN, HONEST.prior, (0, 1), (0, 1)) for level in small]
    due = [
        ("holds" if certificate else "does not hold", certificate.digest)
        for certificate in certificates
    ]
    for found in readers.answers([c.to_json().encode() for c in certificates]).values():
        assert found == due


def test_texts_that_are_too_long_are_refused_and_the_longest_is_not():
    """A name fills the text; it stands in the claim as well."""
    room = MAX_BYTES - len(replace(HONEST, outputs=("", "x")).to_json())
    longest = replace(HONEST, outputs=("y" * (room // 2), "x"))
    text = longest.to_json()
    assert len(text) == MAX_BYTES - room % 2 and Certificate.from_json(text) == longest
    assert readers.checker([text.encode()]) == [("holds", longest.digest)]
    with pytest.raises(ValueError, match="at most 33554432 are written"):
        replace(longest, outputs=("y" * (room // 2 + 1), "x")).to_json()
    for data in (f"{text}  ".encode(), text.encode() + "é".encode() * (MAX_BYTES // 2)):
        assert readers.checker([data]) == readers.library([data]) == [readers.REFUSED]


@pytest.mark.parametrize(
    "rows, columns, fits",
    [(2**14, 1, True), (2**14 + 1, 1, False), (1, 2**14 + 1, False)]
    + [(64, 2**14, True), (65, 2**14, False)],
)
def test_size_of_the_matrix_is_limited(rows, columns, fits):
    """All statements that follow from the numbers are right, so that only the size can be the reason."""
    lines = json.loads(Certificate(0.0, [[UNITS]], [1], (0,), (0,)).to_json())
    names = json.dumps(list(range(rows))), json.dumps(list(range(columns)))
    old = "inputs [0], outputs [0]"
    lines["claim"] = lines["claim"].replace(old, f"inputs {names[0]}, outputs {names[1]}")
    lines |= {"inputs": list(range(rows)), "outputs": list(range(columns))}
    lines |= {"prior": [str(Fraction(1, rows))] * rows}
    lines |= {"weights": [[UNITS] + [0] * (columns - 1)] * rows}
    for found in readers.answers([laid_out(lines).encode()]).values():
        assert found[0][0] == ("holds" if fits else "refused")


# What the old reader accepted, on a certificate as it is written


def laid_out(content):
    """An object with one key to a line, as certificates are written."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(content[key])}" for key in content)
    return f"{{\n{lines}\n}}\n"


def forge(**changes):
    """The text of the honest certificate with other values."""
    return laid_out(json.loads(HONEST.to_json()) | changes)


def identity_with_an_old_claim():
    weights = [[UNITS, 0], [0, UNITS]]
    secrets = Certificate(2.31, weights, HONEST.prior, HONEST.inputs, HONEST.outputs)
    old = json.loads(HONEST.to_json())
    return laid_out(json.loads(secrets.to_json()) | {"claim": old["claim"]})


ROWS_OF = HONEST.weights.tolist()
NAMED = {
    "a changed claim": forge(claim="no outcome has a pointwise maximal leakage above 0.1 nats"),
    "a missing claim": HONEST.to_json().replace('"claim"', '"remark"'),
    "duplicate keys": HONEST.to_json().replace('"holds"', '"epsilon": 0.6, "holds"'),
    "units 7": forge(units=7),
    "no units": HONEST.to_json().replace('"units"', '"unit"'),
    "holds 'false'": forge(holds="false"),
    "fractional weights": forge(
        weights=[[k + 0.25 for k in row] for row in [[0, 1]] * 2] + ROWS_OF
    ),
    "weights of floats": forge(weights=[list(map(float, row)) for row in ROWS_OF]),
    "weights of texts": forge(weights=[list(map(str, row)) for row in ROWS_OF]),
    "an underscore": forge(largest_lift=f"{HONEST.largest_lift}".replace("9/5", "0_9/5")),
    "a label too few": forge(outputs=["nay"]),
    "a label too many": forge(inputs=["no", "yes", "perhaps"]),
    "identity weights with an old claim": identity_with_an_old_claim(),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_forgery_is_refused(name):
    with pytest.raises(ValueError):
        Certificate.from_json(NAMED[name])


def test_huge_number_is_refused_before_it_is_computed():
    """`1e100000000` as largest lift kept the reader busy for a minute."""
    begin = time.process_time()
    for forged in (forge(largest_lift="1e100000000"), forge(prior=["1e-100000000", "2/3"])):
        with pytest.raises(ValueError):
            Certificate.from_json(forged)
    assert time.process_time() - begin < 1


# The level


@given(levels)
def test_cut_is_below_and_close(epsilon):
    below, series = exp_below(epsilon), oracles.exp_from_below(epsilon)
    assert 1 <= below < series + Fraction(2, 10**50) and series < below * (1 + Fraction(1, 10**39))


def test_cut_is_one_number_however_it_is_computed():
    rng = np.random.default_rng(40)
    tried = [0.0, 5e-324, 1e-300, 1e-50, 9.99e-40, 1e-39, 1.01e-39, 1e-12, 200.0, 744.4, 1000.0]
    tried += [*rng.uniform(0, 1000, 100).tolist(), *(10 ** rng.uniform(-45, 1, 300)).tolist()]
    cuts = [exp_below(level) for level in tried]
    assert cuts == [checker.exponential_below(level) for level in tried]
    assert [cut for _, cut in sorted(zip(tried, cuts))] == sorted(cuts)
    assert exp_below(1001.0) == exp_below(1e308) == exp_below(1000.0)


# The object


def copies(certificate):
    """The certificate by all roads that copy."""
    yield from (copy.copy(certificate), copy.deepcopy(certificate), replace(certificate))
    yield from (pickle.loads(pickle.dumps(certificate, protocol)) for protocol in range(6))
    yield Certificate.from_json(certificate.to_json())


def test_certificate_owns_its_numbers():
    rows, prior = np.array(COIN), np.array([0.25, 0.75])
    made = Certificate(0.9, rows, prior, ("no", "yes"), (0, 1))
    rows[:], prior[:] = [[UNITS, 0], [0, UNITS]], [0.5, 0.5]
    assert made.weights.tolist() == COIN and made.prior == (Fraction(1, 4), Fraction(3, 4))
    for other in [made, *copies(made)]:
        with pytest.raises(ValueError, match="read-only"):
            other.weights[0, 0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            other.weights.flags.writeable = True
        assert other == made and hash(other) == hash(made) and other.digest == made.digest


def test_mechanism_cannot_be_changed_behind_its_certificate():
    made = Mechanism(np.array(COIN) / UNITS, [1 / 3, 2 / 3])
    proof = made.certify(0.6)
    try:
        made.weights[:] = [[UNITS, 0], [0, UNITS]]
    except ValueError:
        pass  # better still
    assert proof and proof.weights.tolist() == COIN


def test_certificates_are_equal_if_all_in_them_is():
    fields = {name: getattr(HONEST, name) for name in ("epsilon", "weights", "prior")}
    fields |= {"inputs": (1, 2), "outputs": (3, 4)}
    made = Certificate(**fields)
    others = [
        ("epsilon", 0.61),
        ("weights", [[UNITS, 0], [0, UNITS]]),
        ("prior", (Fraction(1, 2), Fraction(1, 2))),
        ("inputs", (1.0, 2)),
        ("inputs", (True, 2)),
        ("outputs", (4, 3)),
    ]
    different = [Certificate(**fields | {name: value}) for name, value in others]
    assert len({made, *different}) == 7 == len({c.digest for c in (made, *different)})
    assert made == Certificate(**fields) != "certificate"


@given(pairs(), levels)
def test_exact_prior_goes_round(pair, epsilon):
    """Fractions stay as they are through the certificate and its text, and floats at their exact values."""
    made = Mechanism(*pair)
    proof = made.certify(epsilon)
    exact = [Fraction(p) for p in made.prior.tolist()]
    assert proof.prior == tuple(p / sum(exact) for p in exact) and sum(proof.prior) == 1
    again = Certificate.from_json(proof.to_json())
    assert again == proof and again.prior == proof.prior
    assert Mechanism.from_certificate(again).weights.tolist() == made.weights.tolist()


def test_fractions_are_kept():
    thirds = (Fraction(1, 3), Fraction(2, 3))
    assert exact_prior(thirds) == exact_prior(list(thirds)) == thirds
    assert exact_prior(np.array(thirds, dtype=object)) == thirds
    assert exact_prior([1]) == exact_prior(np.array([1])) == (Fraction(1),)
    for wrong in (
        [1, 2],
        [Fraction(1, 3)] * 2,
        [Fraction(3, 2), Fraction(-1, 2)],
        [0, 1],
        [1, 0.5],
    ):
        with pytest.raises(ValueError, match="prior"):
            exact_prior(wrong)


LARGE = 10**700
WRONG = {
    "epsilon": [-1.0, float("nan"), float("inf"), "0.6", None, 1j, [0.6]],
    "weights": [
        None,
        "ab",
        [[1, 2]],
        [[HALF, HALF], [UNITS]],
        [[0.5, 0.5]] * 2,
        [["1", "2"]] * 2,
        [[UNITS + 1, -1]] * 2,
        [[2**63, 2**63]] * 2,
        [[LARGE, 1]] * 2,
        [[], []],
        [],
        {},
        np.full((2, 2, 1), HALF),
        [[True, False]] * 2,
    ],
    "prior": [
        None,
        "ab",
        [0.5, 0.6],
        [1.0, 0.0],
        [LARGE, 1 - LARGE],
        [float("nan"), 1],
        [1],
        {0.5},
        [[0.5, 0.5]],
    ],
    "inputs": [
        None,
        "ab",
        ("a",),
        ("a", "a"),
        (1, True),
        (0.0, -0.0),
        {"a", "b"},
        ([], "a"),
        5,
        {"a": 1, "b": 2},
    ],
}


@pytest.mark.parametrize("name", WRONG)
def test_hostile_arguments_are_value_errors(name):
    good = {"epsilon": 0.6, "weights": COIN, "prior": HONEST.prior}
    good |= {"inputs": ("no", "yes"), "outputs": ("no", "yes")}
    assert Certificate(**good)
    for wrong in WRONG[name]:
        with pytest.raises(ValueError, match="prior|distribution" if name == "prior" else name):
            Certificate(**good | {name: wrong})


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 1000.5},
        {"inputs": (float("nan"), 1)},
        {"inputs": ("\ud800", 1)},
        {"inputs": (10**40, 1)},
        {"outputs": (10**5000, 1)},
        {"outputs": (("a", "b"), 1)},
        {"prior": (Fraction(1, LARGE), 1 - Fraction(1, LARGE))},
    ],
    ids=lambda changes: min(changes),
)
def test_what_the_format_cannot_hold_is_not_written(changes):
    made = replace(HONEST, **changes)
    for write in (made.to_json, lambda: made.digest):
        with pytest.raises(ValueError, match=min(changes)):
            write()


@pytest.mark.parametrize("text", [None, b"{}", 5, ["{}"], "[" * 100_000, '{"a":' * 100_000])
def test_hostile_texts_are_value_errors(text):
    with pytest.raises(ValueError, match="no certificate"):
        Certificate.from_json(text)


def test_digest_is_that_of_the_file():
    text = HONEST.to_json()
    assert HONEST.digest == hashlib.sha256(text.encode()).hexdigest()
    assert laid_out(json.loads(text)) == text  # what is refused below is so for its layout only
    for other in (json.dumps(json.loads(text), indent=4), text.replace("\n", "\r\n"), text + " "):
        with pytest.raises(ValueError, match="would be written"):
            Certificate.from_json(other)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other numbers for modes")
@pytest.mark.skipif(platform.system() != "Linux", reason="another library of mathematics")
@pytest.mark.parametrize("mode", [0x400, 0x800, 0xC00], ids=["down", "up", "to zero"])
def test_processor_may_round_as_it_likes(mode):
    """A processor that rounds upwards changes neither the text that is read nor the text that is written."""
    files = FILES + list(forging.files(300, seed=6))
    due, mathematics = readers.library(files), ctypes.CDLL("libm.so.6")
    assert mathematics.fesetround(mode) == 0
    try:
        one, tiny = map(float, ("1", "1e-30"))
        assert one + tiny > one or one - tiny < one, "the mode has not changed"
        found = readers.library(files)
    finally:
        mathematics.fesetround(0)
    assert found == due


def test_repr_does_not_round_the_level_down():
    assert "0.60000049-PML holds" in repr(replace(HONEST, epsilon=0.60000049))
    secrets = Certificate(0.0, [[UNITS, 0], [0, UNITS]], [5e-324, 1.0], (0, 1), (0, 1))
    assert "exceeded by a factor 1 + 2.1e+323" in repr(secrets)


@pytest.mark.parametrize("kind", [dict, pd.Series, "fractions"])
def test_a_certificate_takes_a_named_prior_by_name(kind):
    told = {"yes": 0.1, "no": 0.9}
    exact = {"yes": Fraction(1, 10), "no": Fraction(9, 10)}
    prior = exact if kind == "fractions" else kind(told)
    mechanism = Mechanism([[0.9, 0.1], [0.5, 0.5]], told, ("no", "yes"), ("A", "B"))
    certificate = Certificate(1.0, mechanism.weights, prior, ("no", "yes"), ("A", "B"))
    assert not certificate and not mechanism.certify(1.0)
    assert list(map(float, certificate.prior)) == [0.9, 0.1]
    with pytest.raises(ValueError, match="prior"):
        Certificate(1.0, mechanism.weights, prior, ("no", "perhaps"), ("A", "B"))


def test_within_uses_the_level_up():
    """Noise of a quarter was the most before all of it: mechanisms that needed more became constant."""
    rng = np.random.default_rng(4)
    for _ in range(100):
        made = Mechanism(rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(4)))
        level = float(rng.uniform(0, 1)) * made.epsilon
        mended = made.within(level)
        assert mended.certify(level) and level - mended.epsilon < 1e-9

"""The proof of optimality that travels: library and page agree on a corpus of forgeries, case by case."""

import json
import pickle
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.foundations.utility import NAMED, ExpectedGain, alpha_information
from pmlbook.large_alphabets.optimality import certify_optimum, from_json, to_json

CHAPTER = Path(__file__).resolve().parent.parent / "nbs" / "large_alphabets" / "09_optimality.ipynb"
PRIOR, LEVEL = np.array([0.6, 0.3, 0.1]), 0.4


def printed_checker():
    """The program that the chapter prints."""
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    content = {}
    exec(next(source for source in sources if source.startswith("CHECKER = ")), content)
    return content["CHECKER"]


CHECKER = printed_checker()


def page_accepts(text, *flags):
    """The verdict of the page, in a process without this library."""
    command = [sys.executable, "-I", *flags, "-c", CHECKER]
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    assert (run.stdout == "holds\n") == (run.returncode == 0)
    assert run.returncode == 0 or run.stderr.startswith("refused: "), run.stderr
    return run.returncode == 0


def library_accepts(text):
    """The verdict of the library."""
    try:
        from_json(text)
    except ValueError as error:
        assert str(error).startswith("this is no optimality certificate: ")
        return False
    return True


def made(utility="mutual_information", prior=PRIOR, level=LEVEL):
    """The certificate of an optimal mechanism."""
    return certify_optimum(pb.optimal_mechanism(prior, level, utility).mechanism, level, utility)


GAIN = ExpectedGain([[0.0, -1.0, -8.0], [-3.0, -1.0, -8.0], [-30.0, -4.0, -9.0]])
HONEST = {
    "vertices": made(),
    "shares": made(GAIN),
    "chords": made("hellinger", PRIOR, 0.05),
    "uniform": made("chi_square", np.full(20, 0.05), 1.0),
    "alpha": made(alpha_information(0.1), np.array([1, 8, 10]) / 19, 0.7472144018302098),
    "strict": made("jensen_shannon", PRIOR, 1e-12),
    "nothing": made("total_variation", PRIOR, 0.0),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_is_made_is_accepted(name):
    proof = HONEST[name]
    text = to_json(proof)
    assert from_json(text) == proof == pickle.loads(pickle.dumps(proof))
    assert page_accepts(text) and page_accepts(text, "-O")
    assert proof.proof == (name if name in ("shares", "chords") else proof.proof)


def last_digit(number, by):
    """A decimal text with its last digit changed."""
    number = Decimal(number)
    return str(number + by * Decimal((0, (1,), number.as_tuple().exponent)))


def changed(name, **new):
    """A certificate with some values changed, and the claim that goes with them."""
    content = json.loads(to_json(HONEST[name]))
    content.update({key: value for key, value in new.items() if key != "claim"})
    content["claim"] = new.get(
        "claim",
        f"under this prior no mechanism that leaks at most {content['epsilon']!r} nats (as a 64-bit float) "
        f"is worth more than {content['bound']} by {content['utility']}; "
        f"this one leaks no more and is worth at least {content['value']}",
    )
    return json.dumps(content)


def moved(name, row, source, target, units):
    """The weights with some units moved within a row."""
    weights = [list(entries) for entries in HONEST[name].weights]
    weights[row][source] -= units
    weights[row][target] += units
    return weights


CORNERS, SHARES = HONEST["vertices"], HONEST["shares"]
DUALS = [str(y) for y in CORNERS.duals]
TEXT = to_json(CORNERS)
TOP = int(np.argmax(CORNERS.weights[0]))
FORGERIES = {
    "bound one digit lower": changed("vertices", bound=last_digit(CORNERS.bound, -1)),
    "value one digit higher": changed("vertices", value=last_digit(CORNERS.value, 1)),
    "chords bound lower": changed("chords", bound=last_digit(HONEST["chords"].bound, -1)),
    "shares bound lower": changed("shares", bound=last_digit(SHARES.bound, -1)),
    "shares value higher": changed("shares", value=last_digit(SHARES.value, 1)),
    "alpha bound of the old library": changed("alpha", bound="5.02362463230818"),
    "bound below value": changed("vertices", bound="0.1", value="0.2"),
    "level lower": changed("vertices", epsilon=0.39),
    "level as text": changed("vertices", epsilon="0.4"),
    "level as whole number": changed("nothing", epsilon=0),
    "level true": changed("vertices", epsilon=True),
    "level negative": changed("vertices", epsilon=-0.4),
    "level above the limit": changed("vertices", epsilon=1000.5),
    "level nan": TEXT.replace('"epsilon": 0.4', '"epsilon": NaN'),
    "level with two spellings": TEXT.replace('"epsilon": 0.4', '"epsilon": 0.40'),
    "claim of somebody else": changed("vertices", claim="this mechanism is the best"),
    "claim missing": TEXT.replace('"claim"', '"boast"'),
    "format of tomorrow": changed("vertices", format="pmlbook optimality 2"),
    "units fewer": changed("vertices", units=2**52),
    "units as float": changed("vertices", units=float(2**53)),
    "another utility": changed("vertices", utility="chi_square"),
    "unknown utility": changed("vertices", utility="alpha_1"),
    "alpha in another spelling": changed("alpha", utility="alpha_0.10"),
    "alpha out of range": changed("alpha", utility="alpha_1e-05"),
    "no dual variables": changed("vertices", duals=[]),
    "dual variables with chords": changed("chords", duals=DUALS),
    "a dual variable too many": changed("vertices", duals=[*DUALS, "1"]),
    "a dual variable zero": changed("vertices", duals=[DUALS[0], "0", *DUALS[2:]]),
    "a dual variable that is not reduced": changed("vertices", duals=["2/4", *DUALS[1:]]),
    "a dual variable as number": changed("vertices", duals=[0.5, *DUALS[1:]]),
    "a dual variable in other digits": changed("vertices", duals=["١", *DUALS[1:]]),
    "a dual variable of many digits": changed("vertices", duals=["1/" + "9" * 601, *DUALS[1:]]),
    "chords for a gain": changed("shares", proof="chords", duals=[]),
    "shares for an information": changed("vertices", proof="shares"),
    "vertices for a gain": changed("shares", proof="vertices"),
    "no proof": changed("vertices", proof="trust me"),
    "prior that sums to less": changed("vertices", prior=["1/2", "1/4", "1/5"]),
    "prior with zero": changed("vertices", prior=["1/2", "1/2", "0"]),
    "prior negative": changed("vertices", prior=["1/2", "1", "-1/2"]),
    "another prior": changed("vertices", prior=["1/2", "3/10", "1/5"]),
    "prior with an underscore": changed("vertices", prior=["1/2", "3/1_0", "1/5"]),
    "a row of weights missing": changed("vertices", weights=[list(CORNERS.weights[0])]),
    "ragged weights": changed("vertices", weights=[[2**53], *map(list, CORNERS.weights[1:])]),
    "weights negative": changed("vertices", weights=moved("vertices", 0, TOP, TOP - 1, 2**54)),
    "weights as floats": changed(
        "vertices", weights=[[float(k) for k in r] for r in CORNERS.weights]
    ),
    "weights that tell all": changed("vertices", weights=(np.eye(3, dtype=int) * 2**53).tolist()),
    "a row that sums to less": changed(
        "vertices",
        weights=[[k - (k > 0) for k in CORNERS.weights[0]], *map(list, CORNERS.weights[1:])],
    ),
    "gain for an information": changed("vertices", gain=[[0.0]] * 3),
    "gain missing": changed("shares", gain=[]),
    "gain ragged": changed("shares", gain=[[0.0], [1.0, 2.0], [1.0, 2.0]]),
    "gain of whole numbers": changed("shares", gain=[[0, -1, -8], [-3, -1, -8], [-30, -4, -9]]),
    "another gain": changed("shares", gain=[[1.0, -1.0, -8.0], *map(list, SHARES.gain[1:])]),
    "a key twice": TEXT.replace("{\n", '{\n  "bound": "9",\n', 1),
    "a key too many": TEXT.replace("{\n", '{\n  "note": "",\n', 1),
    "value infinite": changed("vertices", value="Infinity"),
    "value as number": changed("vertices", value=0.1),
    "bound in odd digits": changed("vertices", bound="00.5"),
    "half of it": TEXT[: len(TEXT) // 2],
    "a list": "[" * 3 + "]" * 3,
    "very deep": "[" * 100_000,
    "empty": "",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused_by_both(name):
    assert FORGERIES[name] not in map(to_json, HONEST.values())
    assert not library_accepts(FORGERIES[name]) and not page_accepts(FORGERIES[name])


@pytest.mark.parametrize(
    "text",
    [
        changed("vertices", bound="0.5"),
        changed("vertices", value="0.1"),
        changed("vertices", bound="1E+3", value="-1"),
        changed("vertices", proof="chords", duals=[], bound="0.4"),
        json.dumps(json.loads(TEXT), separators=(",", ":")),
    ],
)
def test_weaker_claims_and_other_spaces_are_true_too(text):
    assert library_accepts(text) and page_accepts(text)


@pytest.mark.parametrize("name", [*NAMED, "alpha", "gain"])
def test_no_certificate_contradicts_its_design(name):
    rng = np.random.default_rng(len(name))
    for n in (2, 3, 6):
        prior, level = rng.dirichlet(np.ones(n)), float(rng.uniform(0.05, 2))
        kind = alpha_information(2.5) if name == "alpha" else name
        kind = ExpectedGain(rng.normal(size=(n, 4))) if name == "gain" else kind
        design = pb.optimal_mechanism(prior, level, kind)
        proof = certify_optimum(design.mechanism, level, kind)
        assert float(proof.value) <= design.bound and proof.gap < 1e-9
        assert design.value <= float(proof.bound) + design.gap


def test_utilities_that_cannot_be_enclosed_are_refused():
    mechanism = pb.optimal_mechanism(PRIOR, LEVEL).mechanism
    mine = pb.measures.FInformation(lambda t: (t - 1) ** 2, "chi_square")
    for utility in (
        mine,
        np.linalg.norm,
        pb.measures.HypothesisDivergence(mine, PRIOR, PRIOR[::-1]),
    ):
        with pytest.raises(ValueError):
            certify_optimum(mechanism, LEVEL, utility)
    with pytest.raises(ValueError, match="leaks more than 0.39 nats"):
        certify_optimum(mechanism, 0.39)

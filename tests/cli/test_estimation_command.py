"""The reports of the command line on frequencies before and after a release, and the purpose of a design."""

import json
from pathlib import Path

import pytest

import pmlbook as pb
from pmlbook.cli.reading import read_certificate
from pmlbook.release.mechanism import Mechanism

DESIGN = "design 1=60 2=30 3=10 -o d.json"


def test_a_design_for_frequencies_is_the_librarys(run):
    code, out, _ = run(f"{DESIGN} --epsilon 0.4 --for frequencies --json")
    told, best = json.loads(out), pb.estimation_mechanism([0.6, 0.3, 0.1], 0.4)
    assert code == 0 and told["value"] == pytest.approx(best.value, rel=1e-9)
    assert told["for"] == "frequencies" and told["utility"] is None
    assert told["bound"] <= told["value"]


def test_a_mean_needs_numbers(run):
    code, out, _ = run(f"{DESIGN} --epsilon 0.4 --for mean --json")
    best = pb.estimation_mechanism([0.6, 0.3, 0.1], 0.4, [1.0, 2.0, 3.0])
    assert code == 0 and json.loads(out)["value"] == pytest.approx(best.value, rel=1e-9)
    code, _, err = run("design one=6 2=3 --epsilon 0.4 --for mean")
    assert code == 2 and "'one' is none" in err


def test_it_says_beforehand_whether_frequencies_can_be_estimated(run):
    code, out, _ = run(f"{DESIGN} --epsilon 0.4 --json")
    told = json.loads(out)["standard_error"]
    mechanism = Mechanism.from_certificate(read_certificate(Path("d.json")))
    assert code == 0 and (told is None) == (
        pb.estimation.estimation_variance(mechanism) == float("inf")
    )
    code, out, _ = run("design a=62 b=20 c=12 d=6 --epsilon 0.6 -o e.json")
    mechanism = Mechanism.from_certificate(read_certificate(Path("e.json")))
    assert code == 0 and pb.estimation.estimation_variance(mechanism) == float("inf")
    assert "frequencies: not determined" in out


def test_the_standard_error_is_the_one_that_estimate_finds(run):
    words = f"{DESIGN} --epsilon 0.8 --for frequencies --rows 4000 --json"
    before = json.loads(run(words)[1])["standard_error"]
    Path("in.csv").write_text("x\n" + "1\n" * 2400 + "2\n" * 1200 + "3\n" * 400)
    code, out, _ = run("release d.json in.csv out.csv --column x --json --quiet")
    assert code == 0 and json.loads(out)["standard_error"] == pytest.approx(before, rel=1e-12)
    code, out, _ = run("estimate d.json out.csv --column x_released --json")
    after = max(row["standard_error"] for row in json.loads(out)["estimate"])
    assert code == 0 and after == pytest.approx(before, rel=0.2)


@pytest.mark.parametrize(
    "words, told",
    [
        ("--for frequencies --utility hellinger", "--utility needs --for information"),
        ("--rows 0", "'--rows': '0' is no number"),
        ("--for fun", "'fun' is not one of"),
    ],
)
def test_what_makes_no_sense_is_refused(run, words, told):
    code, _, err = run(f"{DESIGN} --epsilon 0.4 {words}")
    assert code == 2 and told in err and not Path("d.json").exists()

"""The reports of the command line on frequencies before and after a release, and the purpose of a design."""

import json

import pytest

import pmlbook as pb
from pmlbook.cli.command_line import main
from pmlbook.cli.parsing import read_certificate
from pmlbook.release.mechanism import Mechanism


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main([*words])
        return code, capsys.readouterr()

    return call


SHARES = ("--prior", "1=60", "2=30", "3=10")


def test_a_design_for_frequencies_is_the_librarys(run):
    words = (
        "design",
        *SHARES,
        "--epsilon",
        "0.4",
        "--for",
        "frequencies",
        "--json",
        "-o",
        "d.json",
    )
    code, said = run(*words)
    told, best = json.loads(said.out), pb.estimation_mechanism([0.6, 0.3, 0.1], 0.4)
    assert code == 0 and told["value"] == pytest.approx(best.value, rel=1e-9)
    assert told["for"] == "frequencies" and told["utility"] is None
    assert told["bound"] <= told["value"]


def test_a_mean_needs_numbers(run):
    words = ("--epsilon", "0.4", "--for", "mean", "-o", "d.json", "--json")
    code, said = run("design", *SHARES, *words)
    best = pb.estimation_mechanism([0.6, 0.3, 0.1], 0.4, [1.0, 2.0, 3.0])
    assert code == 0 and json.loads(said.out)["value"] == pytest.approx(best.value, rel=1e-9)
    code, said = run("design", "--prior", "one=6", "2=3", *words, "--force")
    assert code == 2 and "'one' is none" in said.err


def test_it_says_beforehand_whether_frequencies_can_be_estimated(run):
    code, said = run("design", *SHARES, "--epsilon", "0.4", "-o", "d.json", "--json")
    told = json.loads(said.out)["standard_error"]
    mechanism = Mechanism.from_certificate(read_certificate("d.json"))
    assert code == 0 and (told is None) == (
        pb.estimate.estimation_variance(mechanism) == float("inf")
    )
    merged = (
        "design",
        "--prior",
        "a=62",
        "b=20",
        "c=12",
        "d=6",
        "--epsilon",
        "0.6",
        "-o",
        "e.json",
    )
    code, said = run(*merged)
    mechanism = Mechanism.from_certificate(read_certificate("e.json"))
    assert code == 0 and pb.estimate.estimation_variance(mechanism) == float("inf")
    assert "frequencies: not determined" in said.out


def test_the_standard_error_is_the_one_that_estimate_finds(run, tmp_path):
    words = ("--epsilon", "0.8", "--for", "frequencies", "--rows", "4000", "--json", "-o", "d.json")
    before = json.loads(run("design", *SHARES, *words)[1].out)["standard_error"]
    (tmp_path / "in.csv").write_text("x\n" + "1\n" * 2400 + "2\n" * 1200 + "3\n" * 400)
    code, said = run("release", "d.json", "in.csv", "out.csv", "--column", "x", "--json", "--quiet")
    assert code == 0 and json.loads(said.out)["standard_error"] == pytest.approx(before, rel=1e-12)
    code, said = run("estimate", "d.json", "out.csv", "--column", "x_released", "--json")
    after = max(row["standard_error"] for row in json.loads(said.out)["estimate"])
    assert code == 0 and after == pytest.approx(before, rel=0.2)


@pytest.mark.parametrize(
    "words, told",
    [
        (("--for", "frequencies", "--utility", "hellinger"), "--utility needs --for information"),
        (("--rows", "0"), "--rows: '0' is no number"),
        (("--for", "fun"), "invalid choice"),
    ],
)
def test_what_makes_no_sense_is_refused(run, tmp_path, words, told):
    code, said = run("design", *SHARES, "--epsilon", "0.4", "-o", "d.json", *words)
    assert code == 2 and told in said.err and not (tmp_path / "d.json").exists()

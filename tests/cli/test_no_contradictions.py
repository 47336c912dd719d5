"""Lines of one output that an analyst read as contradictions, and questions that help."""

from pathlib import Path

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.cli.reading import read_certificate
from pmlbook.cli.sentences import frequencies_text, level_text, standing_text, strata_lines


def test_a_release_for_a_mean_ends_with_its_error(run):
    numbers = np.random.default_rng(0).choice(7, 2000)
    Path("in.csv").write_text("x\n" + "\n".join(map(str, numbers)))
    code, out, err = run("start in.csv x --for mean --epsilon .3 --merge-below 0 --release out.csv")
    assert code == 0, err
    assert out.count("mean: estimated") == 2 and "not determined" not in out
    lines = [[0.5, 0.5], [0.6, 0.4], [0.7, 0.3]]
    assert frequencies_text(pb.Mechanism(lines, [0.3, 0.3, 0.4]), 100).startswith("mean: estimated")


def test_merged_answers_are_estimated_or_not_in_one_sentence(run):
    answers = np.random.default_rng(0).choice(list("abcde"), 2000, p=[0.5, 0.3, 0.18, 0.01, 0.01])
    Path("in.csv").write_text("x\n" + "\n".join(answers))
    command = "start in.csv x --for frequencies --epsilon .3 --merge-below .02 --release out.csv"
    code, out, err = run(command)
    assert code == 0, err
    line = next(line for line in out.splitlines() if "not determined" in line)
    assert line.startswith(
        "frequencies: not determined within 4 classes of answers; of the classes"
    )


class Stratum:
    name, rows, level, worst = ("a",), 40, 0.3, 0.4


def test_strata_that_are_left_out_are_counted():
    assert strata_lines([Stratum] * 16)[0].startswith("16 strata, the ten worst; ")
    assert strata_lines([Stratum] * 3)[0].startswith("3 strata; ")


def test_levels_are_printed_to_be_read():
    assert level_text(0.49999999999999994) == "0.5 nats"
    tiny = pb.Mechanism([[1 - 1e-11, 1e-11], [0.5, 0.5]], [0.5, 0.5])
    assert "no level of local differential privacy to speak of" in standing_text(tiny)[0]


def test_messages_name_the_option_that_helps(run):
    Path("m.json").write_text("")
    code, _, err = run("design .5 .5 --epsilon .3 -o m.json")
    assert code == 2 and "--force" in err
    Path("in.csv").write_bytes("x\nä\nb\n".encode("latin-1"))
    code, _, err = run("design --counts in.csv --column x --epsilon .3 -o n.json")
    assert code == 2 and "--encoding" in err
    with pytest.raises(pb.InvalidChannel, match="leakage_bracket takes counts"):
        pb.local_dp([[30, 5], [10, 40]])


def test_a_question_is_explained_and_the_last_one_is_whether_to_release(run):
    Path("in.csv").write_text("x\n" + "yes\n" * 300 + "no\n" * 700)
    code, out, err = run("start in.csv", answers=["x", "?", "0.3", "?", "frequencies", "out.csv"])
    assert code == 0, err
    assert "a belief in an answer grows at most" in err and "with the least variance" in err
    assert "release the file now" in err, err
    assert len(Path("out.csv").read_text().split()) == 1001
    again = run("start in.csv x -o b", answers=["0.3", "frequencies", "-"])
    assert again[0] == 0 and "pmlbook release b.mechanism.json in.csv RELEASED" in again[1]


def test_a_level_of_local_dp_that_is_none_is_no_number(run):
    """A board read '26.03 nats' as a level."""
    tiny = pb.Mechanism([[1 - 1e-11, 1e-11], [0.5, 0.5]], [0.5, 0.5])
    assert tiny.standing == "local DP none to speak of, publishes nothing"


@pytest.mark.parametrize(
    "text, told",
    [
        ("low,0.9,0.1\nhigh,0.2,0.8\n", "has no header"),
        ("1,2\n0.9,0.1\n0.1,0.9\n", "a header of numbers needs an empty field in front"),
    ],
)
def test_a_matrix_whose_header_is_none_or_numbers(run, text, told):
    Path("m.csv").write_text(text)
    code, _, err = run("audit m.csv .5 .5")
    assert code == 2 and told in err
    Path("m.csv").write_text(",1,2\nlow,0.9,0.1\nhigh,0.2,0.8\n")
    assert run("audit m.csv .5 .5 --json")[0] == 0


def test_persons_who_repeat_thirty_times_are_said(run):
    answers = np.random.default_rng(0).choice(["a", "b"], 3000)
    rows = [f"{k // 40},{x}" for k, x in enumerate(answers)]
    Path("in.csv").write_text("person,x\n" + "\n".join(rows))
    code, out, err = run("start in.csv x --for frequencies --epsilon .6 --merge-below 0")
    assert code == 0, err
    assert "'person' has 75 values with 30 rows or more each: if it identifies a person" in out


def test_a_second_account_for_one_column_asks_for_force(run):
    Path("in.csv").write_text("x\n" + "a\nb\n" * 300)
    for epsilon in (0.2, 0.3):
        assert run(f"design a=1 b=1 --epsilon {epsilon} -o {epsilon}.json")[0] == 0
    assert run("release 0.2.json in.csv one.csv --column x --start-log log")[0] == 0
    second = "release 0.3.json in.csv two.csv --column x --log log --account others"
    code, _, err = run(second)
    assert code == 2 and "account 'others' with --force" in err and "would forget it" in err
    code, out, err = run(f"{second} --force")
    assert code == 0 and "has releases in 'x' too, which this level does not count" in out
    code, out, err = run("log log")
    assert "'x': 1 release, 0.2 nats together" in out and "'others': 1 release, 0.3" in out


def test_the_prior_of_a_column_of_numbers_is_that_of_the_file(run):
    """Where no number lies it has one person, spread over all limits; it had one in each of 64 bins."""
    numbers = np.random.default_rng(3).normal(40, 12, 4000).clip(0, 80).round(1)
    Path("in.csv").write_text("x\n" + "\n".join(map(str, numbers)))
    start = "start in.csv x --limits 0 200 --prior-from column --for mean --epsilon .5 -o a"
    assert run(start)[0] == 0
    made = read_certificate(Path("a.mechanism.json"))
    beyond = sum(share for node, share in zip(made.inputs, made.prior) if node > 100)
    assert 0 < beyond <= 1 / 4000

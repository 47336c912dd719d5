"""Lines of one output that an analyst read as contradictions, and questions that help."""

from pathlib import Path

import numpy as np
import pytest

import pmlbook as pb
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

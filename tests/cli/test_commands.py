"""Choices that do not go together, numbers that no float holds, and options that would do nothing."""

import gzip
import html
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refusal

from pmlbook import Mechanism, optimal_mechanism
from pmlbook.cli.command_line import main, program
from pmlbook.cli.commands import write_texts
from pmlbook.cli.messages import EXIT_SUCCESS
from pmlbook.cli.reading import read_certificate, read_matrix
from pmlbook.cli.typed import Typed, share

FLIP = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("no", "yes"), ("r0", "r1"))


@pytest.fixture
def run(run):
    """A command in a folder with a file, a Parquet file and a certificate: exit code and all output."""
    Path("in.csv").write_text("id,said\n" + "1,yes\n2,no\n2,yes\n1,no\n" * 15)
    pq.write_table(pa.table({"id": [1, 2], "said": ["yes", "no"]}), "in.parquet")
    Path("m.json").write_text(FLIP.certify(1.0).to_json())
    Path("out.csv").write_text("id,said_released\n" + "1,r0\n2,r1\n" * 30)

    def call(command, *more):
        code, out, err = run(command, *more)
        return code, out + err

    return call


TYPED = "design yes=22 no=26 --epsilon 0.3"
COUNTED = "design --counts in.csv --column said --epsilon 0.3"
RELEASE = "release m.json in.csv new.csv --column said"
ESTIMATE = "estimate m.json out.csv --column said_released"
START = "start in.csv said --merge-below 0.01 --for frequencies --epsilon 0.5"


@pytest.mark.parametrize(
    "command, told",
    [
        ("design --counts in.csv --epsilon 0.3", "go together"),
        (f"{TYPED} --column said", "go together"),
        (f"{TYPED} --given id", "--given needs --counts"),
        (f"{COUNTED} yes=1", "give either answers"),
        ("design --epsilon 1", "give either answers"),
        (f"{RELEASE} --log a --start-log b", "--start-log is not allowed with --log"),
        (f"{RELEASE} --budget 1", "need a log"),
        (f"{START} --promise x", "--promise is not allowed with --epsilon"),
        (f"{COUNTED} --given id --max-time 1", "--max-time is not allowed with --given"),
        (f"{TYPED} --for mean --utility hellinger", "--utility needs --for information"),
        (f"{COUNTED} --for mean --given id", "--given needs --for information"),
        (f"{TYPED} --for mean", "--for mean needs names that are numbers, and 'yes' is none"),
        (f"{TYPED} --rows 0", "'--rows': '0' is no number of rows, at least 1"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(run, command, told):
    before = sorted(os.listdir())
    code, said = run(command)
    assert code == 2 and told in said and sorted(os.listdir()) == before


def test_sensible_choices_are_taken(run):
    assert run(f"{TYPED} --rows 1 -o never.json")[0] == EXIT_SUCCESS and Path("never.json").exists()
    assert run(f"{COUNTED} --rows 1e3 --show-values --force")[0] == EXIT_SUCCESS
    assert run(f"{RELEASE} --given id --confidence 0.9 --force")[0] == EXIT_SUCCESS
    assert run(f"{START} --other rest --force")[0] == EXIT_SUCCESS


# numbers

NUMBERS = {
    "--epsilon": [TYPED, RELEASE, "audit m.json", "start in.csv said", "explain a=1 b=2"],
    "--budget": [f"{RELEASE} --start-log log"],
    "--confidence": [f"{RELEASE} --given id", f"{COUNTED} --given id", ESTIMATE],
    "--error": ["design yes=1 no=1"],
    "--max-time": [TYPED],
    "--quantile": [ESTIMATE, "start in.csv said --limits 0 1 --for quantile"],
    "--rows": [TYPED],
}
SIGNED = {"--limits": "start in.csv said --limits 0", "--cut": "start in.csv said --cut"}
NO_NUMBERS = ("1e400", "-1e400", "1e-400", "nan", "inf", "-inf", "-1", "1_0", "٣", "0x1", "1e", "")
FALSE = {
    "--confidence": ["0", "1", "7", "95"],
    "--error": ["0"],
    "--quantile": ["0", "1", "95"],
    "--rows": ["0", "0.5", "1e300"],
}


@pytest.mark.parametrize("option", NUMBERS)
def test_a_number_that_no_float_holds_is_refused_with_its_option(run, option):
    before = sorted(os.listdir())
    for command in NUMBERS[option]:
        for text in (*NO_NUMBERS, *FALSE.get(option, [])):
            code, said = run(command, f"{option}={text}")
            assert code == 2 and sorted(os.listdir()) == before, (command, text)
            assert option in said and repr(text) in said and said.count("\n") == 1, said


@pytest.mark.parametrize("option", SIGNED)
def test_a_list_of_numbers_is_read_one_by_one(run, option):
    for text in NO_NUMBERS:
        if text != "-1":
            code, said = run(SIGNED[option], text)
            assert code == 2 and option in said and repr(text) in said and said.count("\n") == 1


def test_every_option_with_a_number_is_among_these():
    found = set()
    for command in program.commands.values():
        for option in command.params:
            if isinstance(option.type, Typed) and option.type.read is not share:
                found.update(option.opts)
    assert found - {"--delimiter"} == {*NUMBERS, *SIGNED}


@pytest.mark.parametrize("entry", ["1e400", "1e-400", "NaN", "-Infinity"])
def test_a_matrix_with_a_number_that_no_float_holds(tmp_path, entry):
    (tmp_path / "m.json").write_text(f'{{"channel": [[{entry}, 1]], "prior": [1]}}')
    (tmp_path / "m.csv").write_text(f"no,yes\n1,0\n{entry},1\n")
    told = refusal(read_matrix, tmp_path / "m.json")
    assert told.endswith("m.json: one of its numbers is none that a float holds")
    told = refusal(read_matrix, tmp_path / "m.csv")
    assert "row 2 below the header has no number" in told and entry not in told


def test_names_that_are_no_numbers_are_refused_before_the_file_is_read(run):
    code, said = run(f"{ESTIMATE.replace('out.csv', 'missing.csv')} --mean")
    assert code == 2 and "--mean needs names that are numbers, and 'no' is none" in said
    code, said = run("design 1=1 1e400=2 --epsilon 1 --for mean")
    assert code == 2 and "--for mean needs names that are numbers, and '1e400' is more than" in said


# options without effect


@pytest.mark.parametrize(
    "command, option",
    [
        (f"{TYPED} --confidence 0.95", "--confidence needs --given"),
        (f"{RELEASE} --confidence 0.95", "--confidence needs --given"),
        (f"{TYPED} --delimiter ,", "--delimiter needs --counts"),
        (f"{TYPED} --show-values", "--show-values needs --counts"),
        (f"{START} --missing refuse", "--missing needs --release"),
        (f"{START} --again", "--again needs --release"),
        (f"{ESTIMATE} --mean --method likelihood", "--method is for frequencies"),
        (f"{ESTIMATE} --mean --quantile 0.5", "--quantile is not allowed with --mean"),
        (f"{RELEASE} --clip", "--clip is for a mechanism for numbers"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(run, command, option):
    before = sorted(os.listdir())
    code, said = run(command)
    assert code == 2 and option in said and said.count("\n") == 1, said
    assert sorted(os.listdir()) == before


# a disk that is full


@pytest.mark.posix
@pytest.mark.parametrize(
    "command, target", [(TYPED, "mechanism.json"), (RELEASE, "new.csv"), (START, "in.report.html")]
)
def test_a_full_disk_is_reported_with_the_name_of_the_file(run, command, target):
    """The system returns EFBIG for a file that may not grow: as with a full disk, the write fails."""
    most = {"mechanism.json": 10, "new.csv": 10, "in.report.html": 2000}[target]
    script = (
        "import resource, signal, sys\n"
        "from pmlbook.cli.command_line import main\n"
        "import pmlbook.cli.wizard, pmlbook.cli.report, pmlbook.estimation.enumerated_design\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    before = sorted(os.listdir())
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, *command.split()], capture_output=True, text=True
    )
    assert done.returncode == 2 and target in done.stderr.splitlines()[-1], done.stderr
    assert sorted(os.listdir()) == before


PROGRAM = "import sys; from pmlbook.cli.command_line import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_result_that_cannot_be_printed_is_reported():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *"explain a=1 b=2 --epsilon 1".split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2 and "'standard output'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize(
    "words, code",
    [
        ("explain a=1 b=1 --epsilon 0.1x", 2),  # an error
        ("design yes=9 no=1 --epsilon 3 -o x.json", 0),  # a warning
    ],
)
def test_a_message_that_cannot_be_printed_changes_no_exit_code(tmp_path, words, code):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", PROGRAM, *words.split()]
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=full)
    assert done.returncode == code and (tmp_path / "x.json").exists() == (code == 0)


def test_questions_need_standard_input(run, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)  # as Python has it where that is closed
    assert main(["start", "in.csv"]) == 2
    told = "this is no terminal, so no question can be asked: give "
    assert capsys.readouterr().err == f"pmlbook: {told}COLUMN, --merge-below SHARE, {ASKED}\n"


@pytest.mark.parametrize("column", ["age", "-x"])
@pytest.mark.parametrize("output", [[], ["--output", "made/x"]])
def test_printed_commands_run_where_they_are_printed(run, column, output):
    Path("data").mkdir()
    Path("made").mkdir()
    Path("data/n.csv").write_text(f"{column}\n" + "1\n7\n" * 20)
    options = "--limits 0 10 --prior-from uniform --epsilon 0.5 --for mean"
    code, out = run(f"start {options}", *output, "--", "data/n.csv", column)
    release = next(line for line in out.splitlines() if line.startswith("pmlbook release"))
    assert code == 0 and run("", *shlex.split(release)[1:])[0] == 0


ASKED = "--for frequencies|mean|information, --epsilon NATS or --promise SENTENCE"


@pytest.mark.parametrize("mark", [";;", "", "\n"])
def test_a_table_is_parted_by_one_character(run, mark):
    Path("c.csv").write_text("0.5;0.5\n0.25;0.75\n")
    code, out = run("audit c.csv 1 1 --delimiter", mark)
    assert code == 2 and "delimiter" in out


def test_the_facts_of_a_release_are_json(run):
    said = pa.table({"said": ["yes", "no"] * 3, "size": [1.5, float("inf"), -float("inf")] * 2})
    pq.write_table(said, "sizes.parquet")
    code, out = run("release m.json sizes.parquet new.parquet --column said --given size --json")
    # All of standard output is the one object.

    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    strata = json.loads(out.splitlines()[-1], parse_constant=refuse)["strata"]
    assert code == 0 and {row["stratum"][0] for row in strata} == {1.5, "inf", "-inf"}


def test_texts_are_written_all_or_none(tmp_path):
    taken, new = tmp_path / "taken", tmp_path / "new"
    taken.write_text("mine")
    assert "exists" in refusal(write_texts, {new: "a", taken: "b"}, False)
    assert taken.read_text() == "mine" and not new.exists()
    write_texts({new: "a", taken: "b"}, True)
    assert (new.read_text(), taken.read_text()) == ("a", "b")


# merging


def write_rare():
    """Answers of which two are rare and three are not."""
    rows = ["a"] * 60 + ["b"] * 30 + ["c"] * 5 + ["d"] * 3 + ["e"] * 2
    Path("rare.csv").write_text("said\n" + "".join(f"{row}\n" for row in rows))


def test_merged_answers_are_not_said_to_be_published(run):
    """Warning and summary state the same share: an outcome identifies 'other', not the merged answer."""
    write_rare()
    code, said = run("start rare.csv said --merge-below 0.5 --for frequencies --epsilon 3")
    assert code == EXIT_SUCCESS and "publishes the merged answers as they are" in said
    assert "would publish 60 %" in said and "publishes 60 %" in said and "100 %" not in said
    assert "It publishes 60 % of the answers" in Path("rare.report.html").read_text()
    code, said = run("start rare.csv said --merge-below 0 --for frequencies --epsilon 4 --force")
    assert code == EXIT_SUCCESS and "publishes the column as it is" in said


@pytest.mark.parametrize("below, told", [("0.7", "merges all"), ("1", "from 0 to below 1")])
def test_a_share_that_merges_all_is_refused(run, below, told):
    write_rare()
    code, said = run(f"start rare.csv said --merge-below {below} --for mean --epsilon 3")
    assert code == 2 and "--merge-below" in said and told in said


def test_an_answer_may_begin_with_a_minus(run):
    for answers in (["-1=.3", "0=.4", "1=.3"], ["0=.4", "-1=.3", "1=.3"]):
        words = "design --for mean --epsilon 0.5 -o new.json --force --"
        assert run(words, *answers)[0] == EXIT_SUCCESS
        made = Mechanism.from_certificate(read_certificate(Path("new.json")))
        assert sorted(made.inputs) == ["-1", "0", "1"]
    code, said = run("explain --epsilon 0.2 --", *answers)
    assert code == EXIT_SUCCESS and "'-1' is never proved" in said
    assert "-z" in run("explain --epsilon 0.2 a=1 -z 3")[1]


def test_minus_nothing_is_nothing(run):
    assert "epsilon: 0.0\n" in run("design a=1 b=1 --epsilon -0 -o new.json")[1]


def test_a_packed_table_is_audited(run):
    text = b"no,yes\n.75,.25\n.25,.75\n"
    Path("t.csv").write_bytes(text)
    Path("t.csv.gz").write_bytes(gzip.compress(text))
    Path("cut.csv.gz").write_bytes(gzip.compress(text)[:-9])
    plain, packed = (run(f"audit {name} .5 .5") for name in ("t.csv", "t.csv.gz"))
    assert packed == plain and plain[0] == EXIT_SUCCESS
    assert "gzip that is cut off" in run("audit cut.csv.gz .5 .5")[1]


def test_an_estimate_outside_its_interval_is_explained(run):
    """Counts that no share explains well: one estimate is negative, and another one above its interval."""
    mechanism = optimal_mechanism({"no": 0.6, "maybe": 0.3, "yes": 0.1}, 0.5).mechanism
    Path("m.json").write_text(mechanism.certify(0.5).to_json())
    shares = mechanism.channel.T @ [0.59, 0.55, -0.14]
    rows = np.repeat(mechanism.outputs, np.rint(500 * shares).astype(int))
    Path("out.csv").write_text("said_released\n" + "".join(f"{row}\n" for row in rows))
    code, said = run("estimate m.json out.csv --column said_released")
    assert code == EXIT_SUCCESS and "the interval of 'maybe', 'yes' does not hold" in said


def test_a_mean_outside_its_interval_is_said(run):
    """Fifty times the outcome of the middle number: the unbiased mean is below the least number."""
    run("design 0=0.3 1=0.3 2=0.4 --epsilon 0.4 --for mean -o mean.json")
    middle = read_certificate(Path("mean.json")).outputs[1]
    Path("out.csv").write_text("x\n" + f"{middle}\n" * 50)
    code, said = run("estimate mean.json out.csv --column x --mean")
    assert code == EXIT_SUCCESS and "the interval of the mean does not hold the estimate" in said


@pytest.mark.parametrize("values", [[0, 1, 2, 0], [0.5, 1.5, 0.5], [True, False, True]])
def test_a_start_releases_a_typed_column_of_parquet(run, values):
    """Answers keep their types: as texts, their certificate would fit no row of the file."""
    pq.write_table(pa.table({"x": values * 20}), "typed.parquet")
    start = "start typed.parquet x --merge-below 0 --for frequencies --epsilon 0.5"
    assert run(f"{start} --release released.parquet")[0] == 0
    assert set(read_certificate(Path("typed.mechanism.json")).inputs) == set(values)
    assert pq.read_table("released.parquet").num_rows == len(values) * 20


def test_a_printed_level_is_kept(run):
    """The level of a table is decided exactly, so that it holds when it is given back."""
    rng = np.random.default_rng(3)
    for table in [np.eye(2), *rng.dirichlet(np.ones(3), (12, 3))]:
        Path("table.json").write_text(json.dumps(table.tolist()))
        audit = f"audit table.json {' '.join('1' * len(table))}"
        level = json.loads(run(f"{audit} --json")[1])["epsilon"]
        assert run(f"{audit} --epsilon {level!r}")[0] == 0


@pytest.mark.parametrize("option", ["--sha256=--", "--log=--", "--column=--"])
def test_a_value_that_looks_like_the_end_of_the_options_is_a_value(run, option):
    """Python's own parser made a list of it, and that was reported as a defect."""
    code, out = run(f"release m.json in.csv new.csv --column said {option}")
    assert code == 2 and out.count("\n") == 1, out


def test_the_commands_of_a_start_allow_for_gaps(run):
    """What a start printed for a column with gaps did not run."""
    Path("gaps.csv").write_text("x,y\n" + "a,1\nb,2\n,3\nb,4\n" * 60)
    start = "start gaps.csv x --epsilon 0.3 --for frequencies --missing keep --release r.csv --visible y"
    assert run(start)[0] == 0
    page = html.unescape(Path("gaps.report.html").read_text())
    release, estimate = re.findall(r"pmlbook (?:release|estimate)[^\n<]*", page)
    assert run("", *shlex.split(release.replace("RELEASED", "again.csv"))[1:])[0] == 0
    assert run("", *shlex.split(estimate.replace("RELEASED", "again.csv"))[1:])[0] == 0


@pytest.mark.parametrize(
    "confidence, said", [("0.999", "99.9%"), ("0.946", "94.6%"), ("0.95", "95%"), ("0.9", "90%")]
)
def test_a_confidence_is_printed_as_it_was_computed(run, confidence, said):
    assert f"intervals of {said}\n" in run(f"{ESTIMATE} --confidence {confidence}")[1]


@pytest.mark.parametrize("name", ["in.mechanism.json", "in.estimate.json", "in.report.html"])
def test_a_release_takes_the_name_of_no_design(run, name):
    code, out = run(f"{START} --release {name} --force")
    assert code == 2 and "name of a design" in out and not Path(name).exists()


def test_a_design_for_answers_releases_answers(run):
    code, out = run("design yes=30 no=30 --epsilon 0.3 --for answers -o pram.json")
    assert code == EXIT_SUCCESS and "answers: 67.4 % stay as they are" in out  # e^0.3 / 2
    code, out = run("release pram.json in.csv new.csv --column said")
    assert code == EXIT_SUCCESS and "called like answers" in out and "column: said\n" in out
    assert "need not be the true ones: only an estimate gives shares" in out
    header, *rows = Path("new.csv").read_text().split()
    assert header == "id,said" and set(rows) <= {f"{i},{a}" for i in "12" for a in ("yes", "no")}
    code, out = run("estimate pram.json new.csv --column said")
    assert code == EXIT_SUCCESS


def test_answers_whose_shares_cannot_be_estimated_are_released_with_one_sentence(run):
    """At half a nat three of the four rows are equal: no line speaks of an estimate of all shares."""
    answers = ["married"] * 50 + ["single"] * 30 + ["divorced"] * 15 + ["widowed"] * 5
    Path("status.csv").write_text("status\n" + "\n".join(answers * 20) + "\n")
    design = "design --counts status.csv --column status --epsilon 0.5 --for answers -o d.json"
    for command in (design, "release d.json status.csv new.csv --column status"):
        code, out = run(command)
        assert code == EXIT_SUCCESS and "frequencies: not determined" in out
        assert "only an estimate" not in out
    assert "no estimate gives the shares of all answers" in out

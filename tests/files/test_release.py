"""A release appears as a whole or not at all, bad input is reported in one line, and no certificate is false."""

import csv
import hashlib
import json
import os
import signal
import stat
from fractions import Fraction
from time import sleep

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pmlbook import Mechanism
from pmlbook.cli.command_line import main
from pmlbook.files.release import Released, count_values, release_file
from pmlbook.files.tables import Layout
from pmlbook.foundations.probability import random_channel, random_prior
from pmlbook.release.certificate import Certificate, exp_below
from pmlbook.release.sampling import UNITS

NAMES = ("healthy", "flu", "rare")
NOISY = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
CLINIC = Mechanism(NOISY, [0.6, 0.3, 0.1], NAMES, NAMES)
GOOD = "id,diagnosis\n" + "".join(f"{i},{NAMES[i % 3]}\n" for i in range(40_000))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a certificate in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.json").write_text(CLINIC.certify(2.0).to_json())
    return tmp_path


def fingerprint(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def command(source="in.csv", target="out.csv", *more):
    return ["release", "m.json", source, target, "--column", "diagnosis", *more]


BAD = {
    "unknown in the last row": (GOOD + "7,cold\n", ["(str) in row 40001", "not among"]),
    "missing in the last row": (GOOD + "7,\n", ["missing in row 40001", "keep"]),
    "wrong delimiter": (GOOD.replace(",", ";"), ["1 column:", "delimiter"]),
    "wrong delimiter further down": (GOOD + "7;flu\n", ["row 40001", "1 fields", "delimiter"]),
    "mixed types": (GOOD + "7,3.5\n8,True\n", ["in row 40001, 40002, not among"]),
    "a row too long": (GOOD + "7,flu,flu\n", ["row 40001", "3 fields"]),
    "a quote that never ends": (
        GOOD + '7,"flu\n',
        ["cannot be read as CSV after row 40000:", "mend it there"],
    ),
    "quoted by half": (
        'id,diagnosis\n1,flu\n2,"flu"x\n' + GOOD,
        ["cannot be read as CSV after row 1:"],
    ),
    "two bytes a character": (
        GOOD.encode("utf-16-le").decode(),
        ["is no utf-8 text", "--encoding"],
    ),
    "no rows": ("id,diagnosis\n", ["no rows"]),
    "nothing": ("", ["is empty"]),
    "column twice": ("diagnosis,diagnosis\nflu,flu\n", ["more than once", "rename one"]),
    "another spelling": (GOOD + "7,Flu\n", ["in row 40001", "--other NAME"]),
}


@pytest.mark.parametrize("text, told", BAD.values(), ids=BAD)
def test_bad_csv_ends_with_two_and_one_line(folder, capsys, text, told):
    source = folder / "in.csv"
    source.write_text(text)
    before = fingerprint(source)
    assert main(command()) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and all(word in err for word in told)
    assert sorted(os.listdir()) == ["in.csv", "m.json"] and fingerprint(source) == before


def test_unreadable_files_end_with_two_and_one_line(folder, capsys):
    (folder / "in.csv").write_text(GOOD)
    (folder / "latin.csv").write_bytes("id,diagnosis\n1,fl\xfc\n".encode("latin-1"))
    (folder / "false.parquet").write_text(GOOD)
    before = sorted(os.listdir())
    calls = [
        (command("absent.csv"), "No such file"),
        (command("."), "directory"),
        (command("latin.csv"), "utf-8"),
        (command("false.parquet", "out.parquet"), "as Parquet"),
        (command("in.csv", "out.parquet"), "of one kind"),
        (command("in.csv", "in.csv"), "source and target"),
        (command("in.csv", "in.csv", "--force"), "source and target"),
        (command("in.csv", "absent/out.csv"), "absent"),
        (command("in.csv", "m.json"), "source and target"),
        (command("in.csv", "latin.csv"), "exists"),
        (command("in.csv", "out.csv", "--delimiter", ",,"), "one character"),
        (command("in.csv", "out.csv", "--encoding", "klingon"), "klingon"),
        (["release", "in.csv", "in.csv", "out.csv", "--column", "diagnosis"], "no certificate"),
        (["release", "m.json"], "Missing"),
        (["rel"], "No such command"),
    ]
    for words, told in calls:
        assert main(words) == 2, words
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and told in err, err
        assert sorted(os.listdir()) == before


def test_a_certificate_that_does_not_hold_releases_nothing(folder, capsys):
    (folder / "in.csv").write_text(GOOD)
    (folder / "m.json").write_text(CLINIC.certify(1.0).to_json())
    assert main(command()) == 1
    assert "nothing released" in capsys.readouterr().err and not (folder / "out.csv").exists()


def end_in_the_middle(number, *arguments):
    """How a process ends that gets a signal after the first block of a release."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        if number in (signal.SIGTERM, signal.SIGHUP):  # which a job may ignore
            signal.signal(number, signal.SIG_DFL)
        try:
            release_file(
                *arguments, progress=lambda rows, share: (os.write(write, b"."), sleep(60))
            )
        finally:
            os._exit(99)
    assert os.read(read, 1) == b"."
    os.kill(child, number)
    _, status = os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.posix
@pytest.mark.parametrize("ending", ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"])
def test_ended_in_the_middle_of_a_file(folder, ending):
    """A part is left by a program that is killed, hidden and for its owner alone."""
    source, number = folder / "in.csv", getattr(signal, ending)
    source.write_text(GOOD)
    before = sorted(os.listdir()), fingerprint(source)
    code = end_in_the_middle(number, source, "out.csv", "diagnosis", CLINIC)
    assert code == (99 if ending == "SIGINT" else -number)  # Ctrl-C is an exception, the others end
    left = list(folder.glob(".out.csv.*.part"))
    assert len(left) == (ending != "SIGINT")
    assert all(stat.S_IMODE(part.stat().st_mode) == 0o600 for part in left)
    names = sorted(set(os.listdir()) - {part.name for part in left})
    assert (names, fingerprint(source)) == before


@pytest.mark.posix
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_full_disk_leaves_nothing(folder, kind):
    (folder / "in.csv").write_text(GOOD)
    pd.read_csv("in.csv").assign(pad=np.random.default_rng(1).random(40_000)).to_parquet(
        "in.parquet"
    )
    before = sorted(os.listdir())
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match="large"):
            release_file(f"in.{kind}", f"out.{kind}", "diagnosis", CLINIC)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(os.listdir()) == before


def test_interrupted_by_its_own_callback(folder):
    (folder / "in.csv").write_text(GOOD)
    before = sorted(os.listdir())

    def stop(rows, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release_file("in.csv", "out.csv", "diagnosis", CLINIC, progress=stop)
    assert sorted(os.listdir()) == before


def test_csv_keeps_everything_but_the_column(folder):
    rows = [["007", "flu", 'two\nlines, "quoted"'], ["", "", "é"], ["1e3", "rare", "NA"]]
    with open("in.csv", "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter="\t").writerows([["id", "diagnosis", "note"], *rows])
    options = {"layout": Layout("\t"), "missing": "keep"}
    assert release_file("in.csv", "out.csv", "diagnosis", CLINIC, **options) == Released(3, 1)
    with open("out.csv", newline="", encoding="utf-8") as file:
        _, *new = csv.reader(file, delimiter="\t")
    assert [row[::2] for row in new] == [row[::2] for row in rows]
    assert new[1][1] == "" and {new[0][1], new[2][1]} <= set(NAMES)
    assert (folder / "out.csv").read_bytes().count(b"\r\n") == 4


def test_text_that_counts_as_missing(folder):
    (folder / "in.csv").write_text("diagnosis\nflu\nNA\nflu\n")
    with pytest.raises(ValueError, match=r"\(str\) in row 2"):
        release_file("in.csv", "out.csv", "diagnosis", CLINIC)
    options = {"missing": "keep", "layout": Layout(missing_text=["NA"])}
    assert release_file("in.csv", "out.csv", "diagnosis", CLINIC, **options).gaps == 1
    assert (folder / "out.csv").read_text().splitlines()[2] == "NA"


@pytest.mark.parametrize("kind", ["text", "large", "dictionary", "numbers"])
def test_parquet_keeps_types_and_other_columns(folder, kind):
    said = [None if i % 7 == 0 else NAMES[i % 3] for i in range(140_000)]
    column, mechanism = pa.array(said), CLINIC
    if kind == "dictionary":
        column = column.dictionary_encode()
    if kind == "large":
        column = column.cast(pa.large_string())
    if kind == "numbers":
        column = pa.array([None if s is None else NAMES.index(s) for s in said], pa.int8())
        mechanism = Mechanism(NOISY, CLINIC.prior, outputs=range(3))
    table = pa.table({"id": range(140_000), "diagnosis": column, "list": [[1, 2]] * 140_000})
    pq.write_table(table, "in.parquet", row_group_size=50_000)
    with pytest.raises(ValueError, match="missing in row 1"):
        release_file("in.parquet", "out.parquet", "diagnosis", mechanism)
    done = release_file("in.parquet", "out.parquet", "diagnosis", mechanism, missing="keep")
    new, old = pq.read_table("out.parquet"), pq.read_table("in.parquet")
    assert new.column_names == ["id", "diagnosis", "list"]
    new = new.rename_columns(old.column_names)
    assert new.schema == old.schema and new["id"] == old["id"] and new["list"] == old["list"]
    assert new["diagnosis"].is_null() == old["diagnosis"].is_null()
    assert done == Released(140_000, old["diagnosis"].null_count)
    changed = (
        np.array(new["diagnosis"].to_pylist()) != np.array(old["diagnosis"].to_pylist())
    ).sum()
    assert abs(changed / (140_000 - done.gaps) - 0.2) < 0.01


def test_unknown_in_the_last_row_of_parquet(folder, capsys):
    pd.DataFrame({"diagnosis": ["flu"] * 140_000 + ["cold"]}).to_parquet("in.parquet")
    assert main(command("in.parquet", "out.parquet")) == 2
    assert "(str) in row 140001, not among" in capsys.readouterr().err
    assert not (folder / "out.parquet").exists()


def test_an_existing_file_is_replaced_only_by_force(folder):
    (folder / "in.csv").write_text(GOOD)
    (folder / "out.csv").write_text("precious")
    assert main(command()) == 2 and (folder / "out.csv").read_text() == "precious"
    assert main(command("in.csv", "out.csv", "--force")) == 0
    assert sum(count_values("out.csv", "diagnosis").values()) == 40_000


def test_the_whole_way_on_the_command_line(folder, capsys):
    (folder / "in.csv").write_text(GOOD)
    assert (
        main("design --counts in.csv --column diagnosis --epsilon 1 -o d.json --json".split()) == 0
    )
    assert json.loads(capsys.readouterr().out)["holds"] is True
    assert main("release d.json in.csv out.csv --column diagnosis --json".split()) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 40_000
    assert (
        main(
            "estimate d.json out.csv --column diagnosis_released --json --confidence 0.999999999".split()
        )
        == 0
    )
    rows = json.loads(capsys.readouterr().out)["estimate"]
    assert len(rows) == 3 and all(row["low"] < 1 / 3 < row["high"] for row in rows)
    assert main("audit d.json --epsilon 1 --json".split()) == 0
    assert json.loads(capsys.readouterr().out)["holds"] is True
    assert main("audit d.json --epsilon 0.9".split()) == 1


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.csv", "0.75,0.25\n0.25,0.75\n"),
        ("a.csv", "no,yes\n0.75,0.25\n0.25,0.75\n"),
        ("a.csv", ",no,yes\na,0.75,0.25\nb,0.25,0.75\n"),
        ("a.csv", ",0,1\n0,0.75,0.25\n1,0.25,0.75\n"),
        ("a.csv", "x,prior,no,yes\na,0.5,0.75,0.25\nb,0.5,0.25,0.75\n"),
        ("a.json", "[[0.75, 0.25], [0.25, 0.75]]"),
        ("a.json", '{"channel": [[0.75, 0.25], [0.25, 0.75]], "inputs": ["a", "b"]}'),
    ],
)
def test_audit_reads_every_kind_of_matrix(folder, capsys, name, text):
    (folder / name).write_text(text)
    assert main(["audit", name, "1", "1", "--json", "--epsilon", "0.41"]) == 0
    facts = json.loads(capsys.readouterr().out)
    expected = {"epsilon": np.log(1.5), "maximal_leakage": np.log(1.5), "local_dp": np.log(3)}
    assert {key: facts[key] for key in expected} == pytest.approx(expected)
    assert main(["audit", name, "1", "1", "--epsilon", "0.40"]) == 1


def test_no_false_certificate_on_perturbed_mechanisms():
    """The largest lift of 500 mechanisms is pushed up by 1e-15 or less; none passes at its old level."""
    rng = np.random.default_rng(15)
    judged = 0
    while judged < 500:
        n, m = int(rng.integers(2, 7)), int(rng.integers(2, 7))
        made = Mechanism(random_channel(n, m, rng), random_prior(n, rng))
        level = tight_level(made)
        weights = made.weights.copy()
        column = int(np.nanargmax(made.leakage))
        row = int(weights[:, column].argmax())
        giver = max((j for j in range(m) if j != column), key=lambda j: weights[row, j])
        step = min(int(1e-15 * UNITS), int(weights[row, giver]))
        weights[row, [column, giver]] += [step, -step]
        if level is None or not step:
            continue
        proof = Certificate(level, weights, made.prior, made.inputs, made.outputs)
        assert made.certify(level) and not proof.holds
        with pytest.raises(ValueError, match="where 'false,"):
            Certificate.from_json(proof.to_json().replace('"holds": false', '"holds": true'))
        judged += 1


def tight_level(made):
    """The least float at which the mechanism passes, if one unit more would exceed it there."""
    lift = made.certify(0.0).largest_lift
    level = max(0.0, float(np.log(float(lift))) - 1e-15)
    while exp_below(level) < lift:
        level = float(np.nextafter(level, np.inf))
    column = int(np.nanargmax(made.leakage))
    prior = [Fraction(p) for p in made.prior.tolist()]
    row = int(made.weights[:, column].argmax())
    mean = sum(p * int(w) for p, w in zip(prior, made.weights[:, column])) / sum(prior)
    raised = (int(made.weights[row, column]) + int(1e-15 * UNITS)) / (
        mean + prior[row] / sum(prior) * int(1e-15 * UNITS)
    )
    return level if raised > exp_below(level) else None

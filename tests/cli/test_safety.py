"""The command line requires the level, the certificate and the names that were given, and prints no secrets."""

import hashlib
import io
import json
import os
import stat
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pmlbook import Mechanism, epsilon_pml, optimal_mechanism
from pmlbook.cli import commands, reading
from pmlbook.cli.command_line import main
from pmlbook.cli.reading import in_order_of
from pmlbook.cli.typed import fraction, shares
from pmlbook.release.certificate import Certificate
from pmlbook.release.mechanism import Design

NAMES = ("healthy", "flu", "rare")
CLINIC = Mechanism(
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], [0.6, 0.3, 0.1], NAMES, NAMES
)
HONEST = Mechanism(np.eye(3), [0.6, 0.3, 0.1], NAMES, NAMES)
GOOD = "id,said\n" + "".join(f"{i},{NAMES[i % 3]}\n" for i in range(3000))
SECRET = "my secret " * 100


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a certificate for 2 nats and a file."""
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(CLINIC.certify(2.0).to_json())
    Path("in.csv").write_text(GOOD)
    return tmp_path


@pytest.fixture
def run(folder, run):
    """Exit code and all output of a command, and that nothing appears unless it ends well."""

    def call(command, *more):
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        code, out, err = run(command, *more)
        if code:
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
            assert out == "" or command.startswith("audit")
            assert err.count("\n") == (not command.startswith("audit") or code == 2)
        return code, out + err

    return call


RELEASE = "release m.json in.csv out.csv --column said"


# levels and digests


@pytest.mark.parametrize("level, code", [("2", 0), ("2.0000001", 0), ("1.9999999", 1), ("0", 1)])
def test_a_certificate_above_the_level_releases_nothing(run, level, code):
    assert run(f"{RELEASE} --epsilon {level}")[0] == code


@pytest.mark.parametrize("level", ["-1", "nan", "inf", "1e999", "1_0", "two", "", "٣"])
def test_a_level_that_is_none(run, level):
    assert run(RELEASE, f"--epsilon={level}")[0] == 2
    assert run("design 1 1 -o d.json", f"--epsilon={level}")[0] == 2
    assert run("audit m.json", f"--epsilon={level}")[0] == 2


def test_a_digest_is_that_of_the_file_and_can_be_demanded(run):
    code, said = run("design a=1 b=2 --epsilon 0.3 -o d.json --json")
    digest = json.loads(said)["sha256"]
    assert code == 0 and digest == hashlib.sha256(Path("d.json").read_bytes()).hexdigest()
    Path("in.csv").write_text("said\na\nb\n")
    command = "release d.json in.csv out.csv --column said --json --force"
    code, said = run(f"{command} --sha256 {digest}")
    assert code == 0 and json.loads(said)["sha256"] == digest
    assert run(f"{command} --sha256 {digest.upper()}")[0] == 0
    wrong = digest[:-1] + "0123456789abcdef"[int(digest[-1], 16) - 1]
    code, said = run(f"{command} --sha256 {wrong}")
    assert code == 1 and "nothing released" in said and digest in said
    for none in ("", digest[:-1], f"{digest}0", f"0x{digest[2:]}", "g" * 64, f" {digest}"):
        assert run(command, f"--sha256={none}")[0] == 2


def test_every_other_certificate_has_another_digest(run):
    """The same mechanism for another level, other names, another prior, other weights."""
    others = [
        CLINIC.certify(2.1),
        Mechanism(CLINIC.channel, CLINIC.prior, NAMES, (*NAMES[:2], "other")).certify(2.0),
        Mechanism(CLINIC.channel, CLINIC.prior, NAMES[::-1], NAMES).certify(2.0),
        Mechanism(CLINIC.channel, [0.6, 0.2, 0.2], NAMES, NAMES).certify(2.0),
        Mechanism(CLINIC.channel[:, ::-1], CLINIC.prior, NAMES, NAMES).certify(2.0),
    ]
    digest = CLINIC.certify(2.0).digest
    assert run(f"{RELEASE} --sha256 {digest}")[0] == 0
    os.unlink("out.csv")
    for other in others:
        Path("m.json").write_text(other.to_json())
        assert run(f"{RELEASE} --sha256 {digest}")[0] == 1


def test_a_certificate_that_does_not_hold_releases_nothing(run):
    Path("m.json").write_text(HONEST.certify(2.0).to_json())
    code, said = run(RELEASE)
    assert code == 1 and "nothing released" in said


def test_a_design_that_does_not_hold_is_not_written(run, monkeypatch):
    monkeypatch.setattr(
        commands.pmlbook,
        "optimal_mechanism",
        lambda *arguments, **choice: Design(HONEST, 1.0, 1.0, "false"),
        raising=False,
    )
    code, said = run("design healthy=6 flu=3 rare=1 --epsilon 0.4 -o d.json")
    assert code == 1 and "nothing written" in said


# priors


def test_a_prior_that_is_typed_is_meant_exactly():
    found = list(shares("a=22 b=3 c=3 d=12 e=3 f=5".split()).values())
    assert found == [Fraction(k, 48) for k in (22, 3, 3, 12, 3, 5)] and sum(found) == 1


def test_a_prior_that_is_typed_is_kept_when_it_is_read(run):
    typed = "a=22 b=3 c=3 d=12 e=3 f=5".split()
    code, said = run("design --epsilon 0.2 -o d.json --json", *typed)
    assert code == 0 and json.loads(said)["holds"]
    assert run("audit d.json --epsilon 0.2")[0] == 0
    Path("in.csv").write_text("said\n" + "a\nf\n" * 9)
    assert run("release d.json in.csv out.csv --column said --epsilon 0.2 --believed")[0] == 0


@pytest.mark.parametrize("seed", range(3))
def test_what_is_designed_from_counts_is_kept_when_it_is_read(run, seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        weights = [f"{name}={k}" for name, k in zip("abcdef", rng.integers(1, 40, size=6))]
        level = repr(float(rng.uniform(0.05, 1.0)))
        command = "design -o d.json --force --epsilon"
        assert run(f"{command} {level}", *weights)[0] == 0
        assert run(f"audit d.json --epsilon {level}")[0] == 0


@pytest.mark.parametrize(
    "word",
    [
        "0",
        "-1",
        "nan",
        "inf",
        "1_6",
        "1e1000",
        "1e100000000",
        "9" * 41,
        "1/0",
        "0x10",
        "٣",
        "",
        " 1",
        "1 ",
        "1/2/3",
        ".",
    ],
)
def test_what_is_no_weight_is_refused_at_once(word):
    assert fraction(word) is None
    with pytest.raises(ValueError, match="no positive number"):
        shares([f"a={word}"])


def test_weights_are_exact():
    for word, meant in (
        ("0.1", (1, 10)),
        ("1e-3", (1, 1000)),
        (".5", (1, 2)),
        ("5.", (5, 1)),
        ("2/6", (1, 3)),
    ):
        assert fraction(word) == Fraction(*meant)


def test_weights_are_named_or_numbered_not_both():
    for words in (["a=1", "2"], ["1", "b=2"], ["a=1", "a=2"]):
        with pytest.raises(ValueError, match="some places|twice"):
            shares(words)


CHANNEL = np.array([[0.9, 0.1], [0.2, 0.8]])
MATRICES = {
    "a.csv": "who,no,yes\na,0.9,0.1\nb,0.2,0.8\n",
    "a.json": '{"channel": [[0.9, 0.1], [0.2, 0.8]], "inputs": ["a", "b"]}',
    "b.json": '{"channel": [[0.2, 0.8], [0.9, 0.1]], "inputs": ["b", "a"], "prior": {"a": 0.5, "b": 0.5}}',
    "c.json": Mechanism(CHANNEL, [0.5, 0.5], ("a", "b")).certify(3.0).to_json(),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("typed", [["a=0.4", "b=0.6"], ["b=0.6", "a=0.4"], ["b=3", "a=2"]])
def test_a_prior_with_names_goes_to_these_names(run, name, typed):
    Path(name).write_text(MATRICES[name])
    code, said = run(f"audit {name} --json", *typed)
    assert code == 0 and np.isclose(
        json.loads(said)["epsilon"], epsilon_pml(CHANNEL, [0.4, 0.6]), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize(
    "typed",
    [
        ["a=0.4", "c=0.6"],
        ["A=0.4", "B=0.6"],
        ["a=1"],
        ["a=1", "b=1", "c=1"],
        ["0=1", "1=1"],
        ["1", "1", "1"],
    ],
)
def test_names_that_differ_are_refused_with_both_lists(run, name, typed):
    Path(name).write_text(MATRICES[name])
    code, said = run(f"audit {name}", *typed)
    ours = "['b', 'a']" if name == "b.json" else "['a', 'b']"
    theirs = [word.rpartition("=")[0] for word in typed] if "=" in typed[0] else [0, 1, 2]
    assert code == 2 and ours in said and str(theirs) in said


def test_a_matrix_without_names_has_numbers_as_names(run):
    Path("a.csv").write_text("0.9,0.1\n0.2,0.8\n")
    for typed in (["0.4", "0.6"], ["0=0.4", "1=0.6"], ["1=0.6", "0=0.4"]):
        said = json.loads(run("audit a.csv --json", *typed)[1])
        assert np.isclose(said["epsilon"], epsilon_pml(CHANNEL, [0.4, 0.6]), rtol=0, atol=1e-12)
    code, said = run("audit a.csv a=1 b=1")
    assert code == 2 and "['a', 'b']" in said and "[0, 1]" in said


def test_names_that_look_alike_are_not_matched():
    with pytest.raises(ValueError, match="the prior is about"):
        in_order_of({"1": 1, "x": 2}, [1, "1"])
    assert in_order_of({0: 1, 1: 2}, ["b", "a"]) == [
        1,
        2,
    ]  # bare numbers are meant in the order of the rows


@pytest.mark.parametrize(
    "name, text, told",
    [
        ("a.csv", "who,prior,prior,no\na,0.5,0.5,1\n", "more than one column 'prior'"),
        (
            "a.csv",
            "who,no,yes\na,0.9,0.1\nb,my secret,0.8\n",
            "row 2 below the header has no number",
        ),
        ("a.csv", "who,no,yes\na,0.9\n", "row 1 below the header has 2 fields instead of 3"),
        ("a.csv", "who,no,yes\na,1_0,0.1\n", "no number"),
        ("a.csv", "who,no,yes\na,nan,0.1\n", "no number"),
        ("a.json", '{"channel": [[1]], "channel": [[0.5, 0.5]]}', "a key twice"),
        ("a.json", '{"channel": [["my secret"]]}', "row 1 is no list of numbers"),
        ("a.json", '{"channel": [[true, false]]}', "row 1 is no list of numbers"),
        ("a.json", '{"channel": "my secret"}', "holds no channel"),
        ("a.json", '{"channel": [[1.0]], "inputs": "a"}', "must be lists of names"),
        (
            "a.json",
            '{"channel": [[1], [1]], "prior": {"a": 0.5, "b": 0.5}}',
            "the prior is about ['a', 'b']",
        ),
        ("a.json", "[" * 100_000, "is no JSON"),
        ("a.json", '"my secret"', "holds no channel"),
        ("a.json", "\ufeff[my secret]", "is no JSON"),
        ("a.csv", "\udcff", "no UTF-8 text"),
    ],
)
def test_matrices_that_are_none(run, name, text, told):
    Path(name).write_text(text, encoding="utf-8", errors="surrogateescape")
    code, said = run(f"audit {name} 1 1")
    assert code == 2 and told in said and "my secret" not in said


def test_what_is_too_long_is_not_read(run, monkeypatch):
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 1000)
    os.truncate("m.json", 10**6)
    for command in (RELEASE, "audit m.json", "estimate m.json in.csv --column said"):
        code, said = run(command)
        assert code == 2 and "more than 1,000 bytes" in said


# files


@pytest.mark.posix
@pytest.mark.parametrize("make", [os.link, os.symlink, lambda old, new: None])
def test_nothing_that_is_read_is_ever_replaced(run, make):
    make("in.csv", "other.csv")
    make("m.json", "other.json")
    counted = "design --counts in.csv --column said --epsilon 1 --force -o"
    target = "other.csv" if os.path.exists("other.csv") else "in.csv"
    assert run(f"{counted} {target}") == (
        2,
        f"pmlbook: {target} is source and target: an input is never changed\n",
    )
    released = "release m.json in.csv {} --column said --force"
    for target in ("other.csv", "in.csv", "other.json", "m.json"):
        if os.path.exists(target):
            code, said = run(released.format(target))
            assert code == 2 and "source and target" in said


@pytest.mark.posix
def test_certificates_are_private_and_releases_as_open_as_their_source(run):
    umask = os.umask(0o022)
    assert run("design 1 1 --epsilon 1 -o d.json")[0] == 0
    for rights, expected in ((0o640, 0o600), (0o644, 0o644)):
        os.chmod("in.csv", rights)
        assert run(f"{RELEASE} --force")[0] == 0
        assert stat.S_IMODE(os.stat("out.csv").st_mode) == expected
    os.umask(umask)
    assert stat.S_IMODE(os.stat("d.json").st_mode) == 0o600


# what is said


BAD = {
    "unknown": f"id,said\n1,flu\n2,{SECRET}\n",
    "missing": f"id,said\n{SECRET},\n",
    "too long": f"id,said\n1,flu,{SECRET}\n",
    "no header": f"{SECRET},flu\n1,flu\n",
    "quotes": f'id,said\n"{SECRET}"x,flu\n',
    "encoding": f"id,said\n{SECRET}\udcff,flu\n",
    "delimiter": f"id;said\n{SECRET};flu\n",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_no_secret_is_told(run, text):
    Path("in.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    commands = (
        RELEASE,
        "estimate m.json in.csv --column said",
        "audit in.csv 1 1",
        "release in.csv in.csv out.csv --column said",
    )
    for command in commands:
        code, said = run(command)
        assert code == 2 and "my secret" not in said and len(said) < 300, said


def test_one_secret_is_shown_where_asked_and_shortened(run):
    Path("in.csv").write_text(f"id,said\n1,{SECRET}\n2,other secret\n")
    for command in (RELEASE, "estimate m.json in.csv --column said"):
        code, said = run(f"{command} --show-values")
        assert code == 2 and "'my secret" in said and "other secret" not in said and len(said) < 300


def test_parquet_shows_nothing_either(run):
    columns = {
        "lists": pa.array([[SECRET]]),
        "text": pa.array([SECRET]),
        "numbers": pa.array([4711]),
    }
    pq.write_table(pa.table(columns), "in.parquet")
    for column in columns:
        for command in ("release m.json in.parquet out.parquet", "estimate m.json in.parquet"):
            code, said = run(f"{command} --column {column}")
            assert code == 2 and "my secret" not in said and "4711" not in said
    code, said = run("design --counts in.parquet --column lists --epsilon 1 -o d.json")
    assert code == 2 and "my secret" not in said and "cannot be counted" in said


def test_what_was_done_is_done_though_nobody_listens(folder, monkeypatch):
    """A pipe that was closed, and a terminal without the character, change nothing about the exit code."""
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(RELEASE.split()) == 0
    narrow = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert main("design é=1 ü=2 --epsilon 1 -o é.json".split()) == 0
    narrow.seek(0)
    assert "output: \\xe9.json" in narrow.read() and Path("é.json").exists()


def test_stopped_by_the_keyboard(run, monkeypatch):
    def stop(*arguments, **choice):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "release_file", stop)
    assert main(RELEASE.split()) == 130


# columns that stay

SHARES = {"young": [0.95, 0.04, 0.01], "old": [0.25, 0.56, 0.19]}


def ages(name, size, seed):
    rng = np.random.default_rng(seed)
    rows = [(age, said) for age in SHARES for said in rng.choice(NAMES, size, p=SHARES[age])]
    pd.DataFrame(rows, columns=["age", "said"]).to_csv(name, index=False)


def test_the_readme_mechanism_beside_a_visible_column():
    best = optimal_mechanism([0.6, 0.3, 0.1], 0.4).mechanism
    assert np.allclose(np.mean(list(SHARES.values()), axis=0), [0.6, 0.3, 0.1], rtol=0, atol=1e-15)
    levels = [epsilon_pml(best.channel, own) for own in SHARES.values()]
    assert best.certify(0.4) and [round(level, 2) for level in levels] == [0.74, 0.85]


def test_strata_are_reported_and_insisted_on(run):
    ages("in.csv", 4000, 1)
    assert run("design healthy=6 flu=3 rare=1 --epsilon 0.4 -o d.json")[0] == 0
    command = "release d.json in.csv out.csv --column said --given age --visible age --json"
    code, said = run(f"{command} --epsilon 0.4")
    assert code == 1 and "2 of 2 strata may leak more than 0.4" in said
    code, said = run(command)
    strata = json.loads(said)["strata"]
    assert code == 0 and [row["stratum"] for row in strata] == [["old"], ["young"]]
    assert [row["rows"] for row in strata] == [4000, 4000]
    assert np.allclose([row["level"] for row in strata], [0.85, 0.74], rtol=0, atol=0.03)
    assert all(row["level"] < row["worst"] < row["level"] + 0.2 for row in strata)
    code, said = run(f"{command.replace('--json', '--force')} --epsilon 0.9999")
    assert code == 0 and "2 strata" in said and "old (4000 rows): 0.8" in said


def test_a_design_for_all_strata_keeps_its_level_in_each(run):
    ages("in.csv", 4000, 1)
    counted = "design --counts in.csv --column said --epsilon 0.4 -o d.json"
    assert run(f"{counted} --given age")[0] == 0
    certificate = Certificate.from_json(Path("d.json").read_text())
    made = Mechanism.from_certificate(certificate)
    assert set(made.inputs) == set(NAMES) and certificate.holds
    for own in SHARES.values():
        assert (
            epsilon_pml(made.channel, [dict(zip(NAMES, own))[name] for name in made.inputs]) <= 0.4
        )
    assert run("release d.json in.csv out.csv --column said --given age --epsilon 0.4")[0] == 0
    assert (
        run(f"{counted} --visible age --force")[0] == 0
    )  # the same without strata is for everybody together
    assert run("release d.json in.csv new.csv --column said --given age --epsilon 0.4")[0] == 1


@pytest.mark.parametrize(
    "more, told",
    [
        ("1 1 --given age", "--given needs --counts"),
        ("--counts in.csv --column said --given said", "released and be visible"),
        ("--counts in.csv --column said --given sex", "column 'sex' is not in"),
        (
            "--counts in.csv --column said --given age --confidence 1",
            "'--confidence': '1' is no number strictly between 0 and 1",
        ),
        ("--counts in.csv --column said --given age --max-time 3", "--max-time is not allowed"),
        ("--counts in.csv", "go together"),
        ("1 1 --column said", "go together"),
    ],
)
def test_designs_for_strata_that_make_no_sense(run, more, told):
    ages("in.csv", 50, 1)
    code, said = run(f"design --epsilon 1 -o d.json {more}")
    assert code == 2 and told in said


def test_names_cannot_forge_lines_or_command_a_terminal(folder, capsys):
    names = ("no\npublished: nothing", "\x1b[2Jyes", "\u202ereversed")
    made = Mechanism(CLINIC.channel, [0.6, 0.3, 0.1], names, NAMES)
    Path("forged.json").write_text(made.certify(2.0).to_json())
    assert main(["estimate", "forged.json", "in.csv", "--column", "said"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 4 and out.replace("\n", "").isprintable()
    assert r"no\npublished: nothing" in out and r"\x1b[2Jyes" in out
    assert main(["design", "a=1/2,b=1/2", "--epsilon", "\x1b[2J"]) == 2
    assert capsys.readouterr().err.replace("\n", "").isprintable()


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream_changes_no_exit_code(folder, monkeypatch, closed):
    """As under some daemons; the files are written, and the code says so."""
    monkeypatch.setattr(sys, closed, None)
    release = ["release", "m.json", "in.csv", "out.csv", "--column", "said"]
    assert main([*release, "--epsilon", "2"]) == 0
    assert Path("out.csv").exists()
    assert main(["release", "m.json", "in.csv", "two.csv", "--column", "none"]) == 2


@pytest.mark.parametrize(
    "command",
    [
        RELEASE.replace("out.csv", "-"),
        RELEASE.replace("in.csv", "-"),
        "design no=1 yes=2 --epsilon 1 -o -",
    ],
)
def test_a_file_has_a_name_that_can_appear_as_a_whole(run, command):
    code, told = run(command)
    assert code == 2 and "'-' is no name of a file" in told and "/dev/stdin" in told

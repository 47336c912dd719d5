"""From a messy file to a mechanism: by questions at a terminal, or by options, and the page is safe to open."""

import io
import json
import os
import re
import shlex
from collections import Counter
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from pmlbook import Mechanism
from pmlbook.budget.log import ReleaseLog
from pmlbook.cli.command_line import main
from pmlbook.cli.reading import read_certificate
from pmlbook.cli.report import report
from pmlbook.cli.sentences import meant, sentences, short_label
from pmlbook.cli.wizard import merged, spread
from pmlbook.foundations import epsilon_max

ANSWERS = {"very good": 90, 'so "lala"': 60, "bad,\nreally": 40, "schön": 6, "不満": 2, "<b>&": 1}
ROWS = 200_000
KINDS = "mechanism.json", "estimate.json", "report.html"
GAPS = ("", "NA")


@pytest.fixture
def run(run):
    """A command line in a folder with a messy file."""
    write("in.csv", 600)
    return run


def write(name, rows):
    """A CSV with quotes, commas and line breaks in its fields, unicode, and gaps of two kinds."""
    texts = [text for text, count in ANSWERS.items() for _ in range(count)] + list(GAPS)
    column = np.random.default_rng(5).permutation(np.resize(np.array(texts, object), rows))
    fields = ['"{}"'.format(text.replace('"', '""')) for text in column]
    lines = [f'{i},{field},"a\n""b"""\r\n' for i, field in enumerate(fields)]
    Path(name).write_text("id,how was it,note\r\n" + "".join(lines), newline="")
    return Counter(column)


LAYOUT = "--missing-text ∅ --missing-text NA"
MESSY = f"start in.csv how~was~it {LAYOUT} --merge-below 0.05"
ALONE = f"{MESSY} --for frequencies --epsilon 0.5"


def test_from_file_to_report_and_back(run):
    """200,000 rows without a question: designed, released, logged, and the shares are estimated."""
    true = write("in.csv", ROWS)
    more = "--release out.csv --missing keep --start-log log.sqlite --budget 0.6 -o survey"
    code, out, err = run(f"{ALONE} {more}")
    assert code == 0, err
    files = ["in.csv", "log.sqlite", "out.csv", *(f"survey.{kind}" for kind in KINDS)]
    assert sorted(os.listdir()) == sorted(files)
    log = ReleaseLog(Path("log.sqlite"))
    (entry,) = log.entries
    assert (entry.rows, entry.account) == (ROWS, "how was it")
    assert log["how was it"].epsilon <= 0.5 and log.budget("how was it") == 0.6
    command = "estimate survey.estimate.json out.csv --column how~was~it_released --missing keep"
    command = f"{command} {LAYOUT}"
    code, out, err = run(f"{command} --json --confidence 0.999999999")
    told = {row["name"]: row for row in json.loads(out)["estimate"]}
    whole = sum(count for name, count in true.items() if name not in GAPS)
    assert set(told) == {"very good", 'so "lala"', "bad,\nreally", "other"}
    for name, row in told.items():
        rare = ("schön", "不満", "<b>&")
        count = true[name] if name != "other" else sum(true[x] for x in rare)
        assert row["low"] <= count / whole <= row["high"] and row["standard_error"] < 0.02
    again = "release survey.mechanism.json in.csv again.csv --column how~was~it --log log.sqlite"
    code, out, err = run(f"{again} {LAYOUT} --missing keep")
    assert code == 2 and "--again" in err
    code, out, err = run(f"{again} {LAYOUT} --missing keep --again")
    assert code == 1 and "budget" in err and "0.6" in err and not Path("again.csv").exists()


def test_both_certificates_are_of_one_mechanism(run):
    assert run(ALONE)[0] == 0
    whole, small = (read_certificate(Path(f"in.{kind}")) for kind in KINDS[:2])
    assert whole.holds and small.holds and whole.epsilon == small.epsilon == 0.5
    assert whole.largest_lift == small.largest_lift
    assert set(small.inputs) - set(whole.inputs) == {"other"} and len(small.inputs) == 4
    code, out, err = run(
        "release in.mechanism.json in.csv out.csv --column how~was~it --missing keep"
    )
    assert code == 2  # NA is an answer unless an option states that it is missing
    command = "release in.mechanism.json in.csv out.csv --column how~was~it --missing keep"
    assert run(f"{command} {LAYOUT}")[0] == 0


def test_asked_at_a_terminal_it_is_the_same(run):
    answers = ["nothing", "how was it", "2", "0.05", "x", "0.5", "all", ""]
    code, out, err = run(f"start in.csv {LAYOUT} -o asked", answers=answers)
    assert code == 0 and "'nothing' is no column" in err and "no share" in err
    assert "none that has a level" in err and "frequencies, mean or information" in err
    assert "rare: '不満', '<b>&'" in out and "very good: " in out
    assert run(f"{ALONE} -o told")[0] == 0
    for kind in KINDS[:2]:
        assert Path(f"asked.{kind}").read_bytes() == Path(f"told.{kind}").read_bytes()


def test_answers_that_end_write_nothing(run, monkeypatch, capsys):
    for answers in (["how was it"], ["how was it", "0.05"], ["how was it", "0.05", "0.5"]):
        typed = io.StringIO("".join(f"{answer}\n" for answer in answers))
        typed.isatty = lambda: True
        monkeypatch.setattr("sys.stdin", typed)
        assert main(["start", "in.csv"]) == 2 and os.listdir() == ["in.csv"]
        assert "no answer to the question" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command, missing",
    [
        ("start in.csv", ["COLUMN", "--merge-below", "--for", "--epsilon NATS or --promise"]),
        (MESSY, ["--for", "--epsilon"]),
        (f"{MESSY} --for mean", ["--epsilon NATS or --promise"]),
        ("start in.csv how~was~it --epsilon 1 --for mean", ["--merge-below"]),
    ],
)
def test_without_a_terminal_what_is_missing_is_listed(run, command, missing):
    code, out, err = run(command)
    assert code == 2 and "this is no terminal" in err and all(option in err for option in missing)
    assert err.count("\n") == 1 and os.listdir() == ["in.csv"]


@pytest.mark.parametrize(
    "options, told",
    [
        ("--epsilon 0.5 --promise x", "not allowed with"),
        ("--promise no~belief~more~than~halves", "none that has a level"),
        ("--epsilon 0.5 --other very~good", "is an answer itself"),
        ("--epsilon 0.5 --merge-below 1", "no share"),
        ("--epsilon 0.5 --merge-below=-1", "no share"),
        ("--epsilon 0.5 --merge-below nan", "no share"),
        ("--epsilon 0.5 --for mean", "names that are numbers"),
        ("--epsilon 0.5 -o none/x", "does not exist"),
        ("--epsilon 0.5 --budget 1 --release out.csv", "need a log"),
        ("--epsilon 0.5 --release in.csv --force", "never changed"),
        ("--epsilon 0.5 --budget 1", "--budget needs --release"),
        ("--epsilon 0.5 --start-log l", "--start-log needs --release"),
    ],
)
def test_what_start_refuses(run, options, told):
    command = f"{MESSY} --for frequencies {options}"
    code, out, err = run(command)
    assert code == 2 and told in err and err.count("\n") == 1, err
    assert os.listdir() == ["in.csv"]


def test_many_numbers_may_be_cut_into_ranges(run):
    rows = "".join(f"{number}\n" for number in 5 * [*range(60)])
    Path("in.csv").write_text(f"age\n{rows}")
    code, _, err = run("start in.csv age --for frequencies --epsilon 1")
    assert code == 2 and "give --merge-below SHARE, or for ranges of numbers --for shares" in err


def test_nothing_is_replaced_unless_forced(run):
    assert run(ALONE)[0] == 0
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    for kind in KINDS:
        kept = Path(f"in.{kind}")
        for other in KINDS:
            Path(f"in.{other}").unlink(missing_ok=True)
        kept.write_text("mine")
        assert run(ALONE)[0] == 2 and kept.read_text() == "mine"
        assert sorted(os.listdir()) == sorted(["in.csv", kept.name])
    assert run(f"{ALONE} --force")[0] == 0
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


def test_levels_that_publish_and_columns_of_identifiers(run):
    code, out, err = run(f"{MESSY} --for information --epsilon 20")
    assert code == 0 and "forbid nothing" in err and "leave one answer only" in err
    code, out, err = run("start in.csv id --merge-below 0 --for information --epsilon 1 -o x")
    assert code == 2 and "merge them into classes" in err


# merging


def test_merged_answers_behave_alike_and_leak_the_same():
    rng = np.random.default_rng(2)
    for _ in range(20):
        counts = {f"n{k}": int(count) for k, count in enumerate(rng.integers(1, 1000, size=9))}
        classes = merged(counts, Fraction(1, 8))
        total = sum(counts.values())
        prior = {name: Fraction(sum(map(counts.get, own)), total) for name, own in classes.items()}
        small = Mechanism(rng.dirichlet(np.full(3, 0.3), len(classes)), prior)
        whole = spread(small, classes, counts)
        assert whole.epsilon == small.epsilon and dict(zip(whole.inputs, whole.exact_prior)) == {
            name: Fraction(count, total) for name, count in counts.items()
        }
        assert whole.leakage == pytest.approx(small.leakage, rel=1e-12, abs=1e-12)


def test_where_nothing_is_rare_nobody_is_asked_for_merging(run):
    Path("two.csv").write_text("said\n" + "yes\nno\n" * 30)
    code, _, err = run("start two.csv said --for frequencies --epsilon 0.5")
    assert code == 0 and read_certificate(Path("two.mechanism.json")).holds, err
    Path("two.csv").write_text("said\n" + "yes\nno\n" * 300 + "a\nb\n")
    code, _, err = run("start two.csv said --for frequencies --epsilon 0.5 --force")
    assert code == 2 and "give --merge-below SHARE" in err


# the page


class Page(HTMLParser):
    """Tags that are open, and everything that could load or run something."""

    def __init__(self, text):
        super().__init__()
        self.open, self.bad, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "link", "iframe", "img", "object", "b") or any(
            name in ("src", "href", "srcset") or name.startswith("on") for name, _ in attributes
        ):
            self.bad.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "&lt;",
    "a\nb\u202ec\x00",
    "x" * 9999,
]


def test_every_name_is_only_a_name():
    made = Mechanism(np.full((5, 5), 0.2), [0.2] * 5, EVIL)
    for column in EVIL:
        text = report(made, 0.1, column, 100, EVIL, EVIL)
        page = Page(text)
        assert page.open == [] and page.bad == [] and "http" not in text and "url(" not in text
        assert all(short_label(name, 20) in page.text for name in EVIL)
    assert "\u202e" not in short_label(EVIL[3]) and len(short_label(EVIL[4])) == 24
    assert short_label("\udcff") == "\\udcff"


def test_the_page_of_the_messy_file(run):
    assert run(ALONE)[0] == 0
    text = Path("in.report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == [] and page.bad == [] and text.count("<svg") == 2
    assert "width=device-width" in text and "prefers-color-scheme:dark" in text
    digests = [read_certificate(Path(f"in.{kind}")).digest for kind in KINDS[:2]]
    assert all(digest in page.text for digest in digests)
    command = re.search("pmlbook release .*", page.text)[0]
    assert (
        "--column 'how was it' --missing-text '' --missing-text NA --missing keep --sha256"
        in command
    )


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.6, 0.3, 0.1], [1 - 1e-8, 1e-8], [0.25] * 4])
def test_sentences_follow_the_level(prior):
    made = Mechanism(np.ones((len(prior), 1)), prior)
    levels = [1e-10, 0.1, 0.5, epsilon_max(prior), 30.0]
    kept = [[keeps for *_, keeps in sentences(made, level)] for level in levels]
    always = min(prior) >= 0.5  # then no belief can more than double
    assert kept[-1] == [always, False, False, False]
    assert all(sum(a) >= sum(b) for a, b in zip(kept, kept[1:]))
    assert all(len(meant(made, level)) == 4 for level in levels)
    for text, most, _ in sentences(made, 0.0):
        most = min(most, 30.0)
        assert [keeps for t, _, keeps in sentences(made, most) if t == text] == [True]


def test_a_mean_is_designed_told_and_estimated(run):
    """Few outcomes, the error of the mean and not of frequencies, and no place in the code."""
    ages = np.random.default_rng(2).integers(20, 50, 3000)
    Path("ages.csv").write_text("age\n" + "".join(f"{age}\n" for age in ages))
    words = "start ages.csv age --merge-below 0 --for mean --epsilon 0.3 --release out.csv"
    code, out, err = run(words)
    assert code == 0 and err == ""
    assert "mean: estimated, with a standard error of" in out
    assert len(read_certificate(Path("ages.mechanism.json")).outputs) < 9
    assert "--mean" in Path("ages.report.html").read_text()
    code, out, err = run(
        "estimate ages.mechanism.json out.csv --column age_released --mean --json --confidence 0.999999999"
    )
    told = json.loads(out)
    assert code == 0 and told["low"] < ages.mean() < told["high"]
    assert abs(told["mean"] - ages.mean()) < 7 * told["standard_error"]
    code, out, err = run("estimate ages.mechanism.json out.csv --column age_released")
    assert code == 2 and "do not determine the frequencies" in err


def test_a_warning_is_told_without_a_place_in_the_code(run):
    shares = " ".join(f"{k}={k + 1}" for k in range(14))
    words = f"design {shares} --epsilon 0.3 --for mean --max-time 0 -o d.json"
    code, out, err = run(words)
    assert code == 0 and err.startswith("pmlbook: warning:") and ".py" not in err
    assert "mean: estimated" in out and "frequencies" not in out.split("mean: estimated")[1]


def test_the_printed_start_asks_nothing_and_designs_the_same(run):
    code, out, _ = run("start in.csv", answers=["how was it", "0.05", "0.5", "frequencies"])
    command = next(line for line in out.splitlines() if line.startswith("pmlbook start"))
    assert code == 0 and run("", *shlex.split(command)[1:], "-o", "again")[0] == 0
    for kind in KINDS[:2]:
        assert Path(f"again.{kind}").read_bytes() == Path(f"in.{kind}").read_bytes()

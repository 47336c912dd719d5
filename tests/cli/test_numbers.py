"""A column of numbers from the first question to the estimate: limits, priors, goals, gaps, and what is refused."""

import json
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from pmlbook.additive_noise import mean_mechanism, quantile_mechanism
from pmlbook.cli.reading import number_reader, numbers_in, read_certificate
from pmlbook.cli.typed import limits, several
from pmlbook.release.mechanism import Mechanism
from pmlbook.release.sampling import random_words

AGES = np.random.default_rng(6).integers(18, 90, 4000)
BASE = "start ages.csv age --limits 0 110"


@pytest.fixture
def run(run):
    """A command line in a folder with ages, some of them missing."""
    Path("ages.csv").write_text("age,kept\n" + "".join(f"{age},x\n" for age in AGES))
    gaps = "".join(f"{'' if i % 7 == 0 else age},x\n" for i, age in enumerate(AGES))
    Path("gaps.csv").write_text("age,kept\n" + gaps)
    return run


@pytest.mark.parametrize(
    "prior, goal, option, true",
    [
        ("column", "mean", "--mean", AGES.mean()),
        ("uniform", "mean", "--mean", AGES.mean()),
        ("normal~50~20", "quantile", "--quantile 0.5", np.median(AGES)),
        ("gaps.csv", "quantile --quantile 0.8", "--quantile 0.8", np.quantile(AGES, 0.8)),
    ],
)
def test_from_the_file_to_the_estimate(run, prior, goal, option, true):
    command = f"{BASE} --prior-from {prior} --epsilon 0.5 --for {goal} --release out.csv -o n"
    code, out, err = run(command)
    assert code == 0 and err == "", err
    assert read_certificate(Path("n.mechanism.json")).holds
    page = Path("n.report.html").read_text()
    assert "were given, and not taken from the file" in page and "no mechanism on the line" in page
    code, out, err = run(
        f"estimate n.mechanism.json out.csv --column age_released {option} --json --confidence 0.999999"
    )
    told = json.loads(out)
    assert code == 0 and told["low"] <= true <= told["high"] and told["standard_error"] > 0
    assert Path("out.csv").read_text().count(",x\n") == 4000


def test_shares_between_cuts(run):
    words = (
        f"{BASE} --prior-from column --epsilon 1 --for shares --cut 30 --cut 65 --release out.csv"
    )
    code, out, err = run(words)
    assert code == 0 and "shares: estimated" in out
    code, out, err = run(
        "estimate ages.mechanism.json out.csv --column age_released --json --confidence 0.999999"
    )
    rows = {row["name"]: row for row in json.loads(out)["estimate"]}
    assert list(rows) == ["0 to 30", "30 to 65", "65 to 110"]
    for name, true in zip(rows, np.histogram(AGES - 0.5, [0, 30, 65, 110])[0] / 4000):
        assert rows[name]["low"] <= true <= rows[name]["high"]


@pytest.mark.parametrize("goal", ["quantile", "shares --cut 41 --cut 65.5"])
def test_the_level_asked_for_holds_under_the_shares_of_the_column(run, goal):
    """Ages are whole, and its histogram is not: within a bin they are not spread evenly."""
    assert (
        run(f"{BASE} --prior-from column --epsilon 0.5 --for {goal} --release out.csv -o n")[0] == 0
    )
    found = read_certificate(Path("n.mechanism.json"))
    edges = [float(name.split(" to ")[0]) for name in found.inputs][1:]
    rows = np.bincount(np.searchsorted(edges, AGES), minlength=len(found.inputs))
    channel = np.array(found.weights)[rows > 0]
    lifts = channel.max(axis=0) / (rows[rows > 0] / rows.sum() @ channel)
    assert 0.49 < np.log(lifts.max()) <= 0.5 + 1e-12


def test_numbers_in_heaps_cost_no_precision(run):
    """Ages rounded to tens lie at one end of a bin each, and the cells of the design are whole bins."""
    Path("tens.csv").write_text(
        "age\n" + "".join(f"{round(age, -1)}\n" for age in AGES.astype(int))
    )
    code, out, err = run(
        "start tens.csv age --limits 0 110 --prior-from column --epsilon 0.5 --for quantile --release o.csv -o n"
    )
    assert code == 0, err
    levels = re.findall(
        r"under the (?:prior of the design|shares of this file): ([0-9.]+) nats", out
    )
    assert all(0.45 < float(level) <= 0.5 for level in levels) and len(levels) >= 2


def test_asked_and_told_are_the_same_design(run):
    answers = ["age", "numbers", "0 100 7", "0 110", "nothing", "uniform", "0.4", "mean"]
    code, out, err = run("start ages.csv -o asked", answers=answers)
    assert code == 0 and "pair of numbers" in err and "No such file" in err, err
    assert "take them from what you know" in out
    commands = [line for line in out.splitlines() if line.startswith("pmlbook ")]
    assert run("", *shlex.split(commands[0])[1:], "-o", "told")[0] == 0
    for kind in ("mechanism.json", "report.html"):
        asked, told = (Path(f"{name}.{kind}").read_text() for name in ("asked", "told"))
        assert asked == told.replace("told.", "asked.")


def test_numbers_may_be_taken_as_answers(run):
    Path("tens.csv").write_text("age\n" + "".join(f"{age // 10 * 10}\n" for age in AGES))
    code, out, err = run("start tens.csv age -o a", answers=["answers", "0.3", "frequencies"])
    assert code == 0 and len(read_certificate(Path("a.mechanism.json")).inputs) == 8


@pytest.mark.parametrize(
    "command, told",
    [
        ("start ages.csv age --epsilon 1 --for mean", "--limits LOW HIGH, or --merge-below SHARE"),
        (BASE, "--prior-from column|uniform|FILE, --epsilon NATS, --for mean|quantile|shares"),
        (f"{BASE} --prior-from uniform --epsilon 1 --for shares", "give --cut"),
        (
            f"{BASE} --prior-from uniform --epsilon 1 --for shares --cut 50 --cut 20",
            "cuts must rise",
        ),
        (f"{BASE} --prior-from uniform --epsilon 1 --for frequencies", "mean, quantile or shares"),
        (f"{BASE} --prior-from normal --epsilon 1 --for mean", "is no prior"),
        (f"{BASE} --prior-from normal~50~0 --epsilon 1 --for mean", "deviation above 0"),
        (f"{BASE} --prior-from none.csv --epsilon 1 --for mean", "No such file|does not exist"),
        (f"{BASE} --prior-from uniform --epsilon 1 --for mean --cut 3", "needs --for shares"),
        (f"{BASE} --merge-below 0", "is for answers"),
        (f"{BASE} --promise x", "is for answers"),
        ("start ages.csv age --quantile 0.5", "needs --limits"),
        ("start ages.csv kept --epsilon 1 --for quantile", "give --limits LOW HIGH"),
        (
            "start ages.csv age --limits 20 110 --prior-from column --epsilon 1 --for mean",
            "lie outside",
        ),
        (
            "start ages.csv age --limits 9 9 --prior-from column --epsilon 1 --for mean",
            "lower one first",
        ),
        (
            "start ages.csv kept --limits 0 9 --prior-from column --epsilon 1 --for mean",
            "no number in row 1",
        ),
    ],
)
def test_what_is_refused(run, command, told):
    code, out, err = run(command)
    assert code == 2 and any(text in err for text in told.split("|")) or told in err, err
    assert sorted(os.listdir()) == ["ages.csv", "gaps.csv"] and err.count("\n") == 1


def test_clipped_numbers_and_gaps(run):
    command = (
        "start gaps.csv age --limits 20 80 --clip --prior-from column --for mean --epsilon 0.5"
    )
    assert run(f"{command} --release out.csv")[0] == 2  # gaps stay only if that is wanted
    assert sorted(os.listdir()) == ["ages.csv", "gaps.csv"]  # and nothing is written before
    assert run(f"{command} --release out.csv --missing keep")[0] == 0
    released = [line.split(",")[0] for line in Path("out.csv").read_text().splitlines()[1:]]
    assert [i for i, text in enumerate(released) if not text] == list(range(0, 4000, 7))
    code, out, err = run(
        "estimate gaps.mechanism.json out.csv --column age_released --mean --json --missing keep"
    )
    told, kept = json.loads(out), AGES[np.arange(4000) % 7 > 0].clip(20, 80)
    assert abs(told["mean"] - kept.mean()) < 6 * told["standard_error"]
    assert run("release gaps.mechanism.json gaps.csv o.csv --column age")[0] == 2


def test_coins_are_thrown_once_for_an_account(run):
    mean = f"{BASE} --prior-from column --for mean --epsilon 0.5 -o m"
    assert run(f"{mean} --release a.csv --start-log log.sqlite")[0] == 0
    code, out, err = run(f"{mean} --release b.csv --log log.sqlite --again")
    assert code == 2 and not Path("b.csv").exists(), err
    cells = f"{BASE} --prior-from uniform --for quantile --epsilon 0.3 -o c"
    assert run(f"{cells} --release c.csv --start-log cells.sqlite")[0] == 0
    command = (
        "release c.mechanism.json ages.csv d.csv --column age --believed --log cells.sqlite --again"
    )
    code, out, err = run(f"{command} --json")
    most = -np.log(2 * np.exp(-0.3) - 1)  # of any two releases: their e^-level add up
    assert code == 0 and 0.3 < json.loads(out)["joint"] <= most + 1e-12  # cells have no coins


def test_a_column_of_parquet(tmp_path, run):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    ages = [None if i == 3 else float(age) for i, age in enumerate(AGES)]
    pq.write_table(pa.table({"age": ages}), "ages.parquet")
    command = "start ages.parquet age --limits 0 110 --prior-from column --for mean --epsilon 0.5"
    assert run(f"{command} --release out.parquet --missing keep")[0] == 0
    assert pq.read_table("out.parquet").column("age_released").null_count == 1


def test_the_inputs_of_a_mechanism_decide_how_a_column_is_read():
    nodes = number_reader(mean_mechanism({0: 0.5, 4: 0.5}, 0.5, bins=1).mechanism)
    assert nodes.nodes and nodes.edges.tolist() == [0, 4]
    made = quantile_mechanism(([1, 1], [0, 2, 4]), 0.5, bins=2).mechanism
    cells = number_reader(made, True)
    assert not cells.nodes and cells.edges.tolist() == [0, 2, 4]
    codes = cells([-1, 0, 2, 2.5, None, 9], "x", 1, "keep", random_words(1))
    assert codes.tolist() == [0, 0, 0, 1, -1, 1] and not cells.rounds
    for names in (("a", "b"), ("0 to 1", "2 to 3"), (1.0, 0.0), (1, 2), (False, True), ("1", "2")):
        assert number_reader(Mechanism([[0.5, 0.5]] * 2, [0.5, 0.5], names)) is None


def test_only_a_number_between_two_nodes_is_rounded():
    """Categories that are floats may be released again: nothing was rounded."""
    reader = number_reader(Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], (1.0, 2.0)))
    codes = reader([1.0, None, 2.0], "x", 1, "keep", random_words(1)).tolist()
    assert codes == [0, -1, 1] and not reader.rounds
    reader([1.5], "x", 4, "keep", random_words(1))
    assert reader.rounds


def test_fields_of_a_column():
    assert numbers_in(["1", " 2.5 ", "-1e2"], "x", 1).tolist() == [1, 2.5, -100]
    for bad in ("1_0", "nan", "inf", "1e400", "", "x", b"1", [1], True):
        with pytest.raises(ValueError, match="row 2"):
            numbers_in(["1", bad], "x", 1)


def test_answers_typed_in_one_line():
    assert limits("0 9.5") == [0, 9.5] and several("1 2") == [1, 2]
    for read, bad in ((limits, "1"), (limits, "2 1"), (several, ""), (several, "2 1")):
        with pytest.raises(ValueError):
            read(bad)


def test_the_file_of_the_prior_is_never_replaced(run):
    """It was, by the release or a report of its name, with --force."""
    before = Path("gaps.csv").read_bytes()
    command = f"{BASE} --epsilon 1 --for mean --force"
    for more in (
        "--prior-from gaps.csv --release gaps.csv",
        "--prior-from ./gaps.csv --release gaps.csv",
    ):
        code, _, err = run(f"{command} {more}")
        assert code == 2 and "an input is never changed" in err
    code, _, err = run(f"{command} --release gaps.csv", answers=["'gaps.csv' age"])
    assert code == 2 and "an input is never changed" in err
    assert Path("gaps.csv").read_bytes() == before
    Path("q.report.html").write_bytes(before)
    assert run(f"{command} -o q --prior-from q.report.html")[0] == 2
    assert Path("q.report.html").read_bytes() == before


def test_an_infinite_edge_is_no_number_of_json(run):
    cells = ["-inf~to~18=1", "18~to~40=1", "40~to~inf=2"]
    assert run(f"design --epsilon 0.4 --for frequencies -o inf.json -- {' '.join(cells)}")[0] == 0
    release = "release inf.json ages.csv out.csv --column age --believed"
    assert run(release)[0] == 0
    code, out, _ = run("estimate inf.json out.csv --column age_released --quantile 0.9 --json")
    found = json.loads(out, parse_constant=lambda text: pytest.fail(text))
    assert code == 0 and found["high"] is None

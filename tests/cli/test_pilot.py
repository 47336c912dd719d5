"""A design from a sample: released at its level where the design for the sample's own shares is refused."""

import json
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pmlbook.cli.reading import read_certificate


def drawn(seed, shares, size):
    return np.random.default_rng(seed).choice(list("abcd"), size, p=shares).tolist()


@pytest.fixture
def run(run):
    """A command line beside a pilot of 656 people, and a file whose shares are a little different."""
    pilot = [*drawn(1, [0.5, 0.3, 0.15, 0.05], 656), *[""] * 40]
    rows = drawn(2, [0.5, 0.3, 0.17, 0.03], 1876)
    for name, said in (("pilot", pilot), ("file", rows), ("other", [*rows, "zebra", "", "yak"])):
        Path(f"{name}.csv").write_text("said,kept\n" + "".join(f"{x},0\n" for x in said))
    return run


def told(run, command):
    code, out, err = run(command)
    assert code == 0, err
    return json.loads(out)


def test_a_pilot_holds_where_its_own_shares_do_not(run):
    design = "design --column said --epsilon 0.5 --json"
    told(run, f"{design} --counts pilot.csv -o own.json")
    code, out, err = run("release own.json file.csv out.csv --column said")
    assert code == 1 and "under the shares of this file" in err and not Path("out.csv").exists()
    told(run, f"{design} --pilot pilot.csv --confidence 0.99 -o all.json")
    done = told(run, "release all.json file.csv out.csv --column said --json")
    assert done["level_of_file"] <= 0.5 and done["chance_of_file"] < 0.001


@pytest.mark.parametrize("goal", ["frequencies", "information"])
def test_it_holds_for_the_shares_of_all_of_which_the_pilot_is_a_sample(run, goal):
    """Twelve pilots at 99 %, by Bayes' rule in whole numbers."""
    truth = Fraction(1, 2), Fraction(3, 10), Fraction(3, 20), Fraction(1, 20)
    missed = 0
    for seed in range(12):
        rows = drawn(seed, [float(share) for share in truth], 400)
        Path("some.csv").write_text("said\n" + "\n".join([*rows, ""]))
        command = (
            f"design --column said --epsilon 0.5 --pilot some.csv --confidence 0.99 --for {goal}"
        )
        assert run(f"{command} -o some.json --force")[0] == 0
        made = read_certificate(Path("some.json"))
        lifts = []
        for column in zip(*made.weights.tolist()):
            lifts.append(max(column) / sum(share * w for share, w in zip(truth, column)))
        missed += max(lifts) > np.exp(0.5)
    assert missed == 0
    code, out, err = run("design --column said --epsilon 0.5 --pilot some.csv --for answers")
    assert code == 2 and "--for answers needs one prior" in err


def test_what_the_pilot_lacks_and_gaps_are_answers_if_they_have_a_name(run):
    design = "design --column said --epsilon 0.5 --pilot pilot.csv --json -o all.json"
    assert told(run, f"{design} --other rest --missing none")["inputs"] == 6
    assert "rest" in read_certificate(Path("all.json")).inputs
    release = "release all.json other.csv out.csv --column said --believed"
    assert run(f"{release} --missing none")[0] == 2  # 'zebra'
    assert run(f"{release} --other rest")[0] == 2  # a gap
    done = told(run, f"{release} --other rest --missing none --json")
    assert (done["rows"], done["gaps"]) == (1879, 0)
    assert (
        run(f"{design} --other a --force")[0] == 2 and run(f"{design} --missing a --force")[0] == 2
    )


def test_dates_of_parquet_are_designed_for_and_released(run):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    days = [date(2024, 2, 28) + timedelta(days=i % 3) for i in range(300)]
    pq.write_table(pa.table({"day": days}), "days.parquet")
    told(run, "design --counts days.parquet --column day --epsilon 0.4 -o d.json --json")
    assert "2024-02-29" in read_certificate(Path("d.json")).inputs
    assert told(run, "release d.json days.parquet out.parquet --column day --json")["rows"] == 300

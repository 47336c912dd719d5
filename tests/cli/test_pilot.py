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
    assert read_certificate(Path("d.json")).kind == "date"


def test_a_pilot_is_named_wherever_its_design_is_used(run):
    """In the certificate, by `design`, by `release`, and on the page, whose digest is that of the file."""
    design = "design --column said --epsilon 0.5 --pilot pilot.csv --confidence 0.99 -o all.json"
    text = (
        "designed from a pilot of 656 people: the level holds for every prior that the pilot allows, 0.5 nats; "
        "with confidence 99% the shares of all people are among them, if each row is another person"
    )
    release = "release all.json file.csv out.csv --column said"
    assert text in run(design)[1] and text in run(release)[1]
    assert told(run, f"{release} --force --json")["pilot"] == {"people": 656, "confidence": 0.99}
    assert run("report all.json --column said -o page.html")[0] == 0
    page = Path("page.html").read_text()
    assert text.capitalize() in page and read_certificate(Path("all.json")).digest in page
    written = Path("all.json").read_text()
    rarest = min(json.loads(written)["pilot_low"])
    Path("all.json").write_text(written.replace(repr(rarest), "0.0"))
    code, _, err = run(f"{release} --force")
    assert code == 2 and "this is no certificate" in err  # it does not hold for so few


def test_an_accuracy_is_asked_of_a_pilot(run):
    design = "design --column said --error 0.04 --rows 1500 -o e.json --force --json"
    alone = told(run, f"{design} --counts pilot.csv")
    done = told(run, f"{design} --pilot pilot.csv")
    assert done["pilot"]["people"] == 656 and done["standard_error"] <= 0.04
    assert alone["epsilon"] < done["epsilon"] and done["level_bound"] <= done["epsilon"]


def test_declared_answers_that_do_not_occur_are_named(run):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    said = pd.Categorical(["a", "b"] * 200, categories=["a", "b", "never"])
    pd.DataFrame({"said": said}).to_parquet("in.parquet")
    for command in (
        "design --counts in.parquet --column said --epsilon 0.4 -o own.json",
        "start in.parquet said --for frequencies --epsilon 0.4",
    ):
        code, _, err = run(command)
        assert code == 0 and "'never' declared" in err and "a file that holds one is refused" in err
    # What a sample lacks has a share from 0 up.
    code, _, err = run("design --pilot in.parquet --column said --epsilon 0.4 -o all.json")
    made = read_certificate(Path("all.json"))
    assert code == 0 and "never" not in err and set(made.inputs) == {"a", "b", "never"}
    assert min(made.pilot.low) == 0


def test_a_start_counts_gaps_as_an_answer(run):
    start = "start pilot.csv said --epsilon 0.5 --for frequencies --merge-below 0"
    code, out, err = run(f"{start} --missing none --release out.csv -o a")
    assert code == 0, err
    assert "none" in read_certificate(Path("a.mechanism.json")).inputs and "gaps: 0" in out
    lines = [line for line in out.splitlines() if line.startswith("pmlbook ")]
    assert "--missing none" in lines[0] and "--missing none" in lines[1]
    assert "--missing" not in lines[2]
    code, _, err = run(f"{start} --missing a -o b")
    assert code == 2 and "is an answer itself" in err
    code, _, err = run(f"{start} --missing keep -o b")
    assert code == 2 and "needs --release TARGET" in err
    code, _, err = run(f"{start.replace('pilot', 'file')} --missing none -o c")
    assert code == 2 and "no row is without a value" in err

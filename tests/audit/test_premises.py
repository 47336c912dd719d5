"""Columns that stay beside a release, and shares that moved: refused where chance does not explain them, and only there."""

import csv
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from pmlbook import estimation_mechanism
from pmlbook.audit.premises import Beside
from pmlbook.audit.strata import strata_region
from pmlbook.files import release_file
from pmlbook.files.release import count_strata
from pmlbook.numerics.validation import LevelExceeded
from pmlbook.robust import robust_mechanism

ANSWERS = ("flu", "asthma", "hiv")
PRIOR = dict(zip(ANSWERS, (0.6, 0.3, 0.1)))
DESIGN = estimation_mechanism(PRIOR, 0.3).mechanism


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("clinic", "condition"), *rows])


def drawn(rng, clinic_of, size=3000):
    answers = rng.choice(ANSWERS, size, p=list(PRIOR.values())).tolist()
    return [(clinic_of(rng, answer), answer) for answer in answers]


def telling(rng, answer):
    infectious = rng.random() < (0.8 if answer == "hiv" else 0.15)
    return "infectious" if infectious else "general"


def silent(rng, answer):
    return "infectious" if rng.random() < 0.2 else "general"


def worst_lift(rows, mechanism):
    """The largest lift within a clinic, by Bayes' rule in fractions."""
    lifts = []
    for clinic in {clinic for clinic, _ in rows}:
        counts = Counter(answer for where, answer in rows if where == clinic)
        table = [[Fraction(int(w)) for w in row] for row in mechanism.weights]
        for column in zip(*table):
            there = [(counts[a], w) for a, w in zip(mechanism.inputs, column) if counts[a]]
            mean = sum(n * w for n, w in there) / sum(n for n, _ in there)
            if mean:
                lifts.append(max(w for _, w in there) / mean)
    return max(lifts)


def test_a_column_that_tells_is_refused_and_nothing_is_written(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    write(source, drawn(np.random.default_rng(1), telling))
    with pytest.raises(
        LevelExceeded, match="knows 'clinic'.*--only.*--counts FILE --given clinic.*--visible"
    ):
        release_file(source, target, "condition", DESIGN)
    assert not target.exists()


def test_a_column_that_proves_answers_is_refused_within_the_level_too(tmp_path):
    rows = drawn(np.random.default_rng(1), lambda rng, answer: "b" if answer == "hiv" else "a")
    write(tmp_path / "in.csv", rows)
    alone = sum(clinic == "b" for clinic, _ in rows)
    assert math.log(worst_lift(rows, DESIGN)) < 0.5
    with pytest.raises(LevelExceeded, match=f"'clinic' alone proves the answer in {alone} rows"):
        release_file(tmp_path / "in.csv", tmp_path / "out.csv", "condition", DESIGN, stated=0.5)
    assert not (tmp_path / "out.csv").exists()


def test_the_level_for_its_reader_is_exact_and_recorded_where_it_is_accepted(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = drawn(np.random.default_rng(2), telling)
    write(source, rows)
    done = release_file(source, target, "condition", DESIGN, visible="clinic")
    (within,) = done.premises.within
    lift = worst_lift(rows, DESIGN)
    assert done.premises.visible == ("clinic",) and within.level > 0.5
    assert math.exp(within.level) == pytest.approx(float(lift), rel=1e-12)


def test_alone_it_is_written_alone(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    write(source, drawn(np.random.default_rng(3), telling))
    release_file(source, target, "condition", DESIGN, only=True)
    assert target.read_text("utf-8").splitlines()[0] == "condition_released"


def test_independent_columns_pass_though_they_exceed_the_level_a_little(tmp_path):
    """False alarms come in one file of a hundred at most: of sixty, none here."""
    source, rng = tmp_path / "in.csv", np.random.default_rng(4)
    exceeded = 0
    for trial in range(60):
        write(source, drawn(rng, silent))
        done = release_file(source, tmp_path / f"{trial}.csv", "condition", DESIGN)
        exceeded += done.premises.within[0].level > 0.3
    assert exceeded > 30


def moved(rng, prior, size):
    return [("all", answer) for answer in rng.choice(ANSWERS, size, p=prior).tolist()]


def test_a_file_that_is_no_sample_of_the_prior_is_refused_and_both_levels_are_told(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = moved(np.random.default_rng(5), [0.64, 0.3, 0.06], 1876)
    write(source, rows)
    with pytest.raises(LevelExceeded, match="under the shares of this file.*not 0.3:.*--believed"):
        release_file(source, target, "condition", DESIGN)
    assert not target.exists()
    done = release_file(source, target, "condition", DESIGN, believed=True).premises
    assert done.believed and done.level <= 0.3
    assert math.exp(done.own) == pytest.approx(float(worst_lift(rows, DESIGN)), rel=1e-12)


def test_samples_of_the_prior_pass_though_nearly_all_exceed_the_level(tmp_path):
    source, rng = tmp_path / "in.csv", np.random.default_rng(6)
    exceeded = 0
    for trial in range(60):
        size = int(rng.integers(20, 2000))  # few and many expected of the rarest
        write(source, moved(rng, list(PRIOR.values()), size))
        done = release_file(source, tmp_path / f"{trial}.csv", "condition", DESIGN)
        exceeded += done.premises.own > 0.3
    assert exceeded > 50


def test_a_design_for_strata_is_released_at_the_level_that_it_states(tmp_path):
    """Its level under the shares of all is lower than within a stratum: .26 and .29 for .3."""
    source = tmp_path / "in.csv"
    rows = drawn(np.random.default_rng(7), telling)
    write(source, rows)
    counts = count_strata(source, "condition", "clinic")
    tables = {name: [own[answer] for answer in ANSWERS] for name, own in counts.items()}
    design = robust_mechanism(strata_region(tables, inputs=ANSWERS), 0.3).mechanism
    command = (source, tmp_path / "out.csv", "condition", design)
    with pytest.raises(LevelExceeded, match="knows 'clinic'"):
        release_file(*command)
    assert release_file(*command, stated=0.3).premises.within[0].level <= 0.3


def test_nan_is_one_group_in_all_blocks_also_behind_a_null():
    pa = pytest.importorskip("pyarrow")
    beside = Beside(["income"], len(ANSWERS))
    for _ in range(40):
        beside.add(np.array([0, 1, 2, 2]), [pa.array([None, 1.0, math.nan, math.nan])])
    (within,) = beside.premises(DESIGN).within
    assert (within.strata, within.small, within.proved) == (3, 0, 160)


def test_a_zero_of_another_sign_is_seen():
    """One sign for each answer: the column tells all."""
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    codes = np.arange(90) % 2
    signs = np.where(codes, 0.0, -0.0)
    for column in (pa.array(signs), pd.Series([*signs, "none"], dtype=object)[:90]):
        beside = Beside(["change"], len(ANSWERS))
        beside.add(codes, [column])
        assert [one.proved for one in beside.premises(DESIGN).within] == [90]


@pytest.mark.parametrize(("small", "chance"), [(30, 3e-4), (250, 2.5e-3), (400, 4e-3)])
def test_a_single_rare_answer_in_a_small_stratum_counts_as_often_as_it_happens(small, chance):
    """One of 100,000 and more has it, and is among the few; its share of all rows is the chance."""
    codes = np.zeros(100_000 + small, int)
    codes[-1] = 2
    beside = Beside(["clinic"], len(ANSWERS))
    beside.add(codes, [["general"] * 100_000 + ["infectious"] * small])
    (within,) = beside.premises(DESIGN).within
    assert chance / 2 < within.chance < 2 * chance and (within.chance < 0.001) == (chance < 0.001)


def test_columns_of_parquet_are_counted_one_by_one_though_they_share_a_name(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    clinics, answers = zip(*drawn(np.random.default_rng(1), telling))
    columns = [pa.array(values) for values in (clinics, ["all"] * 3000, answers, ["all"] * 3000)]
    table = pa.table(columns, ["place", "place", "condition", "country"])
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(LevelExceeded, match="knows 'place'"):
        release_file(tmp_path / "in.parquet", tmp_path / "out.parquet", "condition", DESIGN)


def test_a_null_is_no_empty_text():
    """Also where Arrow takes them for the same, as in views of texts."""
    pa = pytest.importorskip("pyarrow")
    codes = np.arange(90) % 2
    for kind in (pa.string(), pa.string_view(), pa.binary_view()):
        beside = Beside(["note"], len(ANSWERS))
        beside.add(codes, [pa.array([None if code else b"" for code in codes], kind)])
        assert [one.proved for one in beside.premises(DESIGN).within] == [90]

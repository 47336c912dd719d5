"""Releasing a file: gaps, blocks, the reports of progress, and what is refused."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from refusals import refusal

from pmlbook.accounting.release import (
    Released,
    count_outcomes,
    count_strata,
    count_values,
    release_file,
)
from pmlbook.release.csv_fields import Layout
from pmlbook.release.mechanism import Mechanism

names = ("healthy", "flu", "rare")


noisy = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])


mechanism = Mechanism(noisy, [0.6, 0.3, 0.1], names, names)


def test_gaps_and_blocks_are_counted(tmp_path):
    column, told = ["flu", "", "rare", "", "healthy"], []
    (tmp_path / "gaps.csv").write_text(
        "id,diagnosis\n" + "".join(f"{i},{x}\n" for i, x in enumerate(column))
    )
    ahead = {"missing": "keep", "progress": lambda *how: told.append(how), "force": True}

    def confirm(done):
        """What is confirmed, and whether the target has its name."""
        told.append((done, (tmp_path / "kept.csv").exists()))

    gaps = tmp_path / "gaps.csv", tmp_path / "kept.csv", "diagnosis", mechanism
    with patch("pmlbook.release.csv_text.BLOCK_ROWS", 2):
        done = release_file(*gaps, confirm=confirm, **ahead)
        assert [rows for rows, _ in told[:-1]] == [2, 4, 5] and told[-2][1] == 1.0
        assert done == Released(5, 2) and told[-1] == (done, False)
        counts = count_values(tmp_path / "kept.csv", "diagnosis_released")
        assert counts[None] == 2 and sum(counts.values()) == 5
        kept = count_outcomes(tmp_path / "gaps.csv", "diagnosis", names, Layout(), "keep")
        assert kept.tolist() == [1, 1, 1]
        assert "missing in row 2" in refusal(release_file, *gaps, force=True)
        (tmp_path / "gaps.csv").write_text("id,diagnosis\n" + "1,flu\n" * 4 + "1,cold\n")
        assert "in row 5" in refusal(release_file, *gaps, force=True)
        of = tmp_path / "gaps.csv", "diagnosis"
        assert "in row 5" in refusal(count_outcomes, *of, names, Layout())
        assert count_strata(*of, "id", Layout(), 2) == {("1",): {"flu": 4, "cold": 1}}
        assert "more than 1 different values in its first 5 rows" in refusal(
            count_strata, *of, (), Layout(), 1
        )
        (tmp_path / "gaps.csv").write_text("id,diagnosis\n1,flu\n1,\n")
        assert count_strata(*of, (), Layout(), 1) == {(): {"flu": 1, None: 1}}
    assert "seeded release" in refusal(release_file, *gaps, confirm=confirm, rng=1, force=True)
    assert "of one kind" in refusal(release_file, gaps[0], tmp_path / "x.parquet", *gaps[2:])
    assert "visible as it is" in refusal(release_file, *gaps, given=["id", "diagnosis"], force=True)


def test_gaps_that_are_an_input_are_released(tmp_path):
    silent = Mechanism(noisy, [0.6, 0.3, 0.1], ("healthy", "flu", None), ("healthy", "flu", None))
    (tmp_path / "silent.csv").write_text("id,diagnosis\n" + "1,\n" * 300)
    pq.write_table(
        pa.table({"diagnosis": pa.array([None] * 300, pa.string())}), tmp_path / "silent.parquet"
    )
    for kind in ("csv", "parquet"):
        said = tmp_path / f"said.{kind}"
        done = release_file(tmp_path / f"silent.{kind}", said, "diagnosis", silent, missing="keep")
        assert done.gaps == 0 and count_values(said, "diagnosis_released")["flu"] > 0


def test_arguments_are_named_before_a_file_is_opened(tmp_path):
    good = {"source": tmp_path / "none.csv", "target": tmp_path / "new.csv"}
    good |= {"column": "said", "mechanism": mechanism}
    wrong = {
        "source": (None, "source must be a path, got a NoneType"),
        "target": (b"new.csv", "target must be a path, got a bytes"),
        "column": (5, "column must be a str, got a int"),
        "mechanism": (mechanism.certify(2.0), "mechanism must be a Mechanism, got a Certificate"),
        "layout": ({}, "layout must be a Layout, got a dict"),
        "given": (5, "given = 5 must be text, or several texts"),
    }
    for name, (value, told) in wrong.items():
        assert refusal(release_file, **(good | {name: value})) == told
    for value in (None, 5, [5]):
        assert "must be text, or several texts" in refusal(Layout, missing_text=value)
    assert refusal(count_values, None, "said") == "source must be a path, got a NoneType"


def test_a_gap_is_refused_or_kept_and_nothing_else(tmp_path):
    (tmp_path / "in.csv").write_text("said\nflu\n")
    of = tmp_path / "in.csv", tmp_path / "new.csv", "said", mechanism
    assert "missing = None is none of refuse, keep" in refusal(release_file, *of, missing=None)


def test_a_visible_column_that_is_given_twice_counts_once(tmp_path):
    (tmp_path / "in.csv").write_text("said,town\nflu,a\nrare,b\n")
    of = tmp_path / "in.csv", tmp_path / "new.csv", "said", mechanism
    done = release_file(*of, given=["town", "town"])
    assert {stratum.name for stratum in done.strata} == {("a",), ("b",)}


def test_a_broken_page_of_parquet_is_refused_with_the_name_of_its_file(tmp_path):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"said": ["flu", "rare"] * 5000}), path, use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[100:180] = bytes(80)
    path.write_bytes(data)
    told = refusal(release_file, path, tmp_path / "new.parquet", "said", mechanism)
    assert f"{path} cannot be read as Parquet" in told and not (tmp_path / "new.parquet").exists()

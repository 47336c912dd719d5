"""Files of matrices: what is read, and what is no matrix."""

import math
from decimal import Decimal

from refusals import refusal

from pmlbook.cli import reading as module
from pmlbook.cli.reading import MAX_FILE_BYTES, read_matrix, read_text
from pmlbook.cli.typed import level


def test_what_is_no_matrix_is_refused(tmp_path):
    texts = {
        "a.csv": ("no,yes\n0.5,0.5\n0.5\n", "row 2 below the header has 1 fields instead of 2"),
        "b.csv": ("no,yes\n0.5,often\n0.5,0.5\n", "row 1 below the header has no number"),
        "c.csv": ("prior,prior,x\n1,1,1\n", "more than one column 'prior'"),
        "d.json": ("[[1], 1]", "row 2 is no list of numbers"),
        "e.json": ("[[1, true], [1]]", "row 1 is no list of numbers"),
        "f.json": ('{"channel": [[1]], "inputs": "a"}', "must be lists of names"),
        "o.json": ('{"channel": [[1]], "inputs": ["a"], "outputs": "b"}', "must be lists of names"),
        "g.json": ('{"channel": 1}', "holds no channel"),
        "h.json": ("7", "holds no channel"),
        "i.json": ("[", "is no JSON"),
        "j.json": ('{"weights": 1}', "j.json"),
        "p.json": ("[[1e400]]", "one of its numbers is none that a float holds"),
        "p.csv": ("no,yes\n1,0\n1e-400,1\n", "row 2 below the header has no number"),
    }
    for name, (text, told) in texts.items():
        (tmp_path / name).write_text(text)
        assert told in refusal(read_matrix, tmp_path / name)


def test_names_stand_at_the_edges(tmp_path):
    (tmp_path / "k.csv").write_text("0.5,0.5\n0.25,0.75\n")
    assert read_matrix(tmp_path / "k.csv") == {"channel": [[0.5, 0.5], [0.25, 0.75]]}
    (tmp_path / "l.csv").write_text(",no,yes\n1,0.5,0.5\n2,0.25,0.75\n")
    assert read_matrix(tmp_path / "l.csv")["inputs"] == ["1", "2"]
    (tmp_path / "m.csv").write_text("a,0.5,0.5\nb,0.25,0.75\n".replace("a,", "who,no,yes\na,"))
    assert read_matrix(tmp_path / "m.csv")["outputs"] == ["no", "yes"]
    (tmp_path / "n.json").write_text('{"channel": [[1], [1]], "prior": {"1": 0.25, "0": 0.75}}')


def test_large_and_foreign_texts_are_refused(tmp_path, monkeypatch):
    assert MAX_FILE_BYTES == 64 * 1024 * 1024
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10)
    (tmp_path / "ten").write_text("0123456789")
    (tmp_path / "eleven").write_text("0123456789a")
    assert read_text(tmp_path / "ten") == "0123456789"
    for name, data in (("eleven", b"0123456789a"), ("latin", b"\xe9")):
        (tmp_path / name).write_bytes(data)
        assert name in refusal(read_text, tmp_path / name)


def test_a_typed_level_is_not_exceeded_by_its_float():
    for text in ("0.1", "1e-3", "0.4054651081081644", "2", ".5"):
        assert level(text) == level(text, up=True) == float(text)
    assert level("0e99999999999999999999") == level("0") == 0
    for text in ("0.40546510810816436954", "0.6931471805599453094404", "0.1000000000000000000001"):
        low, high = level(text), level(text, up=True)
        assert low < Decimal(text) < high == math.nextafter(low, 1)


def test_a_table_without_a_row_is_refused(tmp_path):
    for content in ("", "a,b\n", "\n"):
        (tmp_path / "e.csv").write_text(content)
        assert refusal(read_matrix, tmp_path / "e.csv").endswith(
            "e.csv has no row of probabilities"
        )

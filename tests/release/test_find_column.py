"""The error about a missing column: a similar name, or the delimiter."""

from pmlbook.files.tables import Layout, find_column, open_table


def test_the_error_of_a_missing_column(tmp_path):
    def told(header, column, show_values=False):
        """What is said of a column that cannot be found."""
        (tmp_path / "told.csv").write_text(header)
        with open_table(tmp_path / "told.csv", Layout()) as table:
            try:
                return find_column(column, table, show_values)
            except ValueError as error:
                return str(error).replace(f"{tmp_path}/", "").removeprefix(f"column {column!r} ")

    assert told("id,note\n", "note") == 1 and told("note\n", "note") == 0
    assert (
        told("id,note\n", "notes")
        == "is not in told.csv, which has 2 columns: did you mean 'note'?"
    )
    assert told("id,note\n", "illness").endswith("has 2 columns: is the delimiter ','?")
    assert told("id;note\n", "id;not").endswith("has 1 column: is the delimiter ','?")
    assert told("id, q\n", "q").endswith("did you mean ' q'?")
    assert told("note,note\n", "note").startswith("occurs more than once in told.csv, which has 2")
    assert "did you mean" not in told("note,note\n", "note")
    assert "'id', 'note'" in told("id,note\n", "illness", True)

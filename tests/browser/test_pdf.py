"""The printed book: its parts join, their sheets are counted through, and links jump from one to another."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pypdf = pytest.importorskip("pypdf")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))


CELL = (
    '<div class="cell {tag}docutils container">\n<div class="cell_input docutils container">\n'
    '<div class="highlight-python notranslate"><div class="highlight"><pre>{code}</pre></div>\n</div>\n</div>\n'
    "{output}</div>"
)
TEXT = '<div class="cell_output docutils container">\n<div class="output stream">0.4</div></div>'
DRAWN = '<div class="cell_output docutils container">\n<figure id="fig-a"></figure></div>'
FUNCTION = (
    'def level(x):\n    """Level of x &lt; 1, in nats.\n\n    More.\n    """\n    return _cut(x)'
)


@pytest.mark.parametrize(
    "tag, code, output, kept, left",
    [
        (
            "",
            "print(0.4)",
            TEXT,
            "print(0.4)",
            "in the notebook",
        ),  # an example, with what it prints
        ("", "# checks song-thm-1\nassert 1", "", "checks song-thm-1 (in the notebook)", "assert"),
        ("", "# checks song-thm-1\nlevel(1)", TEXT, 'class="cell evidence', "level(1)"),
        ("", "assert 1", "", "code (in the notebook)", "assert"),
        ("", "ax.plot(1)", DRAWN, "fig-a", "plot"),
        ("tag_pml-export ", FUNCTION, "", "Level of x &lt; 1, in nats.", "_cut"),
        ("tag_pml-export ", "def _cut(x):\n    return x", "", "cell", "_cut"),
    ],
)
def test_paper_has_the_examples_and_signatures_and_names_the_rest(tag, code, output, kept, left):
    pdf = pytest.importorskip("pdf")
    shown = pdf.CELL.sub(pdf.on_paper, CELL.format(tag=tag, code=code, output=output))
    assert kept in shown and left not in shown
    assert shown.count("<div") == shown.count("</div") and output in shown


def test_two_parts_become_one_document(site, tmp_path, monkeypatch):
    pdf = pytest.importorskip("pdf")
    target = tmp_path / "book.pdf"
    monkeypatch.setattr(
        pdf, "pieces", lambda: [["foundations/02_leakage"], ["foundations/03_adversaries"]]
    )
    with (
        ThreadPoolExecutor() as pool
    ):  # Playwright starts once in a thread, and here the tests have it
        pool.submit(pdf.print_book, target).result()
    reader = pypdf.PdfReader(target)
    titles = [entry.title for entry in reader.outline]
    assert [title.split()[-1] for title in titles] == ["Leakage", "Adversaries"]
    sheets = [reader.get_destination_page_number(entry) for entry in reader.outline]
    for title, sheet in zip(titles, sheets):
        assert title in reader.pages[sheet].extract_text()
        assert reader.page_labels[sheet] in reader.pages[sheet].extract_text().splitlines()
    notes = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    jumps = {str(note["/Dest"]) for note in notes if "/Dest" in note}
    across = jumps & {"/foundations/02_leakage--", "/foundations/02_leakage--pml-closed-form"}
    assert across and jumps <= set(reader.named_destinations)
    assert not [note for note in notes if "part.invalid" in str(note.get("/A", ""))]

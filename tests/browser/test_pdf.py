"""The printed book: its parts join, their sheets are counted through, and links jump from one to another."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pypdf = pytest.importorskip("pypdf")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))


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

"""Links of a page exist where the repository has a real address, and only there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))
from pages import links  # noqa: E402


@pytest.mark.parametrize("url", ["", "https://example.org/pmlbook", "https://git.example.com/a/b"])
def test_no_links_to_a_placeholder(url):
    assert links(url, "main", "extremal/03_binary.ipynb") == {}


def test_github_runs_and_mends():
    found = links("https://github.com/someone/pmlbook", "main", "extremal/03_binary.ipynb")
    assert found["open in Colab"] == (
        "https://colab.research.google.com/github/someone/pmlbook/blob/main/nbs/extremal/03_binary.ipynb"
    )
    assert found["edit"].endswith("/someone/pmlbook/edit/main/nbs/extremal/03_binary.ipynb")
    assert "issues/new" in found["report an error"] and "mybinder.org" in found["open in Binder"]


def test_a_page_of_text_is_mended_but_not_run():
    found = links("https://github.com/someone/pmlbook", "main", "extremal/index.md")
    assert list(found) == ["edit", "report an error"]


def test_the_library_has_one_entry_for_each_name():
    """One page a part, and each public name on the page of the part that exports it."""
    import pmlbook

    pages = Path(__file__).parents[1] / "nbs" / "library"
    entries = {page.stem: page.read_text("utf-8") for page in pages.glob("*.md")}
    for name in pmlbook.__all__:
        thing = getattr(pmlbook, name)
        if getattr(thing, "__module__", "").startswith("pmlbook."):
            part = thing.__module__.split(".")[1]
            assert [p for p, text in entries.items() if f":: pmlbook.{name}\n" in text] == [part]

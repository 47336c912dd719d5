"""Links of a page exist where the repository has a real address, and only there."""

import re
import sys
from pathlib import Path

import pytest
from public_names import MODULES, NAMES

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
    """One page a public module, with each of its names; those of the top level stand on its page."""
    pages = Path(__file__).parents[1] / "nbs" / "library"
    for module in MODULES:
        name = module.__name__.removeprefix("pmlbook").lstrip(".") or "top"
        text = next(pages.glob(f"{name}.*")).read_text("utf-8")
        entries = re.findall(rf":: {module.__name__}\.(\w+)(?![\w.])", text)
        top = {name for m, name in NAMES if m is MODULES[0]} if module is not MODULES[0] else set()
        assert sorted(entries) == sorted(n for m, n in NAMES if m is module and n not in top)

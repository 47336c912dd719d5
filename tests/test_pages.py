"""Links of a page exist where the repository has a real address, and only there."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from public_names import MODULES, NAMES

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))
from pages import about, address, citation, links, write_lists  # noqa: E402


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


def test_a_page_is_cited_by_its_title_and_the_version():
    config = SimpleNamespace(
        author="A. Uthor",
        copyright="2026 onwards",
        project="pmlbook",
        version="1.0",
        html_baseurl="",
    )
    entry = citation("extremal/03_binary", "Two secrets", config)
    assert entry.startswith("@misc{pmlbook:extremal/03_binary,") and "url" not in entry
    assert "title = {Two secrets}" in entry and "year = {2026}" in entry and "1.0" in entry
    config.html_baseurl = "https://book.test"
    cited = citation("extremal/03_binary", "Two secrets", config)
    assert "url = {https://book.test/extremal/03_binary.html}" in cited


def test_a_site_with_an_address_lists_its_pages_and_one_without_does_not(tmp_path):
    assert address("https://example.org") == "" and address("https://book.test") != ""
    nbs = Path(__file__).parents[1] / "nbs"
    title, line = about(nbs / "extremal" / "03_binary.ipynb")
    assert title == "Two secrets" and line.startswith("The best mechanism")
    sources = {"extremal/03_binary": ".ipynb", "extremal/index": ".md"}
    config = SimpleNamespace(project="pmlbook", html_baseurl="")
    env = SimpleNamespace(found_docs=set(sources), doc2path=lambda n: nbs / f"{n}{sources[n]}")
    builder = SimpleNamespace(format="html")
    app = SimpleNamespace(config=config, env=env, builder=builder, outdir=tmp_path)
    write_lists(app, None)
    assert not list(tmp_path.iterdir())
    config.html_baseurl = "https://book.test"
    write_lists(app, None)
    assert (
        "<loc>https://book.test/extremal/index.html</loc>" in (tmp_path / "sitemap.xml").read_text()
    )
    listed = (tmp_path / "llms.txt").read_text("utf-8")
    assert f"- [{title}](https://book.test/_sources/extremal/03_binary.ipynb): {line}\n" in listed


def test_the_library_has_one_entry_for_each_name():
    """One page a public module, with each of its names; those of the top level stand on its page."""
    pages = Path(__file__).parents[1] / "nbs" / "library"
    for module in MODULES:
        name = module.__name__.removeprefix("pmlbook").lstrip(".") or "top"
        text = next(pages.glob(f"{name}.*")).read_text("utf-8")
        entries = re.findall(rf":: {module.__name__}\.(\w+)(?![\w.])", text)
        top = {name for m, name in NAMES if m is MODULES[0]} if module is not MODULES[0] else set()
        assert sorted(entries) == sorted(n for m, n in NAMES if m is module and n not in top)

"""The checks before a version is published, and the content of its packages."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import release_check  # noqa: E402


def test_an_address_made_up_for_examples_is_named():
    settings = {
        "git_url": "https://example.org/a",
        "doc_host": "https://a.io",
        "author": "Ada",
        "author_email": "a@b.de",
    }
    (line,) = release_check.unset_addresses(settings)
    assert "git_url" in line and "example.org" in line


def test_the_papers_doi_is_not_the_software_s():
    text = "title: x\nversion: 1.0\nreferences:\n  doi: 10.1\n"
    assert "CITATION.cff: no doi" in release_check.citation_gaps(text, "1.0")
    full = "title: x\ndoi: 10.2\ndate-released: 2026-01-01\nrepository-code: https://a.io\nversion: 1.0\n"
    assert release_check.citation_gaps(full, "1.0") == []
    assert "version" in release_check.citation_gaps(full, "1.1")[0]
    nobody = full.replace("title: x\n", "title: x\nauthors:\n  - name: pmlbook authors\n")
    assert release_check.citation_gaps(nobody, "1.0") == [
        "CITATION.cff: the author is a placeholder"
    ]


@pytest.mark.parametrize(
    ("heading", "gaps"), [("## [1.0] - unreleased", 1), ("## [1.0] - 2026-01-02", 0)]
)
def test_a_version_has_a_date(heading, gaps):
    assert len(release_check.changelog_gaps(f"# Changelog\n\n{heading}\n", "1.0")) == gaps


def test_a_relative_link_is_dead_on_a_package_index():
    text = "[a](nbs/a.ipynb) [b](#top) [c](https://a.io/b) ![d](docs/d.svg)"
    assert len(release_check.dead_links(text)) == 3


def test_the_packages_hold_what_they_should(tmp_path):
    """The description's links are full addresses, the wheel has no index of notebooks, the sdist the whole source."""
    command = [sys.executable, "-m", "build", "--no-isolation", "-o", tmp_path, ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert release_check.package_gaps(tmp_path) == []

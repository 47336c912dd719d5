"""Say what must be filled in before this version is published, a line each; the exit is 1 if there is anything.

The packages are built from the sources, and what a package index would show is read from them: a link of the
description that is not a full address is dead there. The wheel is tested as a user gets it, by `docs/installed.py`.
Addresses come from settings.ini alone.
"""

import re
import subprocess
import sys
import tarfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import installed

ROOT = Path(__file__).resolve().parent.parent
PLACEHOLDER = re.compile(r"example\.(?:org|com|net)|\.invalid|^pmlbook authors$")
URLS = ("Homepage", "Documentation", "Source", "Issues")
LINK = re.compile(r"\]\(([^)\s]+)")
IN_SDIST = ("nbs/index.ipynb", "docs/conf.py", "tests/conftest.py", "CHANGELOG.md", "CITATION.cff")


def unset_addresses(settings: dict[str, str]) -> list[str]:
    """Settings that still hold an address made up for examples."""
    keys = ("git_url", "doc_host", "author", "author_email")
    return [
        f"settings.ini, {key}: {settings[key]} is a placeholder"
        for key in keys
        if PLACEHOLDER.search(settings[key])
    ]


def citation_gaps(text: str, version: str) -> list[str]:
    """What CITATION.cff lacks for the software itself; what follows `references` is about the papers."""
    own = text.partition("references:")[0]
    missing = [key for key in ("doi", "date-released", "repository-code") if f"\n{key}:" not in own]
    found = [f"CITATION.cff: no {key}" for key in missing]
    if "\n  - name: pmlbook authors\n" in own:
        found.append("CITATION.cff: the author is a placeholder")
    if f"\nversion: {version}\n" not in own:
        found.append(f"CITATION.cff: the version is not {version}")
    return found


def changelog_gaps(text: str, version: str) -> list[str]:
    """Whether the version has a dated heading."""
    dated = re.search(rf"^## \[?{re.escape(version)}\]?.*\d{{4}}-\d\d-\d\d", text, re.M)
    return [] if dated else [f"CHANGELOG.md: no heading '## {version} - <date>'"]


def dead_links(description: str) -> list[str]:
    """Links of the description that lead nowhere on a package index."""
    return [
        f"description: the link {link} is dead on a package index"
        for link in LINK.findall(description)
        if not re.match(r"https?:|mailto:", link)
    ]


def package_gaps(folder: Path) -> list[str]:
    """What is wrong with the built packages in a folder."""
    (built,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with ZipFile(built) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        said = Parser().parsestr(archive.read(metadata).decode())
    found = dead_links(said.get_payload())
    found += [f"wheel: no {key}" for key in ("Author", "Author-email") if not said[key]]
    urls = {line.partition(",")[0] for line in said.get_all("Project-URL", [])}
    found += [f"wheel: no address of {name}" for name in URLS if name not in urls]
    found += [f"wheel: {name} is of no use there" for name in names if "_modidx" in name]
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    return found + [f"sdist: {name} is missing" for name in IN_SDIST if name not in held]


def main() -> list[str]:
    """All that must be filled in or mended."""
    settings = ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    version = settings["DEFAULT"]["version"]
    found = unset_addresses(settings["DEFAULT"])
    found += citation_gaps((ROOT / "CITATION.cff").read_text(encoding="utf-8"), version)
    found += changelog_gaps((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    with TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--no-isolation", "-o", folder]
        subprocess.run([*build, ROOT], check=True, capture_output=True)
        found += package_gaps(Path(folder))
    python = ".".join(map(str, sys.version_info[:2]))
    if not installed.main("newest", [python], short=True):
        found.append("wheel: its tests fail in a clean environment")
    return found


if __name__ == "__main__":
    lines = main()
    print("\n".join(lines) or "Ready to publish.")
    sys.exit(bool(lines))

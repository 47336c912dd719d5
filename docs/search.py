"""Index the built site for its search page, and pack the index as a script for pages opened from disk."""

import csv
import html
import json
import re
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

HERE = Path(__file__).resolve().parent
SITE = HERE.parent / "_build" / "html"
BUNDLE = SITE / "pagefind"
# Prose and titles are searched; code, outputs, formulas and docstrings are not.
LEFT_OUT = "div.highlight, pre, .math, .headerlink, dl.py dd, details.hide, script, style"
NEEDED = ("*.js", "*.json", "wasm.en.pagefind", "*.pf_meta", "index/*", "fragment/*")
BOX = re.compile(
    r'<div class="proof [^>]*id="([^"]+)">\s*<p class="admonition-title"[^>]*>(.*?)</p>', re.S
)


def boxes() -> list[tuple[str, str]]:
    """Address and name of every box of the book, as 'Grosse, Theorem 3. The optimal mechanism ...'."""
    found = []
    for page in sorted(SITE.rglob("*.html")):
        for label, title in BOX.findall(page.read_text("utf-8")):
            name = html.unescape(re.sub("<[^>]*>", "", title))
            found.append((f"{page.relative_to(SITE).as_posix()}#{label}", name))
    return found


def aliases() -> list[tuple[str, str, str]]:
    """What readers ask for in words that a page does not use: the words, the page's address and its title."""
    with open(HERE / "aliases.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    return [
        (row["asked"], f"{row['page']}.html", title(SITE / f"{row['page']}.html")) for row in rows
    ]


def title(page: Path) -> str:
    """The heading of a page, without its number."""
    heading = re.search(r"<h1>(.*?)</h1>", page.read_text("utf-8"), re.S)
    assert heading is not None, page
    return html.unescape(re.sub("<[^>]*>", "", heading[1])).strip()


def pack() -> None:
    """Write the files of the index as base64 into one script."""
    names = [path for pattern in NEEDED for path in sorted(BUNDLE.glob(pattern))]
    files = {
        path.relative_to(BUNDLE).as_posix(): b64encode(path.read_bytes()).decode() for path in names
    }
    (BUNDLE / "packed.js").write_text(
        f"window.pagefindFiles = {json.dumps(files)};\n", "utf-8", newline="\n"
    )


if __name__ == "__main__":
    subprocess.run(
        [sys.executable, "-m", "pagefind_bin", "--quiet", "--site", SITE]
        + ["--root-selector", "article.bd-article", "--exclude-selectors", LEFT_OUT],
        check=True,
    )
    for unused in [
        *BUNDLE.glob("*ui*"),
        *BUNDLE.glob("*highlight*"),
        *BUNDLE.glob("*worker*"),
        *BUNDLE.glob("packed.js"),
    ]:
        unused.unlink()  # Pagefind's own widgets
    (BUNDLE / "boxes.json").write_text(json.dumps(boxes()), "utf-8", newline="\n")
    (BUNDLE / "aliases.json").write_text(json.dumps(aliases()), "utf-8", newline="\n")
    pack()

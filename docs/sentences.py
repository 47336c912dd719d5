"""Count words a sentence, and mannered words, in the text of the chapters and the docstrings of their code.

usage: sentences.py [--long] [CHAPTER ...]

Prints a line for each chapter of the book volume, the worst first, and one for all; `--long` prints the sentences.
"""

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 30  # words
MANNERED = re.compile(
    r"\b(nobody|somebody|whoever|whatever|tells?|told|pays?|paid|has (?:a|no) say|dear(?:er)?|hair|she|her)\b",
    re.IGNORECASE,
)
POINTER = re.compile(r"\b(?:this|the) chapter\b", re.IGNORECASE)  # dead in an installed module
NOT_TEXT = [  # what is no text, and what stands for it
    (
        r"(?s:^(`{3,}|~{3,}).*?^\1|^\$\$.*?\$\$)",
        "\n\n",
    ),  # code and formulas with lines of their own
    (
        r"^ *(:::.*|:\w+:.*|#.*|\|.*|!\[.*|\(\S+\)=)$",
        "\n",
    ),  # boxes, options, headings, tables, figures
    (r"(?s:\$\$.*?\$\$)|\$[^$]*\$|`[^`]*`", "X"),  # a formula or a name is one word
    (r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^()\s]+\)", r"\1"),  # a link is its text
    (r"^ *(?:[-*+]|\d+\.|>) +", "\n\n"),  # an item of a list is a sentence at least
    (r"\b(eqs?|cf|al|resp|vs|[ie]\.[eg])\.", r"\1"),
]
NUMPYDOC = re.compile(
    r"^ *(?:>>>|\.\.\.|-{3,}).*$|^\w[\w, *]* : .*$|^\w+\n-{3,}$|^Source:.*$", re.M
)
END = re.compile(r"(?<=[.?!])[\"')*_]*\s+(?=\S)|\n\s*\n")


def text_of(notebook: Path) -> Iterator[str]:
    """Markdown cells of a notebook, and the docstrings of its code."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        elif not source.startswith("%"):
            yield from docstrings(source)


def docstrings(source: str) -> Iterator[str]:
    """Docstrings of a piece of code, without sections that are no text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
            text = ast.get_docstring(node) or ""
            yield NUMPYDOC.sub("\n\n", text.partition("Examples\n---")[0])


def sentences(text: str) -> list[str]:
    """Sentences of a text in Markdown; a formula or a piece of code is one word."""
    for pattern, instead in NOT_TEXT:
        text = re.sub(pattern, instead, text, flags=re.M)
    found = (" ".join(part.split()) for part in END.split(text))
    return [part for part in found if re.search(r"\w+ \w+", part)]


def book() -> list[Path]:
    """Chapters of the book volume."""
    volume = (
        (ROOT / "docs" / "_toc.yml").read_text(encoding="utf-8").partition("For contributors")[0]
    )
    return [ROOT / "nbs" / f"{name}.ipynb" for name in re.findall(r"file: (\w+/\d\d_\w+)", volume)]


def words(sentence: str) -> int:
    """Words of a sentence; a mark alone is none."""
    return len(re.findall(r"\S*\w\S*", sentence))


def main(chapters: list[Path], show: bool) -> None:
    """Print the counts, and the long sentences if they are asked for."""
    every = {path: [s for text in text_of(path) for s in sentences(text)] for path in chapters}
    long = {path: [s for s in said if words(s) > LIMIT] for path, said in every.items()}
    share = {path: 100 * len(long[path]) / len(every[path]) for path in chapters}
    for path in sorted(chapters, key=lambda path: -share[path]):
        manner = Counter(word.lower() for s in every[path] for word in MANNERED.findall(s))
        counts = ", ".join(f"{word} {many}" for word, many in manner.most_common())
        print(
            f"{share[path]:5.1f} % of {len(every[path]):4} {path.parent.name}/{path.stem}: {counts}"
        )
        print(*(f"  {words(s)}: {s}\n" for s in long[path] if show), sep="", end="")
    total = sum(map(len, every.values()))
    print(
        f"{100 * sum(map(len, long.values())) / total:5.1f} % of {total} sentences exceed {LIMIT} words"
    )


if __name__ == "__main__":
    named = [Path(name) for name in sys.argv[1:] if name != "--long"]
    main(named or book(), "--long" in sys.argv)

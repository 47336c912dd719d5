"""Count words a sentence, and mannered words, in the text of chapters and the docstrings of their code.

usage: sentences.py [--long] [--internals] [CHAPTER ...]

Prints a line for each chapter, of the book volume unless `--internals` or chapters are named, and one for all;
`--long` adds sentences.
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
    r"\b(?:nobody|somebody|whoever|whatever|tells?|told|pays?|paid|has (?:a|no) say|dear(?:er)?|hair|she)\b"
)
NOT_TEXT = {  # what is no text, and what stands for it
    r"(?s:^(`{3,}|~{3,}).*?^\1|^\$\$.*?\$\$)": "\n\n",  # code and formulas with lines of their own
    r"^ *(:::.*|:\w+:.*|#.*|\|.*|!\[.*|\(\S+\)=)$": "\n",  # boxes, headings, tables, figures
    r"(?s:\$\$.*?\$\$)|\$[^$]*\$|`[^`]*`": "X",  # a formula or a name is one word
    r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^()\s]+\)": r"\1",  # a link is its text
    r"^ *(?:[-*+]|\d+\.|>) +": "\n\n",  # an item of a list
    r"\b(eqs?|cf|al|resp|vs|[ie]\.[eg])\.": r"\1",
}
NUMPYDOC = re.compile(
    r"^ *>>>.*$|^\w[\w, *]* : .*$|^[A-Z]\w+\n-{3,}$|^(?:Source: |[A-Z]\w+Error\n).*$", re.M
)
END = re.compile(r"(?<=[.?!])[\"')*_]*\s+(?=\S)|\n\s*\n")


def text_of(notebook: Path) -> Iterator[str]:
    """Markdown cells of a notebook, and the docstrings of its code without what is no text."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        elif not source.startswith("%"):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    doc = ast.get_docstring(node) or ""
                    yield NUMPYDOC.sub("\n\n", doc.partition("Examples\n---")[0])


def sentences(text: str) -> list[str]:
    """Sentences of a text in Markdown; a formula or a piece of code is one word."""
    for pattern, instead in NOT_TEXT.items():
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    found = (" ".join(part.split()) for part in END.split(text))
    return [part for part in found if re.search(r"\w+ \w+", part)]


def words(sentence: str) -> int:
    """Words of a sentence; a mark alone is none."""
    return len(re.findall(r"\S*\w\S*", sentence))


def chapters() -> tuple[list[Path], list[Path]]:
    """Chapters of the two volumes, the book and internals."""
    contents = (ROOT / "docs" / "_toc.yml").read_text(encoding="utf-8")
    book, _, internals = contents.partition("For contributors")
    named = [re.findall(r"file: (\w+/\d\d_\w+)", volume) for volume in (book, internals)]
    first, second = ([ROOT / "nbs" / f"{name}.ipynb" for name in names] for names in named)
    return first, second


def book() -> list[Path]:
    """Chapters of the book volume."""
    return chapters()[0]


if __name__ == "__main__":
    every = long = 0
    options = {"--long", "--internals"}
    named = [Path(name) for name in sys.argv[1:] if name not in options]
    for path in named or chapters()["--internals" in sys.argv]:
        found = [sentence for text in text_of(path) for sentence in sentences(text)]
        over = [sentence for sentence in found if words(sentence) > LIMIT]
        manner = Counter(word for s in found for word in MANNERED.findall(s.lower()))
        counts = ", ".join(f"{word} {many}" for word, many in manner.most_common())
        print(f"{len(over):3} of {len(found):3} {path.parent.name}/{path.stem}: {counts}")
        print(*(f"    {s}\n" for s in over if "--long" in sys.argv), sep="", end="")
        every, long = every + len(found), long + len(over)
    print(f"{100 * long / every:.1f} % of {every} sentences exceed {LIMIT} words")

"""One term a concept, and the field's own: no title, name, docstring or test uses a private word that was replaced."""

import ast
import csv
import io
import json
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
with open(ROOT / "nbs" / "vocabulary.csv", encoding="utf-8", newline="") as file:
    REPLACED = {row["private"]: row["standard"] for row in csv.DictReader(file, strict=True)}
MODULES = sorted(p for p in (ROOT / "pmlbook").rglob("*.py") if p.name != "_modidx.py")
CHAPTERS = [
    p for p in sorted((ROOT / "nbs").rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts
]
TITLES = {json.loads(p.read_text("utf-8"))["cells"][0]["source"][0].strip("# \n") for p in CHAPTERS}
TESTS = sorted((ROOT / "tests").rglob("*.py"))
POINTER = re.compile(r"\b(?:this|the|last|next|previous) chapters?\b", re.IGNORECASE)
QUOTED = re.compile(r"(?<!\w)'([A-Z][^']*(?:'s [^']*)?)'")
USED = re.compile(rf"(?<![a-z])({'|'.join(REPLACED)})s?(?![a-z])", re.IGNORECASE)
PERSONS = re.compile(r"\b(?:nobody|somebody|whoever)\b", re.IGNORECASE)
SPOKEN = {"told", "tells", "says", "sees", "hair", "dust", "doubt", "torn", "walk", "peaks"}
NATURAL = re.compile(
    "law of large numbers|Zipf's law|one of twenty prices", re.IGNORECASE
)  # that field's own


def private(text):
    """The private words of a text, or of a name in one."""
    return [found[0] for found in USED.finditer(NATURAL.sub("", text))]


@cache
def nodes_of(path):
    """The syntax tree of a module as a list, the module first."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def said(path):
    """Names, docstrings and other texts of a module: errors, output of commands, help, labels."""
    yield path.stem
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.arg):
            yield node.arg
    yield from texts(nodes_of(path))


def texts(nodes):
    """Every text that is written in code, docstrings and the pieces of f-strings included."""
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str)]


def shown(cell):
    """What a reader of a chapter sees of a code cell: captions of figures, and texts in labels and output."""
    source = "".join(cell["source"])
    captions = re.findall(r"^#\| fig-(?:cap|alt): (.*)$", source, re.MULTILINE)
    return captions if source.startswith("%") else [*captions, *texts(ast.walk(ast.parse(source)))]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_names_and_texts_of_code_use_standard_terms(path):
    assert [words for text in said(path) if (words := private(text))] == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_chapters_use_standard_terms(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    code = [text for cell in cells if cell["cell_type"] == "code" for text in shown(cell)]
    assert [words for text in prose + code if (words := private(text))] == []


def names_in(nodes):
    """Every name that code defines or uses: of values, attributes, arguments, functions and classes."""
    for node in nodes:
        for field in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_values_are_named_by_what_they_are(path):
    """Values neither speak nor see: a text, a bound or a mask has a name that states which it is."""
    assert [
        name for name in names_in(nodes_of(path)) if SPOKEN & set(name.lower().split("_"))
    ] == []


@pytest.mark.parametrize("path", TESTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_comments_and_docstrings_of_tests_name_no_persons(path):
    source = path.read_text(encoding="utf-8")
    nodes = (ast.FunctionDef, ast.ClassDef, ast.Module)
    said = [ast.get_docstring(n) or "" for n in ast.walk(ast.parse(source)) if isinstance(n, nodes)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    said += [token.string for token in tokens if token.type == tokenize.COMMENT]
    assert [text for text in said if PERSONS.search(text)] == []


def test_a_private_word_is_noticed():
    assert private("the corners of it, its law, Zipf's law and a flaw") == ["corners", "law"]
    cell = {"source": ["#| fig-cap: A corner.\n", "ax.set(title=f'{n} told nobody')"]}
    assert [word for text in shown(cell) for word in private(text)] == ["corner", "nobody"]
    assert sorted(names_in(ast.walk(ast.parse("told = self.says")))) == ["says", "self", "told"]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_exported_code_names_a_chapter_by_its_title(path):
    """'This chapter' is a dead pointer in an installed module; a title can be looked up."""
    source = path.read_text(encoding="utf-8")
    assert POINTER.findall(source) == []
    sources = re.findall(r"^ *Source: .*$", source, re.MULTILINE)
    assert {title for line in sources for title in QUOTED.findall(line)} <= TITLES


def test_a_dead_pointer_is_noticed():
    assert POINTER.search("Source: proved in this chapter.") and not POINTER.search("Chapter 12")
    assert QUOTED.findall("'Barriers and Newton's method' and 'Class III'") == [
        "Barriers and Newton's method",
        "Class III",
    ]


def parameters(doc):
    """The names that a docstring lists under Parameters."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|^Source: |\Z)", doc, re.S | re.M)
    heads = re.findall(r"^\w[^\n]*", section[1], re.MULTILINE) if section else []
    return {name.strip(" *") for head in heads for name in head.split(" : ")[0].split(",")}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_a_docstring_names_arguments_that_exist(path):
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef):
            arguments = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
            assert parameters(ast.get_docstring(node) or "") <= arguments, node.name

"""The glossary speaks of what exists: arguments, calls, classes and the pages that define a term."""

import csv
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from test_links import NBS, prose, targets
from test_public import PUBLIC

ROOT = Path(__file__).resolve().parent.parent
with open(NBS / "glossary.csv", encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file, strict=True))
IDS = [row["term"] for row in ROWS]


@cache
def exported():
    """All functions and classes of the package, by name."""
    found = {}
    for path in sorted((ROOT / "pmlbook").rglob("*.py")):
        if path.name not in ("__init__.py", "_modidx.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            module = importlib.import_module(".".join(parts))
            own = (
                t for t in vars(module).values() if getattr(t, "__module__", "") == module.__name__
            )
            found |= {thing.__name__: thing for thing in own if hasattr(thing, "__name__")}
    return found


@cache
def arguments():
    """Names of the parameters of everything public."""
    found = set()
    for thing in PUBLIC.values():
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
            found |= set(inspect.signature(thing).parameters)
    return found | set(inspect.signature(exported()["guessing_advantage"]).parameters)


def exists(name):
    """Whether the package has this function or class, or this attribute of it."""
    first, _, rest = name.partition(".")
    thing = exported().get(first)
    fields = getattr(thing, "__dataclass_fields__", {})
    return thing is not None and (not rest or hasattr(thing, rest) or rest in fields)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_what_a_row_names_exists(row):
    assert [name for name in row["library"].split() if not exists(name)] == []
    assert [name for name in row["argument"].split() if name not in arguments()] == []


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_term_has_a_meaning_and_a_page_that_defines_it(row):
    where, _, fragment = row["page"].partition("#")
    assert row["meaning"] and (NBS / where).is_file()
    assert not fragment or fragment in targets(NBS / where)


def test_a_term_stands_once_and_is_not_replaced():
    with open(NBS / "vocabulary.csv", encoding="utf-8", newline="") as file:
        private = {row["private"] for row in csv.DictReader(file, strict=True)}
    terms = [term for row in ROWS for term in row["term"].split(", ")]
    # 'distortion' is a number in one paper and a function in another; 'budget' a level, and what a log keeps
    assert {t for t in terms if terms.count(t) > 1} <= {"budget"}
    assert not private & set(terms)


def test_what_is_missing_is_noticed():
    assert exists("Mechanism.certify") and not exists("Mechanism.certified")
    assert not exists("nothing_of_this_name") and "utilities" in arguments()


def test_calls_for_readers_of_differential_privacy_exist():
    """The right column of the table 'if you used this call there'."""
    text = prose(NBS / "audit" / "01_differential_privacy.ipynb")
    lines = text.partition("| you used | here |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    named = [name for line in lines for name in re.findall(r"`([\w.]+)`", line.split("|")[2])]
    assert len(lines) == 14 and len(named) >= 12
    assert [name for name in named if not exists(name)] == []


def test_the_papers_own_term_is_linked_where_it_is_used():
    """'Lift vector' is a term of Grosse alone: each chapter that uses it, or its part page, links to its definition."""
    (page,) = [row["page"] for row in ROWS if row["term"] == "lift vector"]
    chapters = [p for p in NBS.rglob("[0-9]*.ipynb") if "lift vector" in prose(p)]
    slug = page.rpartition("/")[2]
    assert len(chapters) > 15
    linked = [slug in prose(p) + prose(p.parent / "index.md") for p in chapters]
    assert [p.name for p, good in zip(chapters, linked) if not good and p != NBS / page] == []

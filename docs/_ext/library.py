"""The library's pages and the book's chapters know each other; a docstring's 'Source' line is a section."""

from __future__ import annotations

import importlib
from functools import cache, partial
from inspect import ismodule
from pathlib import Path

SECTIONS = {"Source: ": "Source", "Warns with ": "Notes"}  # a line that opens a section in print


def chapter_of(thing, source: Path) -> str | None:
    """The page whose notebook exports a function or class of the library."""
    _, part, name = [*getattr(thing, "__module__", "").split("."), "", ""][:3]
    folders = (source / part, source / "internals" / part) if part and name else ()
    found = [path for folder in folders for path in folder.glob(f"[0-9][0-9]_{name}.ipynb")]
    return found[0].relative_to(source).with_suffix("").as_posix() if found else None


@cache
def names_of(source: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The public names that each chapter exports, each with the page and the anchor of its entry."""
    package = importlib.import_module("pmlbook")
    found: dict[str, list[tuple[str, str, str]]] = {}
    for module in [*filter(ismodule, map(partial(getattr, package), package.__all__)), package]:
        file = module.__name__.partition(".")[2] or "top"
        for name in module.__all__:
            page = chapter_of(getattr(module, name), source)
            if page:
                entry = (name, f"library/{file}.html", f"{module.__name__}.{name}")
                found.setdefault(page, []).append(entry)
    return found


def sections(app, what, name, thing, options, lines):
    """Give the source of a docstring a heading of its own, and add the chapter."""
    made: list[str] = []
    for line in lines:
        start = next((start for start in SECTIONS if line.startswith(start)), None)
        if start:
            title = SECTIONS[start]
            made += [title, "-" * len(title)]
            line = line.removeprefix("Source: ")
        made.append(line)
    page = (
        chapter_of(thing, Path(app.srcdir)) if what in ("function", "class", "exception") else None
    )
    if page:
        made += ["", "Chapter", "-------", f":doc:`/{page}`", ""]
    lines[:] = made


def entries(app, pagename, templatename, context, doctree):
    """Let the foot of a chapter link to the entries of what it exports."""
    context["page_names"] = names_of(Path(app.srcdir)).get(pagename, [])


def setup(app):
    """Register the hooks, the first before numpydoc's sections are read."""
    app.connect("autodoc-process-docstring", sections, priority=400)
    app.connect("html-page-context", entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The house has floors: a module imports from its own folder and from the floors below, never from above or beside."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "pmlbook"
FLOORS = [
    "numerics",
    "display",
    "foundations",
    "release",
    "extremal",
    "worst_case",
    "hamming",
    "records",
    "record_design",
    "estimation",
    "additive_noise",
    "robust",
    "audit",
    "budget",
    "files",
    "cli",
]
FLOOR = {folder: number for number, folder in enumerate(FLOORS)}
MODULES = sorted(p for p in PACKAGE.glob("*/*.py") if p.name != "__init__.py")


def imported(path):
    """Folders of the package that a module imports from, inside functions too."""
    here = path.relative_to(PACKAGE.parent).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            whole = here[: -node.level] if node.level else ()
            whole += tuple((node.module or "").split("."))
            if whole[0] == PACKAGE.name and len(whole) > 1:
                yield whole[1]


def test_the_picture_shows_the_floors():
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.partition("## Architecture")[2].split("```")[1].strip().splitlines()
    shown = [line.partition(" ")[0] for line in reversed(picture)]
    assert shown == FLOORS


def test_every_folder_has_a_floor():
    assert {path.parent.name for path in MODULES} == set(FLOOR)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_no_import_runs_upwards(path):
    own = path.parent.name
    found = set(imported(path)) - {own}
    assert {folder for folder in found if FLOOR[folder] >= FLOOR[own]} == set()

"""How long a chapter takes: its words, and the code that is shown on first sight."""

from __future__ import annotations

from pathlib import Path

from nbdev_reader import read

WORDS_A_MINUTE = 200
MINUTES_A_CELL = 1  # to read a code cell and what it prints


def minutes(notebook: Path) -> float:
    """Reading time of a notebook; folded code and code without a place on the page cost nothing."""
    cells = read(notebook.read_text(encoding="utf-8")).cells
    prose = "".join(cell.source + "\n" for cell in cells if cell.cell_type == "markdown")
    shown = [
        cell
        for cell in cells
        if cell.cell_type == "code"
        and not any(tag.startswith(("hide", "remove")) for tag in cell.metadata.get("tags", []))
    ]
    return len(prose.split()) / WORDS_A_MINUTE + len(shown) * MINUTES_A_CELL


def rounded(time: float) -> int:
    """Minutes as they are told: to the next five, from an hour on to the next ten."""
    step = 5 if time < 60 else 10
    return max(step, step * round(time / step))

"""Slides of a chapter for a lecture: ``python docs/slides.py release/04_survey`` writes _build/slides/01_survey.slides.html.

`jupyter nbconvert --to slides` does the work. A heading starts a slide, and each code cell the next one below it;
folded and removed cells are left out. The page takes reveal.js and MathJax from the folder `assets` beside it.
"""

import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from nbclient import NotebookClient
from nbconvert import SlidesExporter
from nbformat.v4 import new_markdown_cell

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from nbdev_reader import read  # noqa: E402

OPENED = re.compile(r"^:::+\{(?:prf:)?(\w+)\}[ ]*(.*)\n(?::\w+:.*\n)*", re.M)


def plain(text: str) -> str:
    """Boxes of the site as bold words, which a slide can show."""
    opened = OPENED.sub(lambda m: f"**{m[1].capitalize()}.** {m[2]}\n\n", text)
    return re.sub(r"^:::+$", "", opened, flags=re.M)


def pieces(cell):
    """A cell as cells that each have their place among the slides."""
    hidden = any(tag.startswith(("hide", "remove")) for tag in cell.metadata.get("tags", []))
    if cell.cell_type == "code":
        cell.metadata["slideshow"] = {"slide_type": "skip" if hidden else "subslide"}
        yield cell
        return
    for text in re.split(r"^(?=#{1,2} )", plain(cell.source), flags=re.M):
        if text.strip():
            place = "slide" if text.startswith("#") else "subslide"
            yield new_markdown_cell(text, metadata={"slideshow": {"slide_type": place}})


def slides(path: Path) -> str:
    """One notebook, executed, as an HTML document."""
    os.environ["PMLBOOK_STATIC"] = "1"  # a slider brings all its frames along
    notebook = read(path.read_text(encoding="utf-8"))
    notebook.cells = [piece for cell in notebook.cells for piece in pieces(cell)]
    NotebookClient(notebook, resources={"metadata": {"path": path.parent}}).execute()
    template = str(ROOT / "docs" / "slides.html.j2")
    # The theme white brings its fonts, others load them from the network.
    exporter = SlidesExporter(
        template_file=template, reveal_url_prefix="assets/revealjs", reveal_theme="white"
    )
    return exporter.from_notebook_node(notebook)[0]


def copy_assets(folder: Path) -> None:
    """Copy what the page loads."""
    reveal = Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    mathjax = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    for name in ("dist", "plugin/notes"):
        shutil.copytree(reveal / name, folder / "revealjs" / name, dirs_exist_ok=True)
    for name in ("output/chtml/fonts", "input/tex/extensions"):
        shutil.copytree(mathjax / name, folder / "mathjax" / name, dirs_exist_ok=True)
    shutil.copy(mathjax / "tex-chtml.js", folder / "mathjax")


if __name__ == "__main__":
    for page in sys.argv[1:] or sys.exit(__doc__):
        target = ROOT / "_build" / "slides" / f"{Path(page).name}.slides.html"
        copy_assets(target.parent / "assets")
        target.write_text(slides(ROOT / "nbs" / f"{page}.ipynb"), encoding="utf-8")
        print(target)

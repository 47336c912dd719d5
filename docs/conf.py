"""How the site is built: the notebooks of nbs/, executed and cached, with everything they need on board."""

import hashlib
import os
import sys
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path

here = Path(__file__).parent
sys.path.insert(0, str(here / "_ext"))
from pages import address  # noqa: E402

os.environ["PMLBOOK_STATIC"] = "1"  # inherited by the kernels: widgets become precomputed frames

settings = ConfigParser(delimiters=["="])
settings.read(here.parent / "settings.ini")
cfg = settings["DEFAULT"]
project, author, version = cfg["title"], cfg["author"], cfg["version"]
copyright = cfg["copyright"]

extensions = [
    "myst_nb",
    "sphinx_proof",
    "sphinx_external_toc",
    "sphinx_copybutton",
    "sphinx_togglebutton",
    "boxes",
    "pages",
    "figures",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "library",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["**.ipynb_checkpoints"]

# --- notebooks: jupyter-cache keys on the cells only, so a changed package gets a new cache ---
nb_custom_formats = {".ipynb": ["nbdev_reader.read", {}, False]}
nb_execution_mode = "cache"
_kinds = ("*.py", "*.pyi", "*.mplstyle", "*.js")
_inputs = [path for kind in _kinds for path in (here.parent / "pmlbook").rglob(kind)]
_inputs += (here.parent / "nbs").glob("*.csv")
_code = b"".join(p.read_bytes() for p in sorted(_inputs))
nb_execution_cache_path = str(
    here.parent / ".jupyter_cache" / hashlib.sha256(_code).hexdigest()[:12]
)
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_output_stderr = "remove"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
nb_mime_priority_overrides = [("html", "text/html", 0)]
nb_render_markdown_format = "myst"
nb_ipywidgets_js = {}
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# --- nothing from outside: MathJax is copied into the site ---
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}
myst_update_mathjax = True

# --- the library's reference ---
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_custom_sections = ["Source", "Chapter"]

# --- looks ---
external_toc_path = str(here / "_toc.yml")
external_toc_exclude_missing = False
html_theme = "sphinx_book_theme"
html_theme_options = {
    "logo": {
        "image_light": "_static/favicon.svg",
        "image_dark": "_static/favicon.svg",
        "text": cfg["title"],
    },
    "collapse_navbar": True,  # the part that is read, open; all chapters on each page took half of the writing
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "navbar_persistent": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_baseurl = address(cfg["doc_host"] + cfg["doc_baseurl"])
pml_git_url, pml_branch = cfg["git_url"], cfg["branch"]  # links of each page; see _ext/pages.py
html_title = cfg["title"]
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_additional_pages = {"search": "search.html"}  # Pagefind's; see docs/search.py
html_use_index = False
html_domain_indices = False
html_css_files = ["book.css", "site.css"]
html_js_files = ["book.js", "panels.js", "site.js"]
html_copy_source = True  # each page offers its notebook
html_sourcelink_suffix = ""
html_show_sourcelink = False
numfig = True
math_numfig = True
numfig_secnum_depth = 2
proof_minimal_theme = True


def setup(app):
    """Leave out Sphinx's search, work on all cores, copy MathJax and its fonts into the site."""
    from sphinx.util.fileutil import copy_asset

    def copy_mathjax(app, exc):
        src = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
        if exc is None and app.builder.format == "html":
            dst = Path(app.outdir) / "_static" / "mathjax"
            copy_asset(src / "tex-chtml.js", dst)
            copy_asset(src / "output" / "chtml" / "fonts", dst / "output" / "chtml" / "fonts")
            copy_asset(src / "input" / "tex" / "extensions", dst / "input" / "tex" / "extensions")

    def own_search(app):
        app.builder.search = False  # Sphinx's index of words costs time and nobody asks it

    def side_by_side(app):
        # This one numbers parts when all pages are read, in one process, but does not say that it may be trusted.
        app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True
        app.parallel = os.cpu_count() or 1

    app.connect("builder-inited", own_search)
    app.connect("builder-inited", side_by_side)
    app.connect("build-finished", copy_mathjax)

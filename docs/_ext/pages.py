"""What every page says of itself: its notebook, where to mend it; and what the search is to weigh."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

PLACEHOLDERS = re.compile(r"(^|\.)example\.(org|com|net)$|(^|\.)invalid$|^$")
BOX_TITLE = '<p class="admonition-title">'


def links(git_url: str, branch: str, page: str) -> dict[str, str]:
    """Words and addresses of what a reader can do with a page; none while the repository has no real address."""
    place = urlsplit(git_url)
    if PLACEHOLDERS.search(place.hostname or ""):
        return {}
    where = quote(f"{branch}/nbs/{page}")
    found = {
        "edit": f"{git_url}/edit/{where}",
        "report an error": f"{git_url}/issues/new?title={quote(f'nbs/{page}: ')}",
    }
    if place.hostname == "github.com" and page.endswith(".ipynb"):
        run = {
            "open in Colab": f"https://colab.research.google.com/github{place.path}/blob/{where}"
        }
        run["open in Binder"] = (
            f"https://mybinder.org/v2/gh{place.path}/{branch}?labpath={quote(f'nbs/{page}', safe='')}"
        )
        found = run | found
    return found


def complete(app, pagename, templatename, context, doctree):
    """Add the page's file and links to what the template knows, and mark what the search weighs most."""
    if doctree is None:
        return
    page = app.env.doc2path(pagename, base=False)
    context["page_file"] = f"nbs/{page}"
    url, branch = app.config.pml_git_url, app.config.pml_branch
    context["page_links"] = links(url, branch, str(page))
    context["colab_install"] = f'%pip install "pmlbook[chapters] @ git+{url}@{branch}"'
    # A box is found by its name, as a page by its title; tables of results only point at boxes.
    body = context["body"].replace(BOX_TITLE, f'{BOX_TITLE[:-1]} data-pagefind-weight="9">')
    context["body"] = re.sub(r"<table\b", '<table data-pagefind-weight="0.2"', body)


def setup(app):
    """Register the settings and the hook."""
    app.add_config_value("pml_git_url", "", "html", str)
    app.add_config_value("pml_branch", "main", "html", str)
    app.connect("html-page-context", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

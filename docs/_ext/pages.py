"""What every page says of itself: its notebook, how to cite it, where to mend it; and what search engines are to know."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from urllib.parse import quote, urlsplit

PLACEHOLDERS = re.compile(r"(^|\.)example\.(org|com|net)$|(^|\.)invalid$|^$")
BOX_TITLE = '<p class="admonition-title">'


def address(url: str) -> str:
    """An address, or none where it was made up for examples."""
    return "" if PLACEHOLDERS.search(urlsplit(url).hostname or "") else url.rstrip("/")


def links(git_url: str, branch: str, page: str) -> dict[str, str]:
    """Words and addresses of what a reader can do with a page; none while the repository has no real address."""
    place = urlsplit(git_url)
    if not address(git_url):
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


def citation(page: str, title: str, config) -> str:
    """An entry for BibTeX."""
    year = re.match(r"\d{4}", config.copyright)[0]
    lines = [f"author = {{{{{config.author}}}}}", f"title = {{{title}}}", f"year = {{{year}}}"]
    lines.append(f"note = {{{config.project} {config.version}, {page}}}")
    if config.html_baseurl:
        lines.append(f"url = {{{config.html_baseurl}/{page}.html}}")
    key = f"{config.project}:{page}"
    return f"@misc{{{key},\n" + "".join(f"  {line},\n" for line in lines) + "}"


def about(page: Path) -> tuple[str, str]:
    """A page's title and the line below it, where it has one."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"])
    found = (re.search(f"^{mark} (.*)$", text, re.M) for mark in "#>")
    title, line = (match[1] if match else "" for match in found)
    return title, line


def write_lists(app, error):
    """A list of the pages for search engines, and one for language models, where the site has an address."""
    base = app.config.html_baseurl
    if error or not base or app.builder.format != "html":
        return
    pages = {name: app.env.doc2path(name) for name in sorted(app.env.found_docs)}
    places = "".join(f"<url><loc>{base}/{name}.html</loc></url>\n" for name in pages)
    Path(app.outdir, "sitemap.xml").write_text(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n',
        "utf-8",
    )
    lines = [f"# {app.config.project}", ""]
    for name, path in pages.items():
        title, line = about(Path(path))
        lines.append(f"- [{title}]({base}/_sources/{name}{Path(path).suffix}): {line}")
    Path(app.outdir, "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def complete(app, pagename, templatename, context, doctree):
    """Add the page's file and links to what the template knows, and mark what the search weighs most."""
    if doctree is None:
        return
    page, base = app.env.doc2path(pagename, base=False), app.config.html_baseurl
    title, line = about(Path(app.env.doc2path(pagename)))
    context["page_file"] = f"nbs/{page}"
    context["page_citation"] = citation(pagename, title, app.config)
    context["page_pdf"] = f"{base}/pmlbook.pdf" if base else ""  # .github/workflows/publish.yml
    if base:
        said = {"type": "article", "title": title, "description": line}
        said |= {"url": f"{base}/{pagename}.html", "site_name": app.config.project}
        tags = [f'<meta property="og:{k}" content="{escape(v)}">' for k, v in said.items()]
        context["metatags"] += "\n".join(tags)
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
    app.connect("build-finished", write_lists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Boxes carry one name: a paper's result the paper's number, ours a number of our own; references repeat it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import nbformat
import yaml
from docutils import nodes
from sphinx_proof.directive import ElementDirective
from sphinx_proof.domain import ProofDomain
from sphinx_proof.proof_type import PROOF_TYPES

PAPERS = {
    "Grosse et al. 2024": "Grosse",
    "Song and Oechtering 2026": "Song",
    "Kalantari et al. 2018": "Kalantari",
    "Wu et al. 2026": "Wu",
}
SOURCE = re.compile(r"^(?P<title>.*?) *\((?P<paper>" + "|".join(PAPERS) + r"), (?P<number>.+)\)$")
LABELLED = re.compile(r"^:::+\{prf:\w+\}([^\n]*)\n:label: *(\S+)", re.M)


def printed_name(title: str) -> tuple[str, str] | None:
    """The paper's name for a box and its title, or None where the box is ours."""
    found = SOURCE.match(title.strip())
    return found and (f"{PAPERS[found['paper']]}, {found['number']}", found["title"])


def files_of(entries: list) -> list[str]:
    """Pages of a table of contents in reading order."""
    found = []
    for entry in entries:
        found += [entry["file"]] if "file" in entry else []
        found += files_of(entry.get("entries", []) + entry.get("subtrees", []))
    return found


@cache
def own_numbers(contents: Path, source: Path) -> dict[str, int]:
    """Number of each box that is no paper's, by label, in reading order."""
    numbers: dict[str, int] = {}
    for name in files_of(yaml.safe_load(contents.read_text(encoding="utf-8"))["subtrees"]):
        path = source / f"{name}.ipynb"
        if path.exists():
            for cell in nbformat.read(path, as_version=4).cells:
                for title, label in LABELLED.findall(cell.source):
                    if not printed_name(title):
                        numbers[label] = len(numbers) + 1
    return numbers


class Box(ElementDirective):
    """A box of sphinx-proof under its one name."""

    def run(self) -> list[nodes.Node]:
        kind, title = self.name.split(":")[1], self.arguments[0] if self.arguments else ""
        printed = printed_name(title)
        if printed:
            name, title = printed
        else:
            own = own_numbers(Path(self.config.external_toc_path), Path(self.env.srcdir))
            name = f"{kind.capitalize()} {own.get(self.options.get('label'), '')}".strip()
        self.options["nonumber"] = True
        self.arguments = [title]
        (made,) = super().run()
        self.env.proof_list[made["label"]]["name"] = name
        # so that a link to chapter.ipynb#label finds the box
        labels = self.env.get_domain("std").anonlabels
        labels[made["label"]] = self.env.docname, made["ids"][0]
        text, _ = self.state.inline_text(title, self.lineno)
        heading = nodes.paragraph("", "", nodes.strong("", name), nodes.Text(". "), *text)
        heading["classes"].append("admonition-title")
        content = made.children[1]
        box = nodes.container("", heading, *content.children, ids=made["ids"])
        box["classes"] = ["proof", kind, "admonition"]
        return [box]


class Boxes(ProofDomain):
    """References to boxes show the box's one name where they give no text of their own."""

    def merge_domaindata(self, docnames, otherdata):
        """What processes side by side have read is in the list of proofs, which sphinx-proof merges."""

    def resolve_xref(self, env, fromdocname, builder, typ, target, node, contnode):
        """See `ProofDomain`."""
        found = super().resolve_xref(env, fromdocname, builder, typ, target, node, contnode)
        if found is not None and target in contnode.astext():
            found.children = [nodes.Text(env.proof_list[target]["name"])]
        return found


def setup(app):
    """Take the place of sphinx-proof's boxes and references."""
    app.add_domain(Boxes, override=True)
    for kind in PROOF_TYPES:
        app.add_directive_to_domain("prf", kind, type(f"Box_{kind}", (Box,), {"name": kind}))
    return {"parallel_read_safe": True}

"""What a cell draws becomes a figure with a number, a caption and a text alternative, as its directives say."""

import html

from docutils import nodes
from sphinx.transforms import SphinxTransform

PICTURES = ('<svg class="pml-figure"', '<div class="pml-explore"', "<script>// <pml-")


def picture(output):
    """The raw node of an output that is a picture, or None."""
    for node in output.findall(nodes.raw):
        if node.astext().startswith(PICTURES):
            return node
    return None


class Figures(SphinxTransform):
    """Wrap the picture of each cell that has a caption."""

    default_priority = 400

    def apply(self, **kwargs):
        """Put a figure where the output stood."""
        captioned = [
            cell
            for cell in self.document.findall(nodes.container)
            if cell.get("nb_element") == "cell_code" and "figure" in cell["cell_metadata"]
        ]
        for cell in captioned:
            for output in cell.children:
                drawn = picture(output)
                if drawn is not None:
                    self.wrap(drawn, cell["cell_metadata"]["figure"])

    def wrap(self, drawn, words):
        """A figure in place of the bundle of formats in which the picture came."""
        bundle = drawn.parent
        while bundle.get("nb_element") != "mime_bundle":
            bundle = bundle.parent
        alt = html.escape(words.get("alt", ""), quote=True)
        svg = drawn.astext().replace("<svg ", f'<svg aria-label="{alt}" ', 1)
        raw = nodes.raw("", svg if "alt" in words else drawn.astext(), format="html")
        figure = nodes.figure("", raw, nodes.caption("", words["caption"]))
        if "name" in words:
            figure["names"].append(nodes.fully_normalize_name(words["name"]))
            self.document.note_explicit_target(figure)
        bundle.replace_self(figure)


def setup(app):
    """Number the figures of notebooks."""
    app.add_transform(Figures)
    return {"parallel_read_safe": True}

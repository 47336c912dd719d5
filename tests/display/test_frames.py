"""The frames of a static page share what they have in common, and show what each would alone."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from pmlbook.display.explore import SLIDER_POSITIONS, _Film, _terse, explore
from pmlbook.display.plots import plot_channel, plot_leakage

NBS = Path(__file__).resolve().parents[2] / "nbs"


def two_figures(truth, rare=0.2):
    """A channel and its leakage; the right axis grows with the leakage, and has a title."""
    fig = Figure(figsize=(6, 2.5))
    left, right = fig.subplots(1, 2)
    plot_channel([[truth, 1 - truth], [0, 1]], left, inputs=["ill", "well"])
    plot_leakage([-np.log(rare), truth], right, epsilon=0.5)
    right.set_title(f"truth {truth:.2f}", fontsize="medium")
    if truth > 0.5:
        left.tick_params(labelsize=5)
    return fig


def sent(explorer):
    return json.loads(explorer.page.split('type="application/json">')[1].split("</script>")[0])


def restored(data):
    """The SVG of each frame, as the page puts it together."""
    for frame in data["frames"]:
        text = "".join(data["elements"][n] for n in frame)
        yield re.sub(r" ~(\d+)~", lambda match: data["looks"][int(match[1])], text)


def test_a_frame_is_what_it_would_be_alone():
    film = _Film(two_figures(0.5), "x")
    for truth in (0.5, 0.5, 0.2, 0.9, 0.2, 0.5):
        later = "".join(film.frame(two_figures(truth)))
        assert later == "".join(_Film(two_figures(0.5), "x").frame(two_figures(truth)))
        assert f"truth {truth:.2f}" in later and "secret x" in later
    assert len(film.axes) > 4  # an axis that shows something else is drawn again


def test_what_is_sent_is_each_frame():
    explorer = explore(two_figures, "truth {truth}", truth=(0, 1, 0.1, 0.5), rare=[0.2, 0.01])
    data = sent(explorer)
    assert len(data["frames"]) == 22 and len(data["alts"]) == 22
    films = list(restored(data))
    for k, frame in enumerate(films):
        assert frame.startswith("<svg") and frame.endswith("</svg>") and "~" not in frame
        assert frame.count("<g") == frame.count("</g>")
        assert f"truth {data['values'][0][k // 2]:.2f}" in frame
    assert len(set(films)) == 22
    used = set(re.findall(r"(?:href=\"|url\()#([\w-]+)", "".join(films)))
    assert used and all(f'id="{name}"' in explorer.page for name in used)


def test_a_slider_of_a_page_glides():
    data = sent(explore(two_figures, "truth {truth}", truth=(0, 1, 0.01, 0.5)))
    assert SLIDER_POSITIONS <= len(data["values"][0]) == len(data["frames"])


def vertices(path):
    """Vertices of a path in absolute or in relative steps of straight lines, a list for each stroke."""
    strokes, start = [], np.zeros(2)
    for letter, numbers in re.findall(r"([MmLz])([^MmLz]*)", path):
        steps = np.array([float(v) for v in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers)]).reshape(
            -1, 2
        )
        if letter == "m":
            strokes.append(start + np.cumsum(steps, axis=0))
        elif letter == "M":
            strokes.append(steps)
        elif letter == "L":
            strokes[-1] = np.vstack([strokes[-1], steps])
        start = strokes[-1][0] if letter == "z" else strokes[-1][-1]
    return strokes


def test_a_terse_path_goes_the_same_way():
    rng = np.random.default_rng(3)
    for trial in range(50):
        path = ""
        for _ in range(rng.integers(1, 4)):
            points = rng.uniform(-30, 400, size=(rng.integers(2, 30), 2)).round(rng.integers(0, 5))
            path += "M " + " L ".join(f"{x:g} {y:g}" for x, y in points) + " " + "z " * (trial % 2)
        told = re.sub(r"M[^\"]*", _terse, path)
        assert len(told) < len(path)
        for one, two in zip(vertices(path), vertices(told), strict=True):
            assert one.shape == two.shape and abs(one - two).max() <= 0.05 + 1e-9
    curve = "M 0 5 C 1 2 3 4 5 6"
    assert re.sub(r"M[^\"]*", _terse, curve) == curve


def explorer_cells():
    """Source of each cell of a chapter that shows a figure with controls."""
    for path in sorted(NBS.rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                source = "".join(cell["source"])
                if re.search(r"^explore\($", source, re.M) and "#| export" not in source:
                    yield path.relative_to(NBS).as_posix(), source


def test_each_figure_with_controls_has_a_caption():
    found = list(explorer_cells())
    for path, source in found:
        caption = re.search(r"^#\| fig-cap: (.{30,}\.)$", source, re.M)
        assert caption and re.search(r"^#\| label: fig-play-[a-z-]+$", source, re.M), path
    assert len(found) > 60


@pytest.mark.parametrize("kind", ["colour bar", "polar", "no axis", "log"])
def test_axes_of_other_kinds_are_drawn_too(kind):
    def draw(value):
        fig = Figure(figsize=(4, 3))
        ax = fig.subplots(subplot_kw={"projection": "polar"} if kind == "polar" else {})
        ax.plot([0.1, value], [0.1, 0.4])
        if kind == "colour bar":
            fig.colorbar(ax.pcolormesh([[0.0, value], [0.5, 1.0]]), ticks=[0, 1])
        elif kind == "no axis":
            ax.set(xlim=(0, 1))
            ax.set_axis_off()
        elif kind == "log":
            ax.set(xscale="log", yscale="symlog")
        return fig

    films = list(restored(sent(explore(draw, "value {value}", value=(0.2, 0.8, 0.2, 0.4)))))
    assert len(set(films)) == 4 and all(("<text" in film) == (kind != "no axis") for film in films)

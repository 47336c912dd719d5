"""In JupyterLab a reader gets from page to page by clicks, and the keyboard moves sliders through the kernel."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "nbs"
LAB = Path(sys.executable).with_name("jupyter-lab")
LAB_OPTIONS = """--no-browser --allow-root --ip=127.0.0.1 --port=0 --IdentityProvider.token=
    --ServerApp.password= --LabApp.extension_manager=readonly""".split()
FOLDERS = """JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR JUPYTERLAB_SETTINGS_DIR
    JUPYTERLAB_WORKSPACES_DIR IPYTHONDIR""".split()
# This extension asks the reader whether to fetch news, and looks for updates.
SETTINGS = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
WHOLE = {"windowingMode": "none"}  # cells out of sight are in the page, too
FRONT = "".join(json.loads((NOTEBOOKS / "index.ipynb").read_text("utf-8"))["cells"][1]["source"])
LINK = re.compile(r"(?<!!)\[([^][]*)\]\(([^()\s]+)\)")
ROUTES = dict(re.findall(r"^### (.*)\n\n(.*)", FRONT, re.M))


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    """Address of a JupyterLab that keeps to a temporary folder with a copy of the book."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(NOTEBOOKS, home / "nbs", ignore=shutil.ignore_patterns(".*"))
    settings = home / "JUPYTER_CONFIG_DIR" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS))
    rules = home / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "notebook-extension"
    rules.mkdir(parents=True)
    (rules / "tracker.jupyterlab-settings").write_text(json.dumps(WHOLE))
    env = os.environ | {name: str(home / name) for name in FOLDERS}
    env.pop("PMLBOOK_STATIC", None)
    command, log = [LAB, *LAB_OPTIONS], (home / "log").open("w")
    server = subprocess.Popen(command, cwd=home / "nbs", env=env, stdout=log, stderr=log)
    try:
        yield address(server, home)
    finally:
        server.terminate()  # the server ends its kernels
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
        log.close()


def address(server, home):
    """Wait until the server listens; it then writes its address and, last, a page that opens it."""
    runtime, deadline = home / "JUPYTER_RUNTIME_DIR", time.monotonic() + 120
    while not (runtime / f"jpserver-{server.pid}-open.html").exists():
        assert server.poll() is None and time.monotonic() < deadline, (home / "log").read_text()
        time.sleep(0.2)
    return json.loads((runtime / f"jpserver-{server.pid}.json").read_text())["url"]


def test_slider_redraws(offline_page, lab):
    page = offline_page
    page.set_default_timeout(120_000)  # kernels start slowly on a small machine
    page.goto(f"{lab}lab/tree/internals/display/02_explore.ipynb?reset")
    idle = page.get_by_text("| Idle")  # in the status bar, as soon as there is a kernel
    idle.wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    before = page.locator(".widget-vbox img").first.get_attribute("src")
    idle.wait_for()
    page.locator(".widget-vbox .noUi-handle").first.press("ArrowRight")
    changed = "before => document.querySelector('.widget-vbox img').src !== before"
    page.wait_for_function(changed, arg=before)


def shown(page, title):
    """The panel in front, when it shows a page with this title; it has no box that says what went wrong."""
    panel = page.locator(
        ".jp-MainAreaWidget:not(.lm-mod-hidden)", has=page.locator("h1", has_text=title)
    )
    panel.first.wait_for()
    panel.locator("a[href*='/files/']").last.wait_for(state="attached")
    assert "Unknown" not in panel.first.inner_text()
    return panel.first


def dead(panel):
    """Links of a page to files that are not there; Lab serves what is beside the notebooks below `/files/`."""
    found = panel.locator("a").evaluate_all("all => all.map(a => a.href)")
    paths = [unquote(urlsplit(url).path) for url in found]
    inside = [path.removeprefix("/files/") for path in paths if path.startswith("/files/")]
    assert inside
    return [path for path in inside if not (NOTEBOOKS / path).exists()]


def title(file):
    """A page's heading."""
    text = (NOTEBOOKS / file.partition("#")[0]).read_text("utf-8")
    return re.search(r"# (.*?)(?:\\n)?\"?,?$", text, re.M)[1]


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_is_walked_by_clicks(offline_page, lab, route):
    """From the front page into each page of a route, and back; all their links lead to a file."""
    page = offline_page
    page.set_default_timeout(120_000)
    page.goto(f"{lab}lab/tree/index.ipynb?reset")
    front = shown(page, "pmlbook")
    assert dead(front) == []
    for words, file in LINK.findall(ROUTES[route]):
        front.get_by_role("link", name=words, exact=True).first.click()
        assert dead(shown(page, title(file))) == [], file
        tabs = page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab")
        tabs.filter(has_text="index.ipynb").click()
        front = shown(page, "pmlbook")


def test_a_notebook_leads_on_and_back(offline_page, lab):
    page = offline_page
    page.set_default_timeout(120_000)
    page.goto(f"{lab}lab/tree/foundations/01_probability.ipynb?reset")
    here = "Probability"
    for way in ("Leakage", "Adversaries", "Leakage", "Probability", "The front page"):
        shown(page, here).get_by_role("link", name=way, exact=True).last.click()
        here = way
    shown(page, "pmlbook")


# For each element: where the keyboard goes, the key, and the text that must change.
ELEMENTS = {
    "pml-simplex": (".prior", "ArrowRight", ".value"),
    "pml-staircase": ("button[aria-pressed=false]", "Space", ".value"),
    "pml-saddle": ("input.noise", "ArrowRight", ".value"),
}


def test_the_elements_follow_the_keys(offline_page, lab):
    from playwright.sync_api import expect  # not everybody has it

    page = offline_page
    page.set_default_timeout(120_000)
    page.goto(f"{lab}lab/tree/internals/display/03_simplex.ipynb?reset")
    page.get_by_text("| Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    for name, (place, key, said) in ELEMENTS.items():
        element = page.locator(name).first
        element.wait_for()
        text = element.locator(said).first
        expect(text, name).not_to_be_empty(timeout=120_000)  # what is out of sight is drawn late
        before = text.text_content()
        element.locator(place).first.focus()
        page.keyboard.press(key)
        expect(text, name).not_to_have_text(before, timeout=10_000)

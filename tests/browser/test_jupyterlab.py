"""In JupyterLab a slider moved by the keyboard redraws its figure through the kernel."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "nbs"
LAB = Path(sys.executable).with_name("jupyter-lab")
LAB_OPTIONS = """--no-browser --allow-root --ip=127.0.0.1 --port=0 --IdentityProvider.token=
    --ServerApp.password= --LabApp.extension_manager=readonly""".split()
FOLDERS = """JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR JUPYTERLAB_SETTINGS_DIR
    JUPYTERLAB_WORKSPACES_DIR IPYTHONDIR""".split()
# This extension asks the reader whether to fetch news, and looks for updates.
SETTINGS = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    """Address of a JupyterLab that keeps to a temporary folder with a copy of the book."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(NOTEBOOKS, home / "nbs", ignore=shutil.ignore_patterns(".*"))
    settings = home / "JUPYTER_CONFIG_DIR" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS))
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

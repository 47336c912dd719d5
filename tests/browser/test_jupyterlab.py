"""In JupyterLab a slider moved by the keyboard redraws its figure through the kernel."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="no Playwright: make browser").expect
NOTEBOOKS = Path(__file__).parents[2] / "nbs"
FOLDERS = """JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR JUPYTERLAB_SETTINGS_DIR
    JUPYTERLAB_WORKSPACES_DIR IPYTHONDIR""".split()
LAB_OPTIONS = """--no-browser --allow-root --ip=127.0.0.1 --port=0 --IdentityProvider.token=
    --ServerApp.password= --LabApp.extension_manager=readonly""".split()
# This one asks the reader whether to fetch news, and looks for updates.
DISABLED = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
SLOW = 120_000  # milliseconds


@pytest.fixture
def lab(chromium, tmp_path_factory):
    """Address of a JupyterLab that keeps to a temporary folder with a copy of the book."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(NOTEBOOKS, home / "nbs", ignore=shutil.ignore_patterns(".*"))
    (home / "JUPYTER_CONFIG_DIR" / "labconfig").mkdir(parents=True)
    (home / "JUPYTER_CONFIG_DIR" / "labconfig" / "page_config.json").write_text(
        json.dumps(DISABLED)
    )
    env = {k: v for k, v in os.environ.items() if k != "PMLBOOK_STATIC"}
    env |= {name: str(home / name) for name in FOLDERS}
    program = Path(sys.executable).with_name("jupyter-lab")
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [program, *LAB_OPTIONS], cwd=home / "nbs", env=env, stdout=log, stderr=log
        )
    try:
        yield address(server, home)
    finally:
        server.terminate()  # the server ends its kernels
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()


def address(server, home):
    """Wait until the server listens; it then writes its address and, last, a page that opens it."""
    runtime, deadline = home / "JUPYTER_RUNTIME_DIR", time.monotonic() + 120
    while not (runtime / f"jpserver-{server.pid}-open.html").exists():
        assert server.poll() is None and time.monotonic() < deadline, (home / "log").read_text()
        time.sleep(0.2)
    return json.loads((runtime / f"jpserver-{server.pid}.json").read_text())["url"]


def test_slider_redraws(offline_page, lab):
    page = offline_page
    page.set_default_timeout(SLOW)
    page.goto(f"{lab}lab/tree/foundations/10_explore.ipynb?reset")
    idle = page.get_by_text("| Idle")  # in the status bar, as soon as there is a kernel
    idle.wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    widget = page.locator(".widget-vbox").first
    before = widget.locator("img").get_attribute("src")
    idle.wait_for()
    widget.locator(".noUi-handle").first.press("ArrowRight")
    expect(widget.locator("img")).not_to_have_attribute("src", before, timeout=SLOW)

"""The exported package and the notebooks agree."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def run(command, folder):
    """Run an nbdev command in a folder, as outside of its own tests."""
    env = {name: value for name, value in os.environ.items() if name != "IN_TEST"}
    subprocess.run([BIN / command], cwd=folder, env=env, check=True)


def contents(folder, pattern):
    """Bytes of the files that match, by their path in the folder; nbdev ends lines as the system does."""
    files = (p for p in folder.rglob(pattern) if ".ipynb_checkpoints" not in p.parts)
    return {str(p.relative_to(folder)): p.read_bytes().replace(b"\r\n", b"\n") for p in files}


def test_modules_are_what_the_notebooks_export(tmp_path):
    shutil.copytree(ROOT / "nbs", tmp_path / "nbs")
    for name in ("settings.ini", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "pmlbook").mkdir()  # empty: a module without a notebook does not come back
    run("nbdev_export", tmp_path)
    assert contents(tmp_path / "pmlbook", "*.py") == contents(ROOT / "pmlbook", "*.py")
    assert (tmp_path / "pyproject.toml").read_text() == (ROOT / "pyproject.toml").read_text()


def test_notebooks_hold_nothing_to_clean(tmp_path):
    shutil.copytree(ROOT / "nbs", tmp_path / "nbs")
    shutil.copy(ROOT / "settings.ini", tmp_path)
    run("nbdev_clean", tmp_path)
    assert contents(tmp_path / "nbs", "*.ipynb") == contents(ROOT / "nbs", "*.ipynb")

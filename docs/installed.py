"""Test what a user gets, in clean environments, which uv makes of wheels alone: a user may have no compiler.

usage: installed.py [--short] (lowest | newest | binder) [PYTHON ...]

A line says what each environment came to. PYTHON is as 3.13; without one, 3.11 and 3.13.
lowest, newest: the wheel, on the lowest versions that settings.ini admits, or on the newest there are, with every test
that needs neither a notebook nor the tools of the book; ``--short``: with `tests/wheel` alone.
binder: what `binder/requirements.txt` asks for, with the chapters that the front page begins with.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from configparser import ConfigParser
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
EXTRAS = ("test", "columns", "duckdb", "scale", "progress", "proof")
RESOLUTION = {"lowest": "lowest-direct", "newest": "highest"}
# Tests of the book: they read notebooks, or use the tools that build it.
BOOK = """browser test_figures test_floors test_formal test_frames test_glossary test_links test_mutants test_other_systems
test_pages test_proof_runner test_public test_reading test_referee test_release_check test_results test_sync test_vocabulary"""


def run(*command, **options):
    """Run a command, which must end well."""
    return subprocess.run(command, check=True, **options)


def interpreter(version):
    """A Python of this version: on the path, or one that pyenv holds."""
    found = shutil.which(f"python{version}")
    if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
        return found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    held = sorted(pyenv.glob(f"{version}.*/bin/python"))
    return held[-1] if held else sys.exit(f"there is no Python {version} on this machine")


def environment(folder, python, *packages):
    """A clean environment with these packages; its interpreter."""
    run(UV, "venv", "-q", "--python", python, folder / "venv")
    inside = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(UV, "pip", "install", "-q", "--python", inside, *packages, cwd=ROOT)
    return inside


def settings(**more):
    """The environment variables of a user, who has no sources on the path."""
    return (
        {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHONSAFEPATH": "1"} | more
    )


def required(extras):
    """What settings.ini requires, with these extras."""
    parser = ConfigParser(delimiters=["="])
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    keys = ["requirements", *(f"{name}_requirements" for name in extras)]
    return [word for key in keys for word in parser["DEFAULT"][key].split()]


def wheel_passes(folder, python, which, wheel, short):
    """Whether the tests pass on the wheel and what it requires."""
    asked, named = folder / "asked.txt", folder / "requirements.txt"
    asked.write_text("\n".join(required(() if short else EXTRAS)))
    chosen = [f"--resolution={RESOLUTION[which]}", "--only-binary=:all:", f"--python={python}"]
    run(UV, "pip", "compile", "-q", asked, *chosen, "-o", named)
    inside = environment(folder, python, "-r", named, wheel, *(["pytest"] if short else []))
    # The tests are copied: nothing of the sources stands beside them.
    skipped = shutil.ignore_patterns("__pycache__", *(f"{word}*" for word in BOOK.split()))
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=skipped)
    for file in ("pyproject.toml", "README.md", "docs/_static/check_certificate.js"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    what = ["--confcutdir=tests/wheel", "tests/wheel"] if short else ["-n2", "tests"]
    command = [inside, "-m", "pytest", "-p", "no:cacheprovider", *what]
    return subprocess.run(command, cwd=folder, env=settings(PMLBOOK_WHEEL="1")).returncode == 0


def first_chapters():
    """The first eight chapters that the front page names under 'Where to begin'."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = text.partition("## Where to begin")[2].partition("\n## ")[0]
    return list(dict.fromkeys(re.findall(r"\((nbs/[\w/]+\.ipynb)\)", begin)))[:8]


def binder_passes(folder, python):
    """Whether the first chapters run on what Binder installs."""
    inside = environment(folder, python, "-r", ROOT / "binder" / "requirements.txt")
    convert = [inside, "-m", "nbconvert", "--execute", "--to", "notebook"]
    failed = [
        page
        for page in first_chapters()
        if subprocess.run(
            [*convert, "--log-level=ERROR", f"--output-dir={folder}", ROOT / page], env=settings()
        ).returncode
    ]
    print(f"{len(first_chapters())} chapters ran, {len(failed)} failed:", *failed)
    return not failed


def main(which, pythons, short):
    """Test on each Python; whether all pass."""
    good = True
    with TemporaryDirectory() as built:
        # By way of the sdist: a folder build/ that is left over would put modules of yesterday into the wheel.
        build = [sys.executable, "-m", "build", "--no-isolation", "-o", built, ROOT]
        if which != "binder":
            run(*build, capture_output=True)
        for version in pythons:
            start, python = time.monotonic(), interpreter(version)
            with TemporaryDirectory() as folder:
                if which == "binder":
                    passed = binder_passes(Path(folder), python)
                else:
                    (wheel,) = Path(built).glob("*.whl")
                    passed = wheel_passes(Path(folder), python, which, wheel, short)
            word = "passes" if passed else "FAILS"
            print(
                f"{which}, Python {version}: {word}, {time.monotonic() - start:.0f} s", flush=True
            )
            good &= passed
    return good


if __name__ == "__main__":
    which, *pythons = [word for word in sys.argv[1:] if word != "--short"] or sys.exit(__doc__)
    sys.exit(not main(which, pythons or ["3.11", "3.13"], "--short" in sys.argv))

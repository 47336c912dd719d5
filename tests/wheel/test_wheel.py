"""What an installation gives: the README's example without a warning, and commands whose output can be read.

Each runs in a process of its own, so that what a library writes past Python is seen, too. `docs/installed.py` runs these
in a clean environment on the wheel.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
CODE = re.compile(r"^```python\n((?:(?!```).*\n)*)```\n((?:    .*\n|\n)*)", re.M)


def ran(folder, *command):
    """What a Python process in a folder writes to its standard output; it ends well and writes nothing else."""
    environment = os.environ | {"PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def pmlbook(folder, *arguments):
    """What a command of the package writes."""
    start = "import sys; from importlib.metadata import entry_points; "
    start += "(command,) = entry_points(group='console_scripts', name='pmlbook'); sys.exit(command.load()())"
    return ran(folder, "-c", start, *arguments)


@pytest.mark.skipif("PMLBOOK_WHEEL" not in os.environ, reason="the wheel is not what is tested")
def test_the_wheel_is_what_is_tested(tmp_path):
    assert "site-packages" in ran(tmp_path, "-c", "import pmlbook; print(pmlbook.__file__)")


def test_the_example_of_the_readme_prints_what_the_readme_shows(tmp_path):
    blocks = CODE.findall(README.read_text(encoding="utf-8"))
    shown = [re.sub("^    ", "", text, flags=re.M).strip() for _, text in blocks]
    assert len(blocks) >= 3 and any(shown)
    code = "".join(code for code, _ in blocks)
    printed = ran(tmp_path, "-c", code)
    assert printed.split() == "\n".join(shown).split()


def commands(folder):
    """The names in the list of commands."""
    named = re.findall(r"^ +([a-z]+)  +[A-Z]", pmlbook(folder, "--help"), re.M)
    assert {"start", "design", "release", "estimate", "audit", "log"} <= set(named)
    return named


def test_each_command_explains_itself(tmp_path):
    for name in commands(tmp_path):
        text = pmlbook(tmp_path, name, "--help")
        assert text.lower().startswith("usage: ") and name in text.splitlines()[0]


def test_a_design_is_json_and_nothing_else(tmp_path):
    column = ["said", *["yes"] * 60, *["no"] * 30, *["perhaps"] * 10]
    (tmp_path / "counted.csv").write_text("\n".join(column) + "\n", encoding="utf-8")
    options = "--counts counted.csv --column said --epsilon 0.4 --json".split()
    found = json.loads(pmlbook(tmp_path, "design", *options))
    assert isinstance(found, dict) and found

"""What a release loads: the mechanism, the log and the file, and no search for a mechanism."""

import subprocess
import sys

import pytest

from pmlbook import Mechanism

CLINIC = Mechanism(
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], [0.6, 0.3, 0.1], ("a", "b", "c")
)
SEARCHES = "extremal worst_case hamming estimation additive_noise robust records record_design"

PYTHON = """
import sys
from pathlib import Path
from pmlbook import Certificate, Mechanism
from pmlbook.budget import ReleaseLog
from pmlbook.files.release import release_file
mechanism = Mechanism.from_certificate(Certificate.from_json(Path("m.json").read_text()))
log = ReleaseLog("log", new=True)
release_file("in.csv", "out.csv", "said", mechanism, log=log, budget=2.0)
print(*sorted(sys.modules))
"""
COMMAND = """
import sys
from pmlbook.cli.command_line import main
words = "release m.json in.csv out.csv --column said --start-log log --budget 2.0"
assert main(words.split()) == 0
print(*sorted(sys.modules))
"""


@pytest.mark.parametrize("script", [PYTHON, COMMAND], ids=["Python", "command"])
def test_a_release_of_a_certified_column_loads_no_search(tmp_path, script):
    check_loaded(tmp_path, CLINIC, "1,a\n2,b\n1,b\n2,a\n", script)


@pytest.mark.parametrize("inputs", [(0.0, 10.0), ("0 to 5", "5 to 10")], ids=["nodes", "cells"])
def test_a_release_of_numbers_loads_no_search(tmp_path, inputs):
    mechanism = Mechanism([[0.8, 0.2], [0.2, 0.8]], [0.5, 0.5], inputs)
    check_loaded(tmp_path, mechanism, "1,0\n2,2.5\n1,10\n2,7.5\n", COMMAND)


def check_loaded(folder, mechanism, rows, script):
    (folder / "m.json").write_text(mechanism.certify(1.7).to_json())
    (folder / "in.csv").write_text("id,said\n" + rows * 25)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.splitlines()[-1].split()
    own = {name for name in loaded if name.startswith("pmlbook.")}
    searches = {name for name in own if name.split(".")[1] in SEARCHES.split()}
    assert own and not searches and (folder / "out.csv").exists()
    assert not {"scipy.optimize", "highspy", "pandas", "pyarrow"} & set(loaded)

"""What a release loads: the mechanism, the log and the file, and no search for a mechanism."""

import subprocess
import sys

import pytest

from pmlbook import Mechanism

CLINIC = Mechanism(
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], [0.6, 0.3, 0.1], ("a", "b", "c")
)
SEARCHES = "extremal worst_case hamming estimation robust records record_design"

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
    (tmp_path / "m.json").write_text(CLINIC.certify(1.7).to_json())
    (tmp_path / "in.csv").write_text("id,said\n" + "1,a\n2,b\n1,b\n2,a\n" * 25)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.splitlines()[-1].split()
    own = {name for name in loaded if name.startswith("pmlbook.")}
    searches = {name for name in own if name.split(".")[1] in SEARCHES.split()}
    assert own and not searches and (tmp_path / "out.csv").exists()
    assert not {"scipy.optimize", "highspy", "pandas", "pyarrow"} & set(loaded)

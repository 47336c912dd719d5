"""What `import pmlbook` gives: documented, with its source, and light."""

import subprocess
import sys

import pytest

import pmlbook

NAMES = sorted(name for name in pmlbook.__all__ if callable(getattr(pmlbook, name)))


@pytest.mark.parametrize("name", NAMES)
def test_public_name_tells_its_source(name):
    thing = getattr(pmlbook, name)
    lines = [line.strip() for line in (thing.__doc__ or "").splitlines()]
    assert any(lines), f"{name} has no docstring"
    if not (isinstance(thing, type) and issubclass(thing, Exception)):
        assert any(line.startswith("Source: ") for line in lines), f"{name} names no source"


def test_import_loads_no_plots_and_no_widgets():
    code = "import sys, pmlbook; print({'matplotlib', 'ipywidgets'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"

"""What a program prints as other processors compute it."""

import json
import os
import subprocess
import sys

KERNELS = ("Nehalem",)  # every x86 processor has it; the workflow asks for more


def told_everywhere(code):
    """What a program prints as JSON: as this processor computes, and with each of the kernels."""
    told = []
    for kernel in (None, *KERNELS):
        there = os.environ | ({"OPENBLAS_CORETYPE": kernel} if kernel else {})
        run = subprocess.run([sys.executable, "-c", code], env=there, capture_output=True)
        assert run.returncode == 0, run.stderr.decode()[-500:]
        told.append(json.loads(run.stdout))
    return told

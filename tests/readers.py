"""The three readers of certificates, each on many files at once: their results, as (verdict, digest)."""

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

from pmlbook.release import checker as printed
from pmlbook.release.certificate import Certificate

ROOT = Path(__file__).resolve().parent.parent
CHECKER = Path(printed.__file__)
SCRIPT = ROOT / "docs" / "_static" / "check_certificate.js"
NODE = shutil.which("node")
REFUSED = ("refused", "")

# Each program reads a list of files in base64, and prints a list of answers; what is no refusal crashes.
RUN_CHECKER = """
import base64, json, runpy, sys
checker = runpy.run_path(sys.argv[1])
def answer(data):
    try:
        holds, claim, digest = checker["check"](data)
    except checker["Refused"]:
        return "refused", ""
    return ("holds" if holds else "does not hold"), digest
print(json.dumps([answer(base64.b64decode(text)) for text in json.load(sys.stdin)]))
"""
RUN_SCRIPT = """
const { check, digest, Refused } = require(process.argv[1]);
async function answer(data) {
  try {
    const { holds, text } = check(data);
    return [holds ? "holds" : "does not hold", await digest(text)];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return ["refused", ""];
  }
}
const texts = JSON.parse(require("fs").readFileSync(0, "utf-8"));
Promise.all(texts.map((text) => answer(new Uint8Array(Buffer.from(text, "base64"))))).then((answers) =>
  console.log(JSON.stringify(answers)),
);
"""


def _ask(command, files):
    text = json.dumps([base64.b64encode(data).decode() for data in files])
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [tuple(answer) for answer in json.loads(done.stdout)]


def library(files):
    """The results of `Certificate.from_json`."""
    return [_library(data) for data in files]


def _library(data):
    try:
        certificate = Certificate.from_json(data.decode("utf-8"))
    except ValueError:
        return REFUSED
    return ("holds" if certificate else "does not hold"), certificate.digest


def checker(files):
    """The results of the checker of the book, alone and without assertions."""
    return _ask([sys.executable, "-I", "-O", "-c", RUN_CHECKER, CHECKER], files)


def javascript(files):
    """The results of the script of the page, in Node."""
    return _ask([NODE, "-e", RUN_SCRIPT, SCRIPT], files)


def answers(files):
    """The results of each reader that is installed: a dictionary of lists."""
    readers = [library, checker] + ([javascript] if NODE else [])
    return {reader.__name__: reader(files) for reader in readers}

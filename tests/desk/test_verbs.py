"""Choices of the verb design that do not go together."""

import contextlib
import io
from argparse import Namespace

from refusals import refusal

from pmlbook.desk.talk import FINE
from pmlbook.desk.verbs import design

common = {
    "delimiter": ",",
    "encoding": "utf-8",
    "quotechar": '"',
    "escapechar": None,
    "comment": None,
    "missing_text": [""],
    "missing": "refuse",
    "json": False,
    "given": None,
    "confidence": 0.95,
    "force": False,
    "show_values": False,
    "quiet": True,
}


def call(verb, **choice):
    """The exit code of a verb, and what it says."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = verb(Namespace(**(common | choice)))
    return code, out.getvalue()


typed = ["yes=22", "no=26"]


def test_choices_that_do_not_go_together_are_refused(tmp_path):
    source, nowhere = tmp_path / "in.csv", tmp_path / "never.json"
    source.write_text("id,said\n1,yes\n2,no\n")
    sensible = {"prior": typed, "counts": None, "column": None, "epsilon": 0.3, "max_time": None}
    sensible |= {
        "utility": "mutual_information",
        "output": nowhere,
        "goal": "information",
        "rows": 1,
    }
    for choice, told in (
        ({"counts": source}, "go together"),
        ({"column": "said"}, "go together"),
        ({"given": ["id"]}, "--given needs --counts"),
        (
            {"given": ["id"], "counts": source, "column": "said", "max_time": 1.0},
            "and no --max-time",
        ),
        ({"goal": "mean", "utility": "hellinger"}, "takes no --given and no --utility"),
        ({"goal": "mean", "given": ["id"], "counts": source, "column": "said"}, "takes no --given"),
        ({"goal": "mean"}, "needs names that are numbers"),
        ({"rows": 0}, "at least one is needed"),
    ):
        assert told in refusal(call, design, **(sensible | choice)) and not nowhere.exists()
    assert call(design, **sensible)[0] == FINE and nowhere.exists()

"""A command line in an empty folder, with and without a terminal."""

import inspect

import pytest
from click.testing import CliRunner

from pmlbook.cli import wizard
from pmlbook.cli.command_line import program


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Exit code, standard output and standard error of a command; `answers` are typed at a terminal.

    In a command ~ stands for a blank within a word, and ∅ for an empty word.
    """
    monkeypatch.chdir(tmp_path)
    # Before Click 8.2 the two streams are one unless this is said.
    apart = "mix_stderr" in inspect.signature(CliRunner).parameters
    runner = CliRunner(mix_stderr=False) if apart else CliRunner()

    def call(command, *more, answers=None):
        words = [word.replace("~", " ").replace("∅", "") for word in command.split()]
        monkeypatch.setattr(wizard, "is_terminal", lambda: answers is not None)
        typed = "".join(f"{answer}\n" for answer in answers or ())
        done = runner.invoke(program, [*words, *map(str, more)], input=typed)
        return done.exit_code, done.stdout, done.stderr

    return call

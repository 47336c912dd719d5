"""Text of a file is printed as text, without control characters."""

from pmlbook.display.messages import one_line


def test_line_breaks_and_commands_to_a_terminal_are_written_out():
    assert one_line("not\nat all \x1b[31m") == r"not\nat all \x1b[31m"

"""What a terminal would obey is shown as it is written."""

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.paths import ROOT
from pyharness.model.text.styled_line import Line, in_parts, painted
from pyharness.model.text.visible import visible, visible_json

PACKAGE = ROOT / "pyharness"
DOORS = {
    "cli/kit/output.py",
    "model/text/visible.py",
    "model/text/told.py",
    "ingdb/terminal.py",
}
"""Who writes to a terminal."""
NOT_TERMINALS = {
    "debuggee/in_place/stops.py": "the program's own line, on its own stdout, as pdb prints it",
    "cli/grammar/lazy_group.py": "its own help",
    "dap/session.py": "an editor's log, made visible",
    "debuggee/__main__.py": "Python's own two lines of a hook that fails",
    "debuggee/entries/interpreter_report.py": "JSON for the doctor",
    "debuggee/entries/torch_report.py": "JSON for the doctor",
    "engine/facts.py": "JSON for whoever builds the engine",
    "doctor/system/ptrace_attempt.py": "JSON for the doctor",
    "ingdb/checkup.py": "JSON for the doctor",
    "debuggee/site/sitecustomize.py": "any Python, before anything of ours can be imported",
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31m \x7f \r", r"\x9b31m \x7f \r"),
        ("a\u202eb\u2066c\u061c", r"a\u202eb\u2066c\u061c"),
        ("\udcff", r"\udcff"),
        ("é → 日本 👍\t\n", "é → 日本 👍\t\n"),
    ],
)
def test_what_is_obeyed_and_what_is_not(text, shown):
    assert visible(text) == shown


@given(st.text(st.characters()))
def test_nothing_is_left_that_moves_a_terminal_and_json_means_the_same(text):
    assert all(char.isprintable() or char in "\t\n" or ord(char) > 0x9F for char in visible(text))
    visible(text).encode()
    dumped = visible_json(json.dumps({text: text}, ensure_ascii=False))
    assert json.loads(dumped) == {text: text}
    dumped.encode()


def test_our_colours_stay_and_others_do_not():
    line = in_parts(("a\x1b[2J", "python"), ("b", ""))
    assert painted(line, colour=True) == "\x1b[34ma\\x1b[2J\x1b[0mb"
    assert painted(line, colour=False) == "a\\x1b[2Jb"
    assert painted(line.behind("  "), colour=True).startswith("  \x1b[34m")
    assert painted(Line("\x1b[8m", "bad"), colour=True) == "\x1b[31m\\x1b[8m\x1b[0m"


def prints(tree):
    """Calls that write to the terminal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in {"print", "click.echo", "gdb.write", "sys.stdout.write", "sys.stderr.write"}:
                yield name


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nobody_else_writes_to_a_terminal(path):
    name = str(path.relative_to(PACKAGE))
    if name not in DOORS | set(NOT_TERMINALS) and "folder" not in path.parts:
        assert not list(prints(ast.parse(path.read_text()))), "write by cli/kit/output.py, say() or ingdb/terminal.py"


@pytest.mark.parametrize("colour", [False, True])
def test_a_line_of_ours_is_one_line_whatever_a_name_has_in_it(colour):
    for line in (Line('Thread 7 "a\nFAKE"', "heading"), in_parts(("a\nFAKE", "heading"), ("b", ""))):
        shown = painted(line, colour=colour)
        assert "\n" not in shown
        assert r"a\nFAKE" in shown

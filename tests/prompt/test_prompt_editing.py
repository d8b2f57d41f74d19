"""The editor of lines, in a window: completion, history, several lines of Python, narrow windows, colours."""

import os
import stat
from pathlib import Path

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)


TAB = "\t"
UP = "\x1b[A"
CTRL_C = "\x03"


@pytest.fixture
def at_add(window, line):
    """A window where the program adds."""
    return window(options=("--at", f"py:prompted.py:{line['add']}"))


def test_names_of_the_frame_are_completed(at_add):
    at_add.type("p sca" + TAB)
    at_add.shows("(ph) p scale")
    at_add.type("\r")
    assert "2" in at_add.prompts()


def test_commands_and_places_are_completed(at_add):
    at_add.type("undisp" + TAB)
    at_add.shows("(ph) undisplay")
    at_add.type(CTRL_C)
    at_add.type("b nati" + TAB)
    at_add.shows("(ph) b native:")
    at_add.type(CTRL_C)
    at_add.type("b Box.__in" + TAB)
    at_add.shows("(ph) b Box.__init__")


def test_what_was_typed_comes_back_also_in_the_next_session(window, environment):
    first = window()
    first.type("p 41 + 1\r")
    first.shows("42")
    first.type("quit\r")
    first.ends()
    folder = environment["PYHARNESS_HOME"]
    assert stat.S_IMODE((Path(folder) / "prompt-history").stat().st_mode) == 0o600
    second = window()
    second.type(UP + UP)
    second.shows("(ph) p 41 + 1")


def test_a_history_that_cannot_be_written_is_said_and_the_session_goes_on(window, tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "prompt-history").mkdir()
    at = window()
    at.shows("The history of this session is not kept.")
    assert "2" in at.does("p 1 + 1")


def test_a_statement_of_several_lines(at_add):
    at_add.type("py for value in (7, 8):\r")
    at_add.shows("...")
    at_add.type("    result = value\r")
    at_add.type("\r")
    at_add.prompts()
    assert "8" in at_add.does("p result")


def test_ctrl_c_gives_up_the_line(at_add):
    at_add.type("p nonsense" + CTRL_C)
    at_add.shows("`quit` ends the session.")
    at_add.prompts()
    assert "2" in at_add.does("p scale")


def test_keys_of_vi_where_readline_has_them(window, tmp_path):
    (tmp_path / "inputrc").write_text("set editing-mode vi\n", encoding="utf-8")
    at = window(INPUTRC=str(tmp_path / "inputrc"))
    at.type("p 3 + 9\x1b0lli4")
    at.shows("(ph) p 43 + 9")


def test_a_narrow_window_cuts_lines_and_garbles_none(window, line):
    at = window(options=("--at", f"py:prompted.py:{line['add']}"), columns=20)
    lines = at.prompts()
    assert "1  breakpoint · py…" in lines
    assert any(each.startswith(f"   → {line['add']} │") for each in lines)
    assert "2" in at.does("p scale")


def test_a_stop_takes_at_most_a_screen(window, line):
    at = window(options=("--at", f"py:prompted.py:{line['add']}"), lines=14)
    lines = at.prompts()
    assert any("breakpoint · python · total" in each for each in lines)


@pytest.mark.parametrize(("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_of_the_source(window, settings, coloured):
    at = window(**settings)
    at.does("list 14, 18", "value in values")
    assert ("\x1b[34mdef\x1b[0m" in at.text) is coloured


def test_the_program_asks_in_the_same_window(window):
    at = window("ask")
    at.type("c\r")
    at.shows("name?")
    at.type("World\r")
    at.shows("hi World")
    at.prompts()


@pytest.mark.parametrize("edits", [True, False])
def test_a_terminal_that_disappears_at_a_stop_lets_the_program_run_on(window, dialogue, tmp_path, edits):
    at = (window if edits else dialogue)("ends_by_itself", str(tmp_path / "ended"))
    os.mkfifo(tmp_path / "ended")
    at.hang_up()
    os.waitpid(at.pid, 0)
    with (tmp_path / "ended").open(encoding="utf-8") as told:
        assert told.read() == "it ran on"


def test_ctrl_c_twice_asks_whether_to_end_the_program(window, tmp_path):
    slow = tmp_path / "slow-gdb"
    slow.write_text(f'#!/bin/sh\nread line < {tmp_path / "go"}\nexec gdb "$@"\n', encoding="utf-8")
    slow.chmod(0o700)
    os.mkfifo(tmp_path / "go")
    at = window("sleep", PYHARNESS_GDB=str(slow))
    at.type("c\r")
    at.shows("sleeping")
    at.type(CTRL_C + CTRL_C)
    at.shows("The program has not come to a stop yet. End it? (y or n)")
    (tmp_path / "go").write_text("now\n", encoding="utf-8")
    at.type("y\r")
    at.shows("the program was ended by SIG")
    at.prompts()


def test_a_stack_fits_the_window(window, line):
    at = window(options=("--at", f"py:prompted.py:{line['add']}"), columns=72)
    lines = at.does("bt", "<module>")
    frames = lines[lines.index("(ph) bt") + 1 : lines.index("(ph)")]
    assert [text[1:2] for text in frames] == ["0", "1", "2"], frames

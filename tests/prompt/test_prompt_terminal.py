"""Dialogues in a terminal: the program has it while it runs, the prompt at a stop, and Ctrl-C pauses."""

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from kit.command import PYHARNESS
from kit.dialogue import PROMPT, Dialogue
from kit.paths import PROGRAMS
from kit.processes import ends_within

pytestmark = pytest.mark.rotated_tests(turns=6)


def test_the_program_reads_what_is_typed_while_it_runs(dialogue):
    at = dialogue("ask")
    at.says("c", "name? ")
    assert "hi World\ntotal 12\nthe program ended with exit code 0\n" in at.says("World")
    at.says("q", "")
    assert at.ends() == 0


def test_what_failed_is_not_saved(dialogue, tmp_path):
    at = dialogue()
    at.says("n")
    for failing, says in (
        ("py 1 / 0", "ZeroDivisionError"),
        ("set nothing.x = 1", "name 'nothing' is not defined"),
        ("jump 9999", "9999"),
    ):
        assert says in at.says(failing)
    at.says(f"save {tmp_path / 'saved.toml'}")
    assert "over = true" in (tmp_path / "saved.toml").read_text()
    at.says("py 1")
    assert "A session file has no step for py 1." in at.says(f"save {tmp_path / 'saved.toml'}")


def test_ctrl_c_pauses_python_that_computes(dialogue):
    at = dialogue("spin")
    at.says("c", "spinning")
    at.press_ctrl_c()
    at.wait_for(PROMPT)
    assert "pause · python · spin" in at.text
    assert "count += 1" in at.text
    at.says("py count = -5")
    assert "total 12" in at.says("c")


def test_ctrl_c_pauses_a_system_call_at_the_frame_of_the_user(dialogue):
    at = dialogue("sleep")
    at.says("c", "sleeping")
    at.press_ctrl_c()
    at.wait_for(PROMPT)
    assert "pause · native · " in at.text
    assert "python · sleep · " in at.text
    assert "time.sleep(600)" in at.text
    at.says("q", "")
    assert at.ends() == 0


@pytest.mark.parametrize("mode", ["interrupted", "sleep"])
def test_ctrl_backslash_is_what_it_is_without_a_debugger(dialogue, mode):
    at = dialogue(mode)
    at.says("c", "spinning" if mode == "interrupted" else "sleeping")
    at.type("\x1c")
    at.wait_for(PROMPT)
    assert "SIGQUIT" in at.text


@pytest.mark.parametrize("terminal", ["dumb", "xterm-256color"])
def test_a_suspended_prompt_ends_where_a_signal_says_so(environment, terminal):
    """It is in the background then, and must not read the terminal before it hears the signal."""
    at = Dialogue(["bash", "--norc", "-i"], {**environment, "TERM": terminal, "PS1": "shell> "})
    try:
        at.wait_for("shell> ")
        at.says(f"{shlex.join(PYHARNESS)} debug {PROGRAMS / 'prompted.py'}", "(ph)")
        at.type("\x1a")
        at.wait_for("Stopped")
        at.says("kill %1; while kill -0 %1 2>/dev/null; do sleep 0.1; done", "Exit 143")
    finally:
        at.end()


def test_ctrl_c_comes_to_the_program_by_a_command(dialogue):
    at = dialogue("interrupted")
    at.says("c", "spinning")
    at.press_ctrl_c()
    at.wait_for(PROMPT)
    shown = at.says("signal INT")
    assert "heard Ctrl-C" in shown
    assert "the program ended with exit code 0" in shown


def test_an_expression_that_does_not_end_is_ended_by_ctrl_c(dialogue, tmp_path):
    at = dialogue(options=("--eval-timeout", "100"))
    os.mkfifo(tmp_path / "begun")
    at.text = ""
    at.type(f"p open({str(tmp_path / 'begun')!r}, 'w'), [1 for _ in iter(int, 1)]\r")
    with (tmp_path / "begun").open(encoding="utf-8"):  # opens when the expression does
        at.press_ctrl_c()
    at.wait_for(PROMPT)
    assert "1" in at.says("p 0 + 1")


def test_what_the_program_leaves_unended_begins_no_line_of_ours(dialogue, line):
    at = dialogue("midline", options=("--at", f"py:prompted.py:{line['midline']}"))
    assert "50%\r\n1  breakpoint" in at.text


def test_a_thread_that_waits_for_the_gil_is_not_asked(dialogue, tmp_path):
    """What it runs would take the GIL within the GIL's own lock, which no Python of this process survives."""
    program = tmp_path / "tug.py"
    program.write_text(
        "import ctypes, threading\nsleep = ctypes.PyDLL(None).usleep  # it keeps the GIL\n"
        "print('tugging', flush=True)\n"
        "for _ in range(4):\n    threading.Thread(target=sleep, args=(400_000,)).start()\n"
    )
    at = dialogue(program=program)
    at.says("c", "tugging")
    time.sleep(0.6)
    at.press_ctrl_c()
    at.wait_for(PROMPT)
    assert "did not end" not in at.says("p 1")  # it is refused, or the thread has just come out
    assert "the program ended with exit code 0" in at.says("c")


def test_bytes_that_are_no_text_come_through_as_they_are(dialogue):
    at = dialogue("binary")
    at.type("c\r")
    at.wait_for(bytes(range(128, 256)).decode("utf-8", "surrogateescape"))
    at.wait_for("total 12")


@pytest.mark.parametrize("does", ["fork", "close", "become"])
def test_a_program_that_forks_or_leaves_its_terminal(dialogue, does):
    at = dialogue(does)
    shown = at.says("c")
    assert "the program ended with exit code 0" in shown
    assert {"fork": "forked", "become": "another program", "close": ""}[does] in shown
    assert "exit code 0" in at.says("r fork")


def test_a_terminal_that_disappears_lets_the_program_run_on(dialogue):
    at = dialogue("spin")
    program = int(at.says("p __import__('os').getpid()").split()[0])
    at.says("c", "spinning")
    at.hang_up()
    assert os.waitpid(at.pid, 0)[1] >= 0
    assert not ends_within(program, 0)
    os.kill(program, signal.SIGKILL)


def test_the_end_of_the_lines_asks_before_it_ends_the_program(dialogue):
    at = dialogue("spin")
    at.type("\x04")
    at.wait_for("The program still runs. End it? (y or n) ")
    at.says("n")
    at.type("\x04")
    at.wait_for("(y or n) ")
    at.says("y", "")
    assert at.ends() == 0


def test_an_empty_line_repeats_a_step(dialogue, line):
    at = dialogue(options=("--at", f"py:prompted.py:{line['loop']}"))
    assert "result += value" in at.says("n")
    assert "3  breakpoint · python · total" in at.says("")
    at.says("p 1 + 1")
    assert at.says("").strip() == PROMPT.strip()


def test_errors_at_a_terminal_end_nothing(dialogue):
    at = dialogue()
    assert "There is no command 'nonsense'." in at.says("nonsense")
    assert "NameError" in at.says("p nonsense")
    assert "total 12" in at.says("c")
    assert "No program is being debugged." in at.says("p 1")
    assert "entry" not in at.says("r")


def test_another_program_is_attached_to_and_runs_on(dialogue):
    command = [sys.executable, "-u", str(PROGRAMS / "prompted.py"), "spin"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout.readline() == "hello\n"
        assert process.stdout.readline() == "spinning\n"
        try:
            at = dialogue(program=process.pid)
            assert "spin " in at.says("bt")
            assert "runs on without a debugger" in at.says("detach", "debugger.")
            assert at.ends() == 0
            assert not ends_within(process.pid, 0)
        finally:
            process.kill()

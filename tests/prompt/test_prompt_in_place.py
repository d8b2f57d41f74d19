"""The prompt that a program opens at itself, in the terminal that it was started in; pytest's too."""

import os
import signal
import subprocess
import sys
import time

import pytest

from kit import builds, interpreters
from kit.command import PYHARNESS
from kit.dialogue import PROMPT
from kit.marks import marks
from kit.paths import PROGRAMS, ROOT
from kit.terminal import Terminal, children

pytestmark = pytest.mark.rotated_tests(turns=8)


PROGRAM = PROGRAMS / "in_place.py"
MARKS = marks(PROGRAM)
TESTED = """
def helper(values):
    assert sum(values) == 7, "not seven"


def test_one():
    print("from the test")
    values = [1, 2]
    breakpoint()
    values.append(4)
    helper(values)


def test_two():
    helper([1])


def test_three():
    breakpoint()
    assert True
"""


@pytest.fixture
def tested(in_place, tmp_path):
    """pytest on a file of tests, with our class in place of pdb's, at the first prompt."""
    (tmp_path / "test_it.py").write_text(TESTED, encoding="utf-8")

    def begin(*options, first=PROMPT):
        words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--pdbcls=pyharness:Pdb", *options)
        command = (sys.executable, *words, tmp_path / "test_it.py")
        return in_place(command=command, first=first, PYTHONBREAKPOINT="", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")

    return begin


@pytest.mark.always
def test_breakpoint_opens_it_and_the_next_one_stops_in_it(in_place):
    at = in_place("looped")
    assert "1  breakpoint · python · total · " in at.text
    assert "   result = 1\r\n   value = 1" in at.text
    assert "result = 2" not in at.says("p result + value")
    assert "→0  python  total" in at.says("bt")
    second = at.says("c")
    assert "2  breakpoint · python · total · " in second
    assert "   result = 3\n   value = 2" in second
    assert "step · python · total" in at.says("n")
    at.says("c")
    at.says("c", "total 6")
    at.wait_for("the end")
    assert at.ends() == 0
    assert "the program ended" not in at.text


@pytest.mark.parametrize("leaves", ["quit", "detach"])
def test_it_is_left_and_the_next_breakpoint_opens_another(in_place, leaves):
    at = in_place("looped")
    again = at.says(leaves)
    assert "1  breakpoint · python · total · " in again
    assert "   result = 3\n   value = 2" in again
    at.says(f"b {MARKS['returns']}")
    at.says("c")
    assert "breakpoint · python · total" in at.says("c")
    at.says(leaves, "the end")
    assert at.ends() == 0


def test_the_program_has_its_terminal_while_it_runs(in_place):
    at = in_place("asked")
    assert at.text.startswith("look here")
    assert f"→ {MARKS['asks']} │" in at.text
    at.says("c", "name? ")
    assert "hi World\nthe end" in at.says("World", "the end")
    assert at.ends() == 0


def test_a_thread_that_reads_meanwhile_reads_on_when_the_program_has_its_terminal(in_place):
    at = in_place("beside")
    assert at.says("p value").strip().startswith("1")
    assert "step · python · total" in at.says("n")
    assert "EOFError" not in at.text
    at.says("c", "")
    at.type("World\r")
    at.wait_for("hi World")
    at.wait_for("the end")
    assert at.ends() == 0


def test_ctrl_c_is_the_programs_while_it_runs_and_the_prompts_while_it_stands(in_place):
    at = in_place("interrupted")
    at.text = ""
    at.gives_up_the_line()
    at.says("c", "spinning")
    at.press_ctrl_c()
    at.wait_for("heard Ctrl-C")
    at.wait_for("the end")
    assert at.ends() == 0


def test_a_post_mortem_of_a_traceback_has_its_exception(in_place):
    at = in_place("failed_before")
    assert "ZeroDivisionError: division by zero" in at.text
    at.says("c", "the end")
    assert at.ends() == 0


def test_a_post_mortem_shows_the_frames_as_they_were_left(in_place):
    at = in_place("failed")
    assert "exception · python · divided · " in at.text
    assert "ZeroDivisionError: division by zero" in at.text
    assert f"→ {MARKS['fails']} │" in at.text
    assert "4" in at.says("p value")
    assert "python · failed · " in at.says("up")
    at.says("c", "the end")
    assert at.ends() == 0


def test_it_goes_into_cpp(in_place, environment):
    at = in_place("crossed", PYTHONPATH=f"{environment['PYTHONPATH']}:{builds.crossing()}")
    shown = at.says("into native")
    assert "step · native · crossing::held" in shown
    assert "value = 7" in at.says("info locals")
    bt = at.says("bt")
    assert "crossing::held" in bt
    assert "crossed" in bt
    assert "python · crossed" in at.says("out")
    at.says("q", "the end")
    assert at.ends() == 0


def test_it_dies_and_the_program_has_its_terminal_again(in_place):
    at = in_place("asked")
    session = os.getsid(at.pid)
    harness = next(each for each in _processes_of(session) if each != at.pid)
    at.text = ""
    os.kill(harness, signal.SIGKILL)
    at.wait_for("name? ")
    at.type("World\r")
    at.wait_for("hi World")
    assert at.ends() == 0


def test_the_leader_of_the_programs_group_has_ended_before_it(in_place):
    """A shell that starts ``true | python train.py`` puts their group in front, and its first process led it."""
    pipeline = f"true | {sys.executable} {PROGRAM} looped"
    at = in_place(command=("bash", "--norc", "-ic", f"{pipeline}; echo it ended with $?"))
    for _ in range(2):
        assert "total" in at.says("c")
    at.says("c", "it ended with 0")


def _processes_of(session):
    """The processes of a session that lead a group, without gdb's."""
    listed = subprocess.run(["ps", "-o", "pid=,pgid=,comm=", "-s", str(session)], capture_output=True, check=True)
    rows = [line.split() for line in listed.stdout.decode().splitlines()]
    return [int(pid) for pid, group, name in rows if pid == group and name != "gdb"]


def test_kill_ends_the_program_and_the_prompt(in_place):
    at = in_place("looped")
    at.type("kill\r")
    assert at.ends() == -signal.SIGKILL


def test_without_a_terminal_one_sentence_says_so(environment):
    settings = {**environment, "PYTHONBREAKPOINT": "pyharness.breakpoint"}
    command = [sys.executable, str(PROGRAM), "looped"]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, start_new_session=True)
    assert done.returncode == 1
    assert "This program has no terminal in which a prompt could be opened" in done.stderr
    assert "pyharness debug " in done.stderr.splitlines()[-1]


def test_under_run_breakpoint_opens_it(in_place):
    at = in_place("looped", command=(*PYHARNESS, "run", PROGRAM), PYTHONBREAKPOINT="")
    assert "breakpoint · python · total · " in at.text
    at.says("q")
    at.says("q")
    at.says("q", "the end")
    assert at.ends() == 0


def test_under_run_it_opens_in_a_child_that_is_a_python_of_its_own(in_place, tmp_path):
    script = tmp_path / "spawns.py"
    script.write_text(
        "import multiprocessing\ndef f(n):\n    breakpoint()\n    print('child', n)\n"
        "if __name__ == '__main__':\n    at = multiprocessing.get_context('spawn').Process(target=f, args=(7,))\n"
        "    at.start()\n    at.join()\n"
    )
    at = in_place(command=(*PYHARNESS, "run", script), PYTHONBREAKPOINT="")
    assert "breakpoint · python · f · " in at.text
    at.says("p n", "7")
    at.says("c", "child 7")
    assert at.ends() == 0


def test_under_debug_it_is_a_stop_there(piped):
    done = piped(["c"], "looped", program=PROGRAM)
    assert "breakpoint · python · total" in done.stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [("", "There is no exception to look at."), ("ValueError(1)", "ValueError has no traceback: it was not raised in")],
)
def test_nothing_to_look_at_is_said(environment, given, said):
    code = f"import pyharness; pyharness.post_mortem({given})"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert said in done.stderr


def test_pytest_has_it_in_place_of_pdb(tested):
    at = tested("--pdb")
    assert "PDB set_trace (IO-capturing turned off)" in at.text
    assert "breakpoint · python · test_one · " in at.text
    assert "[1, 2]" in at.says("p values")
    failed = at.says("c")
    assert "PDB continue (IO-capturing resumed)" in failed
    assert "exception · python · helper · " in failed
    assert "AssertionError: not seven" in failed
    assert "[1]" in at.says("p values")
    third = at.says("c")
    assert "PDB set_trace (IO-capturing turned off)" in third
    assert "python · test_three" in third
    assert "1 failed, 2 passed" in at.says("c", " in ")
    assert at.ends() == 1


def test_quitting_a_post_mortem_of_pytests_ends_its_run(tested):
    at = tested("--pdb", "-k", "two")
    assert "exception · python · helper · " in at.text
    assert "Quitting debugger" in at.says("q", "debugger")
    assert at.ends() == 2


@pytest.mark.parametrize(("leaves", "says", "status"), [("q", "Quitting debugger", 2), ("detach", " passed", 0)])
def test_quitting_a_breakpoint_of_pytests_ends_its_run(tested, leaves, says, status):
    at = tested("-k", "one or three")
    assert "breakpoint · python · test_one · " in at.text
    at.type(f"{leaves}\r")
    at.wait_for(says if status else "PDB set_trace")
    if not status:  # the next test stops as well
        at.wait_for("test_three")
        at.says(leaves, says)
    assert at.ends() == status


def test_pytest_traces_from_a_tests_first_line(tested):
    at = tested("--trace", "-k", "one")
    assert "step · python · test_one · " in at.text
    assert 'print("from the test")' in at.text
    assert "from the test" in at.says("n")
    assert "breakpoint · python · test_one" in at.says("c")
    assert "1 passed" in at.says("c", " in ")
    assert children(at.pid) == []
    assert at.ends() == 0


@pytest.mark.parametrize("what", ["breakpoint", "post_mortem"])
def test_in_code_that_has_no_file(in_place, what):
    """What Python's prompt and ``-c`` run is called ``<...>``, as is what libraries generate."""
    asks = {
        "breakpoint": "def f(x):\n    breakpoint()\n    y = x + 1\n    return y\nf(2)",
        "post_mortem": (
            "import pyharness\ndef f(x):\n    1 / 0\ntry:\n    f(2)\nexcept Exception:\n    pyharness.post_mortem()"
        ),
    }[what]
    at = in_place(command=(sys.executable, "-c", asks))
    assert "python · f · <string>:3" in at.text
    assert at.says("p x").split()[0] == "2"
    at.type("c\r")
    assert at.ends() == 0


def test_in_a_recursion_that_is_almost_too_deep(in_place):
    """What comes in takes more frames than it has left."""
    nested = (
        "import sys\ndef down(left):\n    if left == 0:\n        breakpoint()\n        return sys.getrecursionlimit()\n"
        "    return down(left - 1)\nprint('limit', down(sys.getrecursionlimit() - 60))"
    )
    at = in_place(command=(sys.executable, "-c", nested))
    assert "python · down · <string>:5" in at.text
    assert at.says("p left").split()[0] == "0"
    at.says("c", "limit 1000")
    assert at.ends() == 0


@pytest.mark.rotated
@pytest.mark.parametrize("version", interpreters.cases())
def test_a_program_under_another_python_opens_it(in_place, version):
    """A program's Python need not have the debugger's requirements: the prompt is a process of the Python that has."""
    python = interpreters.interpreters()[version]
    settings = {"PYTHONPATH": str(ROOT), "PYHARNESS_PYTHON": sys.executable}
    at = in_place("looped", command=(python, PROGRAM), **settings)
    assert "1  breakpoint · python · total · " in at.text
    assert "result = 2" not in at.says("p result + value")
    assert "breakpoint · python · total" in at.says("c")
    at.says("q")
    at.says("q", "the end")
    assert at.ends() == 0


BEGINS = """
import os, socket, subprocess, sys, time
STARTER = '''
import os, socket, sys, time
leave, starter = os._exit, os.getpid()
os._exit = lambda status: (time.sleep(0.5), leave(status))
from pyharness.prompt.terminal.shared_terminal import SharedTerminal
ours, theirs = socket.socketpair()
SharedTerminal(ours)
os.write(int(sys.argv[1]), b"its child" if os.getppid() == starter else b"nobody's child")
'''
read, write = os.pipe()
subprocess.run([sys.executable, "-c", STARTER, str(write)], pass_fds=[write])
os.close(write)
print("it is", os.read(read, 99).decode())
"""


def test_a_prompt_begins_when_what_started_it_is_over(environment):
    """Until then the program would be an ancestor of its debugger; a busy machine has the starter end later."""
    at = Terminal([sys.executable, "-c", BEGINS], {**environment, "PYTHONPATH": str(ROOT)})
    at.wait_for("it is ")
    at.wait_for("child")
    assert "nobody's child" in at.text
    at.end()


def test_in_a_function_of_atexit_it_says_why_it_does_not_open(in_place, tmp_path):
    script = tmp_path / "ends.py"
    script.write_text(
        "import atexit, threading, pyharness\natexit.register(lambda: (pyharness.set_trace(), print('cleared up')))\n"
    )
    terminal = in_place(command=(sys.executable, script), first="cleared up")
    assert "Python is ending, and opens this prompt no more." in terminal.text
    assert terminal.ends() == 0


FORKS = """
import os
child = os.fork()
breakpoint()
if child:
    os.waitpid(child, 0)
"""


def test_of_two_processes_at_one_terminal_one_waits_for_the_other(environment, tmp_path):
    (tmp_path / "forks.py").write_text(FORKS)
    over = time.monotonic() + 60
    at = Terminal([*PYHARNESS, "run", str(tmp_path / "forks.py")], {**environment, "TERM": "dumb"})
    try:
        for number in (1, 2):
            while at.text.count("1  breakpoint") < number or at.text.count("(ph)") < number:
                assert time.monotonic() < over, at.text
                at._read_some()
            at.type("c\r")
        assert at.ends() == 0
    finally:
        at.end()
    # Said again where the other one comes between a process's first wait and its prompt.
    assert at.text.count("waits at its stop until the prompt of another one goes on") in {1, 2}
    assert "bug" not in at.text

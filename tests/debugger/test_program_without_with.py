"""Sessions without a ``with`` block, as in a notebook: begun by the call, ended by ``close``, by nobody, or with us."""

import subprocess
import sys

import pytest

import pyharness
from kit.paths import PROGRAMS, ROOT
from kit.running_program import wait_for_end
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=5)


HOW = [pytest.param({"handle": "walker"}, id="by handle"), pytest.param({}, id="by pid")]


@pytest.mark.parametrize("how", HOW)
def test_attached_looked_at_and_left(running, how):
    walker = running("attach_loop.py", "calls", **how)
    program = pyharness.attach(how.get("handle") or walker.pid)
    assert program.run_to(walker.at("work")).frame.function == "work"
    assert int(program.evaluate("number")) >= 0
    program.close()
    program.close()
    walker.ends_free()


def test_started_and_ended(debugged):
    crossing = debugged("core_crossing.py")
    program = crossing.start()
    assert program.run_to("native:held").frame.language == "native"
    program.close()
    assert program.exit_code < 0


def test_one_that_nothing_refers_to_is_left(running):
    walker = running("attach_loop.py", "calls")
    assert pyharness.attach(walker.pid).run_to(walker.at("work"))
    again = pyharness.attach(walker.pid)  # nobody else is there
    assert again.run_to(walker.at("work"))
    del again
    walker.ends_free()


def test_it_may_be_used_as_a_block_later(running):
    walker = running("attach_loop.py", "calls")
    program = pyharness.attach(walker.pid)
    with program as same:
        assert same is program
        assert program.run_to(walker.at("work"))
    for use in (program.__enter__, program.resume, lambda: program.run_to(walker.at("work"))):
        with pytest.raises(HarnessError, match="This session is closed"):
            use()
    walker.ends_free()


def test_a_program_that_was_let_go_says_so(debugged):
    crossing = debugged("core_crossing.py")
    program = crossing.start()
    program.detach()
    with pytest.raises(HarnessError, match="was let go"):
        program.run_to("native:held")
    assert program.finish() == 7
    program.close()


PROMPT = """
import sys, pyharness
program = pyharness.{how}({target!r})
print(program.run_to({place!r}).frame.function, program.pid, flush=True)
"""


def prompt(how, target, place):
    """A Python that ends without a word of farewell; what it said."""
    code = PROMPT.format(how=how, target=target, place=place)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_the_end_of_python_leaves_a_program_that_was_attached_to(running):
    walker = running("attach_loop.py", "calls")
    assert prompt("attach", walker.pid, walker.at("work")) == ["work", str(walker.pid)]
    walker.ends_free()


def test_the_end_of_python_ends_a_program_that_it_started():
    script = PROGRAMS / "plain_forever.py"
    line = next(number for number, text in enumerate(script.read_text().splitlines(), 1) if text.startswith("while"))
    *_, function, pid = prompt("debug", str(script), f"py:{script}:{line + 1}")
    assert function == "<module>"
    wait_for_end(int(pid))

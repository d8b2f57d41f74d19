"""Child processes: each tells its parent's debugger, waits for one of its own as long as it was told, and runs on."""

import os
import queue
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from functools import partial

import pytest

import pyharness
from kit.debugged_program import line_of
from kit.paths import PROGRAMS
from kit.running_program import wait_for_end
from pyharness.debugger.api.program import Program
from pyharness.debugger.starting.launch import Command
from pyharness.model.errors import DebuggerLostError

pytestmark = pytest.mark.rotated_tests(turns=5)


LOOP = str(PROGRAMS / "attach_loop.py")
RANKS = str(PROGRAMS / "attach_ranks.py")
PATIENCE = 60


class Family:
    """A program whose children are debugged: it runs on a thread of its own, to its end."""

    def __init__(self, begin):
        self.callers = queue.SimpleQueue()
        self.program = begin(on_child=self.callers.put)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.program.__enter__()
        self._thread.start()
        return self

    def _run(self):
        with suppress(DebuggerLostError):  # the program is let go while it runs, by the other thread
            while self.program.resume() is not None:
                pass

    def child(self):
        """The next child that calls."""
        return self.callers.get(timeout=PATIENCE)

    def ends(self):
        """The program's exit code, when it has come to its end by itself."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the program did not end"
        return self.program.exit_code

    def __exit__(self, *error):
        self.program.__exit__(*error)


@pytest.fixture
def lines(running):
    """An input for a program: a pipe whose writing end is given."""
    del running  # its folder for handles
    reader, writer = os.pipe()
    with ExitStack() as ends:
        ends.callback(os.close, reader)
        yield reader, ends.enter_context(os.fdopen(writer, "w"))


@pytest.fixture
def family(tmp_path, lines):
    """Start a program whose children are debugged."""
    output = tmp_path / "output.txt"
    with output.open("w") as stream, ExitStack() as stack:

        def start(*words, wait=PATIENCE, module=False):
            command = Command(
                words[0], words[1:], stdin=lines[0], stdout=stream, module=module, children=True, child_wait=wait
            )
            found = stack.enter_context(Family(partial(Program, command)))
            found.output = output
            return found

        yield start


def visit(child, script, mark, expression):
    """Debug a child up to a place, and let it go."""
    with pyharness.attach(child.handle) as program:
        stop = program.run_to(f"py:{script}:{line_of(mark, script)}")
        return stop.frame.function, program.evaluate(expression)


@pytest.mark.rotated
@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_a_child_of_multiprocessing(family, lines, way):
    parent = family(LOOP, "forks", way)
    lines[1].write("21\n")
    lines[1].flush()
    child = parent.child()
    if way == "forkserver":
        assert child.name == way
        parent.program._shell.process.children.let_go(child.pid)
        child = parent.child()
    assert child.name == {"fork": "child 21 (work)", "spawn": "spawn", "forkserver": "fork"}[way]
    assert visit(child, LOOP, "work", "number") == ("work", "21")
    lines[1].close()
    assert parent.ends() == 7
    assert "child 0" in parent.output.read_text()


def test_children_of_a_program_that_was_attached_to(running):
    walker = running("attach_loop.py", "forks", "fork", handle="walker")
    with Family(partial(pyharness.attach, "walker", children=True)) as parent:
        walker.say("21\n")
        child = parent.child()
        assert child.handle == f"walker-{child.pid}"
        assert visit(child, LOOP, "work", "number") == ("work", "21")
        walker.until("child 0")
        walker.say("5\n")
        parent.program._shell.process.children.let_go(parent.child().pid)
        walker.until("child 0\nchild 0")
    walker.say("6\n")
    walker.until("child 0\nchild 0\nchild 0")
    walker.ends_free()


def test_children_are_left_alone_where_nobody_asked(lines):
    lines[1].write("21\n")
    lines[1].close()
    command = Command(LOOP, ("forks", "fork"), stdin=lines[0], stdout=subprocess.DEVNULL)
    with Program(command, on_child=lambda child: pytest.fail(str(child))) as program:
        assert program.resume() is None
        assert program.exit_code == 7


def test_a_child_waits_only_as_long_as_it_was_told(family, lines):
    parent = family(LOOP, "forks", "fork", wait=0.1)
    lines[1].write("21\n")
    lines[1].close()
    parent.child()
    assert parent.ends() == 7


def test_a_child_whose_debugger_is_killed_runs_on(running):
    walker = running("attach_loop.py", "forks", "fork", handle="walker")
    code = (
        "import pyharness\n"
        "tell = lambda child: print(child.pid, flush=True)\n"
        "with pyharness.attach('walker', children=True, on_child=tell, child_wait=600) as program:\n"
        "    print('attached', flush=True)\n"
        "    program.resume()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout.readline() == "attached\n"
        walker.say("21\n")
        child = int(controller.stdout.readline())
        controller.kill()
    wait_for_end(child)
    walker.until("child 0")
    with pyharness.attach("walker"):  # which waits until what the other left is gone
        pass
    walker.ends_free()


def test_the_ranks_of_a_distributed_job(family):
    arguments = ("--standalone", "--nproc-per-node", "2", RANKS)
    parent = family("torch.distributed.run", *arguments, module=True)
    ranks = {child.name: child for child in (parent.child(), parent.child())}
    assert sorted(ranks) == ["rank 0 (attach_ranks.py)", "rank 1 (attach_ranks.py)"]
    for number in (1, 0):
        assert (
            visit(ranks[f"rank {number} (attach_ranks.py)"], RANKS, "rank", "environment['RANK']")[1] == f"'{number}'"
        )
    assert parent.ends() == 0
    assert sorted(parent.output.read_text().splitlines()) == ["rank 0", "rank 1"]


def test_the_workers_of_a_data_loader(family):
    parent = family(RANKS)
    workers = sorted((parent.child(), parent.child()), key=lambda worker: worker.name)  # whichever called first
    assert [worker.name.partition(" ")[2] for worker in workers] == ["(_worker_loop)"] * 2
    assert visit(workers[1], RANKS, "item", "index") == ("__getitem__", "2")
    parent.program._shell.process.children.let_go(workers[0].pid)
    assert parent.ends() == 0
    assert parent.output.read_text() == "[[0, 1], [4, 9]]\n"

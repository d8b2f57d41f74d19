"""A debugger to be struck: brings its program to a phase, says so, and goes on when it is told to.

python fault_phases.py DOOR TARGET PHASE ORDERS      DOOR: debug (TARGET: the script) or attach (TARGET: a handle)

It prints ``standing`` where the phase is a state, and ``going`` right before what the phase is in the middle of, which
comes behind ``near`` where that is to wait for the program's input. ORDERS is a FIFO from which it reads before it goes
on from ``standing`` and ``near``. At the end it prints ``ended`` and how, or the error.
"""

import sys
from functools import partial
from pathlib import Path

import pyharness
from kit import builds
from kit.marks import line_of, place
from kit.paths import PROGRAMS
from pyharness.debugger.live.shell import LiveShell
from pyharness.model.errors import HarnessError
from pyharness.protocol.channel import Hello, Ready

SCRIPT = PROGRAMS / "fault_table.py"
SOURCE = builds.CROSSING
ASK = "(__import__('os').write(1, b'doing an expression\\n'), __import__('os').read(0, 1))"


def marked(mark, file=SCRIPT):
    return line_of(mark, file)


def py(mark):
    return place(mark, SCRIPT)


def native(mark):
    return f"native:{SOURCE}:{marked(mark, SOURCE)}"


class Phase:
    """A place to stop at first (or none), and what is done there while the strike comes (or nothing)."""

    def __init__(self, place="", then=None, word=""):
        self.place, self.then, self.word = place, then, word


def step(kind):
    return lambda program: getattr(program, kind)()


def ask(text):
    return lambda program: program.evaluate(text)


PHASES = {
    "starting": Phase(),
    "ready": Phase(),
    "running": Phase(then=lambda program: program.run_to(py("never"))),
    "Python stop": Phase(py("python")),
    "native stop": Phase("native:held"),
    "native stop without the GIL": Phase(native("wait_for"), word="waits"),
    "step in Python": Phase(py("reads"), step("over"), "reads"),
    "step into native code": Phase(py("inline"), step("into"), "inline"),
    "step in native code": Phase(native("wait_for"), step("over"), "waits"),
    "step in native code that holds the GIL": Phase(native("wait_holding"), step("over"), "holds"),
    "step out of native code": Phase(native("wait_for"), step("out"), "waits"),
    "Python expression": Phase(py("python"), ask(ASK)),
    "Python expression at a native stop": Phase("native:held", ask(f"py:{ASK}")),
    "native expression": Phase("native:held", ask("native:crossing::wait_holding(0)")),
    "leaving": Phase("native:held", lambda program: program.detach()),
}


def say(word):
    print(word, flush=True)


def hold_at(kind, orders):
    """Stand where the program has said ``kind`` and waits for the answer."""
    handle = LiveShell.handle

    def handle_until(self, source, item):
        if source == "program" and isinstance(item, kind):
            say("standing")
            orders()
        handle(self, source, item)

    LiveShell.handle = handle_until


def act(program, phase, orders):
    if phase.place:
        program.run_to(phase.place)
    if phase in {PHASES["starting"], PHASES["ready"]}:
        program.run_to(py("python"))
    elif phase.then is None:
        say("standing")
        orders()
        program.over()
    else:
        if phase.word:
            say("near")
            orders()
        say("going")
        came = phase.then(program)
        say(f"came to {came}")


def main(door, target, name, fifo):
    def orders():
        with Path(fifo).open() as line:
            line.readline()

    if name in {"starting", "ready"}:
        hold_at({"starting": Hello, "ready": Ready}[name], orders)
    start = (
        partial(pyharness.debug, target, PHASES[name].word) if door == "debug" else partial(pyharness.attach, target)
    )
    try:
        with start() as program:
            act(program, PHASES[name], orders)
            if name != "leaving" and program.exit_code is None:
                program.detach()
    except HarnessError as error:
        say(f"error: {error.message} {error.remedy}")
    else:
        say("ended in order")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The states of a session, each as a function that brings a client there; for what can happen at any of them."""

import contextlib
import os
from pathlib import Path

from debugging import Debugging

from kit.slow_gdb import SlowGdb

SCRIPT = "dap_states.py"


def begun(client, folder, *words, **arguments):
    """A program whose launch has begun; it waits for words at the FIFO ``pauses``."""
    pauses = folder / "pauses"
    with contextlib.suppress(FileExistsError):
        os.mkfifo(pauses)
    environment = {"PAUSES": str(pauses), **arguments.pop("env", {})}
    program = Debugging(client, SCRIPT)
    program.initialize()
    arguments |= client.token
    client.post("launch", program=program.script, args=list(words), env=environment, **arguments)
    return program


def configured(client, folder, *words, marks=(), native=(), **arguments):
    """A program that is on its way to the first stop."""
    program = begun(client, folder, *words, **arguments)
    client.event("initialized")
    program.configure(marks, native)
    return program


def says(client, word):
    """Wait until the program has printed ``word``."""
    client.event("output", lambda body: body.get("category") == "stdout" and word in body["output"])


def let_go(folder):
    """gdb goes on, where a state has made it wait."""
    released = folder / "gdb-released"
    if released.exists():
        released.write_text("")


def go_on(folder):
    """A program that was left running and waits for a byte gets it."""
    with contextlib.suppress(OSError), (folder / "pauses").open("r+b", buffering=0) as pauses:
        pauses.write(b"x")


def before_initialize(_client, _folder):
    pass


def after_initialize(client, _folder):
    Debugging(client, SCRIPT).initialize()


def launching(client, folder):
    hold = "import os, sys\nif '--channel' in sys.orig_argv:\n    print('starting', flush=True)\n"
    (folder / "sitecustomize.py").write_text(f"{hold}    open(os.environ['PAUSES']).read()\n")
    begun(client, folder, env={"PYTHONPATH": f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}"})
    says(client, "starting")


def configuring(client, folder):
    program = begun(client, folder)
    client.event("initialized")
    program.set_lines(program.script, [program.line("python")])


def attaching(client, folder):
    configured(client, folder, native=("held",))
    Path(folder / "gdb-reached").read_text()


def running(client, folder):
    configured(client, folder, "spin", marks=("native",), crashes=False)
    stood = client.event("stopped")
    client.request("continue", threadId=stood["threadId"])
    client.event("output", lambda body: "stepping" in body["output"])


def waiting_in_native_code(client, folder):
    configured(client, folder, "released")
    says(client, "in native code")


def holding_the_gil(client, folder):
    configured(client, folder, "holding")
    says(client, "in native code")


def standing_in_python(client, folder):
    configured(client, folder, marks=("python",)).stood()


def standing_in_native_code(client, folder):
    stood = configured(client, folder, native=("scaled",)).stood()
    assert stood.function == "crossing::scaled"


def stepping(client, folder):
    program = configured(client, folder, "stepping", marks=("stepping",))
    stood = program.stood()
    client.request("next", threadId=stood.thread)
    says(client, "stepping")


def terminating(client, folder):
    configured(client, folder, "deaf", "spin")
    says(client, "stepping")
    client.request("terminate")


STATES = (
    before_initialize,
    after_initialize,
    launching,
    configuring,
    attaching,
    running,
    waiting_in_native_code,
    holding_the_gil,
    standing_in_python,
    standing_in_native_code,
    stepping,
    terminating,
)


def environment_of(state, folder):
    """What the adapter needs in its environment for a state."""
    return SlowGdb(folder, "before").environment if state is attaching else {}

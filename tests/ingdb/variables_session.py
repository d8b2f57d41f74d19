"""A gdb over MI that looks into a program which waits in a kernel, alive or as a core."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import fields, is_dataclass

from kit.builds import tensor_kernel
from kit.names import qualified
from kit.paths import ROOT
from pyharness.gdbmi.client import GdbClient
from pyharness.gdbmi.records import quote
from pyharness.protocol import mi

PROGRAM = ROOT / "tests/programs/variables_zoo.py"


COMMANDS = mi.Command.known


def whole(value):
    """A message as JSON would have it, with all its fields."""
    if is_dataclass(value):
        return {field.name: whole(getattr(value, field.name)) for field in fields(value)}
    return [whole(each) for each in value] if isinstance(value, tuple) else value


class Looking:
    """One gdb, and what a client asks of it."""

    def __init__(self, *arguments):
        self.gdb = GdbClient(lambda _notice: None, arguments)
        for setting in ("pagination off", "confirm off", "debuginfod enabled off"):
            self.gdb.command(f"-gdb-set {setting}")
        self.gdb.console(f"source {ROOT}/pyharness/ingdb/load.py")
        self.gdb.console("python from pyharness.ingdb.mi import commands; commands.register()")
        self.thread = 0

    def ask(self, command, **request):
        """The answer as JSON has it, with what is left out because it is so by default."""
        said = json.loads(self.gdb.command(f"-{command} {quote(json.dumps(request))}")["json"])
        return whole(COMMANDS[command].read_answer(said))

    def python(self, code):
        self.gdb.console(f"python {code}")

    def attach(self, pid):
        self.python(f"from pyharness.ingdb.opening import attach; attach.attach({pid}, non_stop=False)")
        self.thread = pid

    def core(self, path, pid):
        self.python(f"from pyharness.ingdb.opening import core_file; core_file.open_core({str(path)!r})")
        self.thread = pid

    def stack(self):
        return self.ask("ph-stack", thread=self.thread)["frames"]

    def level(self, function):
        name = qualified(function)
        if name != function:  # other functions' names have it in them
            return next(level for level, frame in enumerate(self.stack()) if frame["function"] == name)
        return next(level for level, frame in enumerate(self.stack()) if function in frame["function"])

    def scope(self, function, name):
        scopes = self.ask("ph-scopes", thread=self.thread, level=self.level(function))
        return next(scope for scope in scopes if scope["name"] == name)

    def children(self, handle, start=0, count=0, **more):
        return self.ask("ph-children", handle=handle, start=start, count=count, **more)

    def named(self, handle):
        return {child["name"]: child for child in self.children(handle)}

    def variables(self, function, name):
        return self.named(self.scope(function, name)["handle"])

    def inside(self, variable, *path):
        """The variable at the end of a path of names."""
        for name in path:
            children = self.named(variable["handle"])
            assert name in children, f"no {name} among {list(children)}"
            variable = children[name]
        return variable

    def evaluate(self, function, expression):
        return self.ask("ph-evaluate-variable", thread=self.thread, level=self.level(function), expression=expression)


@contextmanager
def waiting(table):
    """The program, once it waits in its kernel."""
    program = subprocess.Popen(
        [sys.executable, PROGRAM, tensor_kernel(), table],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    try:
        assert program.stdout.read(1) == b"r", program.stderr.read().decode()
        yield program
    finally:
        program.kill()
        program.communicate()


@contextmanager
def looking_into(folder):
    """gdb attached to the program."""
    with waiting(folder / "table.json") as program:
        look = Looking()
        try:
            look.attach(program.pid)
            look.program = program  # type: ignore[attr-defined]
            yield look
        finally:
            look.gdb.close()

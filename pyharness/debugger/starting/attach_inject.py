"""Brings our half into a Python program that was not started by us, by gdb; from then on it has a handle."""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import TYPE_CHECKING, Any

from pyharness import __version__
from pyharness.debugger.gdb_reading import ask_gdb
from pyharness.debugger.starting import injected_code, small_limits
from pyharness.debugger.starting.hand_over import native, silent
from pyharness.debugger.starting.launch import PACKAGE, packages
from pyharness.host import handles
from pyharness.host.state import working_dir
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.host.handles import Handle

_NOT_FOUND = (
    "Its sys.path or sys.meta_path leaves that out: start it by `pyharness debug`, which loads all before the program "
    "changes them."
)


def inject(pid: int, seconds: float) -> Handle:
    """The handle under which process ``pid`` listens from now on; ``HarnessError`` where it cannot come to that."""
    name = f"pyharness-{os.getpid()}-{os.urandom(8).hex()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind("\0" + name)
        door.listen(4)
        code = injected_code.BY_HANDLE.format(
            door=name,
            oldest=injected_code.OLDEST,
            version=__version__,
            apart=str(PACKAGE / "debuggee" / "apart.py"),
            packages=packages(),
            home=str(working_dir("run")),
        )
        ask_gdb({"pid": pid, "core": None, "parent": os.getpid(), "code": f"exec({code!r}, {{}})"}, pid)
        answer = _answer(door, pid, seconds)
    if "error" in answer:
        raise HarnessError(
            f"Process {pid} cannot be debugged as a Python program: {answer['error']}.", _remedy(answer["error"], pid)
        )
    return handles.from_json(answer)


def _remedy(error: str, pid: int) -> str:
    if limit := small_limits.remedy(error, pid):
        return limit
    if error.startswith(("ModuleNotFoundError", "ImportError")):
        return f"{_NOT_FOUND} {native(pid)}"
    return native(pid)


def _answer(door: socket.socket, pid: int, seconds: float) -> dict[str, Any]:
    """What the new thread says; nobody else is listened to."""
    door.settimeout(seconds)
    try:
        while True:
            connection, _ = door.accept()
            with connection:
                raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
                if struct.unpack("3i", raw)[0] != pid:
                    continue
                connection.settimeout(seconds)
                with connection.makefile("rb") as stream:
                    answer: dict[str, Any] = json.loads(stream.read())
                return answer
    except TimeoutError:
        raise silent(
            pid, seconds, "Does native code keep the GIL, or may its user not read Python's own files?"
        ) from None
    except ValueError:
        raise HarnessError(
            f"Process {pid} ended meanwhile.", "Start it again; `pyharness run` gives it a handle to attach to."
        ) from None

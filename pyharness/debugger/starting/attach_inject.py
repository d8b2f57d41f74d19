"""Brings our half into a Python program that was not started by us, by gdb; from then on it has a handle."""

from __future__ import annotations

import json
import os
import secrets
import socket
import struct
from typing import TYPE_CHECKING, Any

from pyharness.debugger.gdb_reading import ask_gdb
from pyharness.debugger.starting.launch import PACKAGE, packages
from pyharness.host import handles
from pyharness.host.state import working_dir
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.host.handles import Handle

MAIN_THREAD = "MAIN_THREAD"
"""What gdb replaces by the ``ident`` of the main thread."""
_OLDEST = (3, 9)
# Runs on a thread of its own, in a namespace of its own, in any Python; nothing may come out of it but the answer.
# Up to Python 3.12 the thread that first imports threading passes for the main one: gdb says who that is.
_CODE = """
def name_main_thread(ident):
    import sys
    if "threading" in sys.modules or sys.version_info >= (3, 13):
        return
    import os, threading
    main = threading.main_thread()
    with threading._active_limbo_lock:
        threading._active.pop(main._ident, None)
        main._ident, main._native_id = ident, os.getpid()
        threading._active[ident] = main
    lock = main._tstate_lock
    main._tstate_lock = threading.Lock()
    main._tstate_lock.acquire()
    getattr(threading, "_shutdown_locks", set()).discard(lock)
def begin():
    import sys
    if sys.version_info[:2] < {oldest!r}:
        message = "it runs Python %d.%d; needed is %d.%d or newer" % (sys.version_info[:2] + {oldest!r})
        return answer(lambda: dict(error="RuntimeError: " + message))
    apart = dict(__name__="_pyharness_apart", __file__={apart!r})
    with open(apart["__file__"], "rb") as file:
        exec(compile(file.read(), apart["__file__"], "exec"), apart)
    with apart["FromInstalled"]():
        apart["make_importable"]({packages!r})
        name_main_thread({main_thread})
        answer(start)
def start():
    from pyharness.debuggee.entries import late
    return late.start({home!r})
def answer(ask):
    import json, socket
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        door.connect("\\0" + {door!r})
    except OSError:
        return  # whoever asked is not there any more
    try:
        answer = ask()
    except BaseException as error:
        answer = dict(error="%s: %s" % (type(error).__name__, error))
    try:
        door.sendall(json.dumps(answer).encode())
    finally:
        door.close()
def refuse(problem):
    def ask():
        raise problem
    answer(ask)
try:
    begin()
except BaseException as problem:
    try:
        refuse(problem)
    except BaseException:
        pass
"""


def inject(pid: int, seconds: float) -> Handle:
    """The handle under which process ``pid`` listens from now on; ``HarnessError`` where it cannot come to that."""
    name = f"pyharness-{os.getpid()}-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind("\0" + name)
        door.listen(4)
        code = _CODE.format(
            door=name,
            main_thread=MAIN_THREAD,
            oldest=_OLDEST,
            apart=str(PACKAGE / "debuggee" / "apart.py"),
            packages=packages(),
            home=str(working_dir("run")),
        )
        ask_gdb({"pid": pid, "core": None, "parent": os.getpid(), "code": f"exec({code!r}, {{}})"}, pid)
        answer = _answer(door, pid, seconds)
    if "error" in answer:
        raise HarnessError(f"Process {pid} cannot be debugged as a Python program: {answer['error']}.", _native(pid))
    return handles.from_json(answer)


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
        raise HarnessError(
            f"Process {pid} did not run our Python code within {seconds:.0f} s.",
            f"Does native code keep the GIL, or may its user not read Python's own files? {_native(pid)}",
        ) from None
    except ValueError:
        raise HarnessError(
            f"Process {pid} ended meanwhile.", "Start it again; `pyharness run` gives it a handle to attach to."
        ) from None


def _native(pid: int) -> str:
    return f"Its native half can be debugged: `pyharness attach {pid}`; `pyharness stack {pid}` shows where it stands."

"""Child processes that shall be debugged too: each becomes a program with a handle, and tells the parent's debugger.

A forked child is reached by ``os.register_at_fork``; a child that runs a Python of its own by
``site/sitecustomize.py``, which it finds through ``PYTHONPATH``. Where no debugger of the parent's listens any more, a
child just runs on.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyharness.debuggee.link.ranks import JobProcess
from pyharness.debuggee.pydevd.stops.uncaught import watch_script
from pyharness.debuggee.unpatched import socket
from pyharness.host.descriptors import socket_above_streams
from pyharness.host.own_words import own_words
from pyharness.model.codec import decode, encode
from pyharness.model.errors import HarnessError
from pyharness.model.text.json_lines import parsed
from pyharness.model.text.visible import say
from pyharness.protocol.channel import Child, Children
from pyharness.protocol.children_door import VARIABLE, added, take_from

_HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.semaphore_tracker")
_STARTERS = ("spawn", "forkserver")
_MAX_DEPTH = 40


class _Followed:
    """Who wants to hear of this process's children."""

    owner: object = None


def follow(door: Children, owner: object) -> None:
    """Every child that is started from now on tells the debugger that listens at the door."""
    _Followed.owner = owner
    os.environ.update(added(door, os.environ))


def leave(owner: object) -> None:
    """Children are nobody's to debug again, where they were ``owner``'s."""
    if _Followed.owner is not owner:
        return
    _Followed.owner = None
    take_from(os.environ)


def greet(name: str, *, begins: bool = False) -> None:
    """In a child: listen under a handle, tell the debugger, and wait for it as long as was configured.

    It lasts no longer than the debugger wants: it hangs up when nobody shall come. Where it
    ``begins``, its script is still to come.
    """
    told = _configured()
    if told is None or _is_helper():
        return
    child = Child(os.getpid(), "", name, os.getppid())
    if told.ranks is None:
        _meet(told, child, begins=begins)
    else:
        meet = partial(_meet, told, begins=begins)
        JobProcess(told, name, meet).begin(lambda: _connection(told.socket))


def _meet(told: Children, child: Child, *, begins: bool) -> None:
    """Have a child meet its debugger."""
    try:
        with suppress(OSError, ValueError):
            connection = _connection(told.socket)
            if connection is not None:
                if begins:
                    watch_script()
                with connection:
                    _announce(connection, told, child)
    except HarnessError as error:  # no folder of ours for its handle
        say(f"this process cannot be debugged: {error.message}")


def name_of_forked() -> str:
    """What ``multiprocessing`` calls the process that is being forked here, with the function that it will run."""
    frame = sys._getframe(1)
    for _ in range(_MAX_DEPTH):
        process = frame.f_locals.get("process_obj") if frame.f_code.co_name == "_launch" else None
        if process is not None:
            target = getattr(process, "_target", None)
            function = getattr(target, "__name__", "")
            return f"{process.name} ({function})" if function else str(process.name)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "fork"


def name_of_started() -> str:
    """A name for a Python that was started: its rank in a distributed job, or its script."""
    first = sys.argv[0] if sys.argv else ""
    words = own_words()
    script = Path(first).name
    if first == "-m" and "-m" in words[:-1]:
        script = words[words.index("-m") + 1]
    elif first == "-c":
        script = next((name for name in _STARTERS if any(f"multiprocessing.{name}" in word for word in words)), "-c")
    rank = os.environ.get("RANK", "") if "WORLD_SIZE" in os.environ else ""
    return f"rank {rank} ({script})" if rank else script


def _announce(connection: socket.socket, told: Children, child: Child) -> None:
    from pyharness.debuggee.link.served import Served

    parent = told.parent or "child"
    here = Served(f"{parent[:40].rstrip('-')}-{os.getpid()}", child.name, parent)
    here.start()
    if told.ranks is None:  # what a rank starts is no rank
        os.environ[VARIABLE] = json.dumps(encode(replace(told, parent=here.handle.name)))
    connection.sendall(replace(child, handle=here.handle.name).to_line())
    here.wait_for_visit(connection, told.wait)


def _connection(name: str) -> socket.socket | None:
    """A connection to the debugger, if it is of this user or root's."""
    connection = socket_above_streams(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    try:
        connection.connect("\0" + name)
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", raw)[1] in {0, os.geteuid()}:
            return connection
    except OSError:
        pass
    connection.close()
    return None


def _configured() -> Children | None:
    try:
        return decode(Children, parsed(os.environ[VARIABLE]), VARIABLE)
    except (KeyError, ValueError):
        return None


def _is_helper() -> bool:
    return any(helper in word for helper in _HELPERS for word in own_words())

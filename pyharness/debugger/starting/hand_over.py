"""Brings our half into a program in other surroundings, as in a container: no socket and no file need be shared.

gdb makes two pairs of sockets in the program; we take one end of each out of it, as a debugger may. What the program
cannot read where it lives, it is sent.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, TypeVar

from pyharness import __version__
from pyharness.debugger.gdb_reading import ask_gdb
from pyharness.debugger.starting import brought_along, injected_code, small_limits
from pyharness.debugger.starting.attached import Way
from pyharness.debugger.starting.launch import PACKAGE, packages
from pyharness.host.descriptors import taken_from
from pyharness.host.process_state import open_file_limit
from pyharness.model.codec import encode
from pyharness.model.errors import HarnessError
from pyharness.protocol.hand_over import Introduction, Parcel, Refusal, Unpacked, said

if TYPE_CHECKING:
    from pyharness.host.surroundings import Surroundings

T = TypeVar("T")
_ROOM = "Give the container a folder that can be written, 15 MB, as by `docker run --tmpfs /tmp:exec`."
_BEFORE = "mount them there, or start it by `pyharness debug`, which loads all before it changes that."
_APART = PACKAGE / "debuggee" / "apart.py"


def hand_over(where: Surroundings, seconds: float) -> Way:
    """The way to debug the program; ``HarnessError`` where it cannot come to that."""
    code = injected_code.HANDED_OVER.format(
        oldest=injected_code.OLDEST,
        version=__version__,
        apart=str(_APART),
        apart_text=_APART.read_text(encoding="utf-8"),
        seconds=seconds,
        no_room=injected_code.NO_ROOM,
    )
    request = {"pid": where.pid, "core": None, "parent": os.getpid(), "code": f"exec({code!r}, {{}})", "sockets": 2}
    channel, link = _taken(where.pid, ask_gdb(request, where.pid)["sockets"])
    try:
        channel.settimeout(seconds)
        found = _introduced(channel, where)
        channel.settimeout(None)
    except BaseException as error:
        with suppress(OSError):
            channel.shutdown(socket.SHUT_RDWR)  # to close it says nothing: the program has this end, too
        channel.close()
        link.close()
        if isinstance(error, (OSError, ValueError)):
            raise _unanswered(where.pid, seconds, error) from error
        raise
    return Way(where.pid, f"process {where.pid}", channel, link, found)


def _taken(pid: int, descriptors: list[int]) -> list[socket.socket]:
    """The program's own descriptors, as ours."""
    taken: list[socket.socket] = []
    try:
        taken.extend(socket.socket(fileno=taken_from(pid, each)) for each in descriptors)
    except BaseException as error:
        for connection in taken:
            connection.close()
        if isinstance(error, OSError):
            _refuse(pid, error.errno or 0)
        raise
    return taken


def _refuse(pid: int, number: int) -> NoReturn:
    raise HarnessError(
        f"No connection to process {pid} can be had: pidfd_getfd: {os.strerror(number)}.",
        f"It needs Linux 5.6, and in a container --cap-add=SYS_PTRACE. {native(pid)}",
    )


def _introduced(channel: socket.socket, where: Surroundings) -> dict[str, str]:
    """Send the program what it lacks; the folders that it has our packages in."""
    with channel.makefile("rb") as stream:
        program = _heard(Introduction, stream.readline(), where.pid)
        here = packages()
        seen = program.has or all(where.same_file(folder) for folder in here.values())
        sent = b"" if seen else brought_along.archive(program.suffix, program.version)
        channel.sendall(json.dumps(encode(Parcel(len(sent), here))).encode() + b"\n" + sent)
        return _heard(Unpacked, stream.readline(), where.pid).packages


def _heard(kind: type[T], line: bytes, pid: int) -> T:
    heard = said(kind, line)
    if isinstance(heard, Refusal):
        raise HarnessError(
            f"Process {pid} cannot be debugged as a Python program: {heard.error}.", _remedy(heard.error, pid)
        )
    return heard


def _remedy(error: str, pid: int) -> str:
    if injected_code.NO_ROOM in error:
        return _ROOM
    if limit := small_limits.remedy(error, pid):
        return limit
    if error.startswith(("ModuleNotFoundError", "ImportError")):
        return f"The files of its Python are not to be had in its root folder: {_BEFORE} {native(pid)}"
    return native(pid)


def _unanswered(pid: int, seconds: float, error: Exception) -> HarnessError:
    if isinstance(error, TimeoutError):
        return silent(pid, seconds, "Does native code keep the GIL?")
    return HarnessError(f"Process {pid} ended meanwhile.", "Start it again.")


def silent(pid: int, seconds: float, guess: str) -> HarnessError:
    """The error of a program that does not answer; ``guess`` is why, where nothing is seen of it."""
    limit = open_file_limit(pid)
    more = small_limits.more_files(pid)
    why = guess if limit is None else f"It has opened all {limit} files that it may open. {more}"
    return HarnessError(f"Process {pid} did not run our Python code within {seconds:.0f} s.", f"{why} {native(pid)}")


def native(pid: int) -> str:
    """What can be done all the same."""
    return f"Its native half can be debugged: `pyharness attach {pid}`; `pyharness stack {pid}` shows where it stands."

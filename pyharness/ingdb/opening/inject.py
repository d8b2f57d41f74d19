"""Brings Python code into a running program: a new thread of its own waits for the GIL and runs it, like any thread.

Nothing of Python's is called on a thread that was stopped somewhere: it might be in the middle of changing what Python
is about to use. The stopped thread is asked for two things that need no Python: some memory, and a thread.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import safe_point
from pyharness.ingdb.opening import attach, given_sockets
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.process.mapped_files import Library

_PYTHON = ("Py_IsInitialized", "PyGILState_Ensure", "PyRun_SimpleStringFlags", "PyGILState_Release")
_LIBC = ("pthread_create", "pthread_self", "pthread_detach", "mmap", *given_sockets.NEEDED)
_WHERE = re.compile(r"/(libc|libpthread|libpython[\d.]+\w*)[.-][^/]*$")
_PAGE = 4096
_BEHIND = 64
"""Where the text begins, counted from where it is first mentioned."""
_READ_EXECUTE, _PRIVATE_ANONYMOUS = 5, 0x22
_NATIVE = "Its native half can be debugged all the same: `pyharness attach PID`, `pyharness stack PID`."


def inject(request: dict[str, Any]) -> dict[str, Any]:
    """Attach to ``request["pid"]``, start a thread in it that runs ``request["code"]``, and say so; then detach.

    With ``request["sockets"]`` the code gets one end each of so many pairs, and the answer has the descriptors of the
    others.
    """
    attach.attach(request["pid"], non_stop=False, symbols=False)
    console.run("handle all nostop noprint pass")
    found = _functions(request["pid"])
    _select_thread()
    if not _call(found["Py_IsInitialized"]):
        raise HarnessError(f"Process {request['pid']} is not running Python yet, or not any more.", "Try again.")
    slot = _memory(found["mmap"], 8, writable=True)  # for the new thread's number
    pairs = given_sockets.make(found, _call, slot, request.get("sockets", 0))
    code = request["code"].replace("MAIN_THREAD", str(_main_thread())).replace("SOCKETS", str(pairs))
    try:
        _start(found, slot, code, request["pid"])
    except HarnessError:
        given_sockets.close(found, _call, pairs)
        raise
    return {"started": True, "sockets": [ours for ours, _ in pairs]}


def _start(found: dict[str, int], slot: int, code: str, pid: int) -> None:
    page = _memory(found["mmap"], len(code.encode()))
    gdb.selected_inferior().write_memory(page, program(page, found, code))
    if _call(found["pthread_create"], slot, 0, page, 0):
        raise HarnessError(f"Process {pid} cannot start a thread.", _NATIVE)


def program(page: int, found: dict[str, int], code: str) -> bytes:
    """The new thread's machine code (x86-64), and the text that it runs behind it."""
    body = b"\xf3\x0f\x1e\xfa\x53"  # endbr64; push rbx, which aligns the stack
    body += _calling(found["pthread_self"]) + b"\x48\x89\xc7" + _calling(found["pthread_detach"])  # mov rdi, rax
    body += _calling(found["PyGILState_Ensure"]) + b"\x89\xc3"  # mov ebx, eax
    text = page + len(body) + _BEHIND
    body += b"\x48\xbf" + struct.pack("<Q", text) + b"\x31\xf6"  # mov rdi, text; xor esi, esi
    body += _calling(found["PyRun_SimpleStringFlags"]) + b"\x89\xdf"  # mov edi, ebx
    body += _calling(found["PyGILState_Release"]) + b"\x31\xc0\x5b\xc3"  # xor eax, eax; pop rbx; ret
    return body.ljust(text - page, b"\x90") + code.encode() + b"\0"


def _calling(function: int) -> bytes:
    return b"\x48\xb8" + struct.pack("<Q", function) + b"\xff\xd0"  # mov rax, function; call rax


def _functions(pid: int) -> dict[str, int]:
    """The addresses of what is needed, from the tables of the interpreter's and libc's files."""
    files = list(_files(pid))
    found = {name: address for name in (*_PYTHON, *_LIBC) if (address := _address(files, name))}
    if "PyGILState_Ensure" not in found:
        python = any("python" in Path(file.path).name for file in files)
        reason = "its Python is stripped of the names of its functions" if python else "it has no Python in it"
        raise HarnessError(f"Process {pid} cannot be debugged as a Python program: {reason}.", _NATIVE)
    if missing := [name for name in (*_PYTHON, *_LIBC) if name not in found]:
        raise HarnessError(f"Process {pid} lacks {', '.join(missing)} (is its Python a static one?).", _NATIVE)
    return found


def _files(pid: int) -> Iterator[Library]:
    program_file = str(Path(f"/proc/{pid}/exe").readlink())
    for library in libraries.libraries():
        if library.path == program_file or _WHERE.search(library.path):
            yield library


def _address(files: list[Library], name: str) -> int:
    for file in files:
        for table in file.elf.symbol_tables:
            symbol = table.named(name.encode())
            if symbol is not None and symbol.is_function:
                return symbol.address + file.bias
    return 0


def _select_thread() -> None:
    """A thread that holds no lock of the allocator's or the linker's; the main one where it can be had."""
    threads = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
    for thread in threads:
        thread.switch()
        if not safe_point.inside_locking():
            return
    safe_point.reach()


def _main_thread() -> int:
    """What ``pthread_self()`` is on the main thread, which Python takes for its ``ident``."""
    selected, pid = gdb.selected_thread(), gdb.selected_inferior().pid
    main = next(thread for thread in gdb.selected_inferior().threads() if thread.ptid[1] == pid)
    main.switch()
    ident = int(console.c_value("(unsigned long) $fs_base"))
    if selected is not None:
        selected.switch()
    return ident


def _memory(mmap: int, size: int, *, writable: bool = False) -> int:
    """Fresh memory of the program's; code need not be writable for it, because a debugger may write anywhere."""
    length = (size + 2 * _PAGE) // _PAGE * _PAGE
    address = _call(mmap, 0, length, 3 if writable else _READ_EXECUTE, _PRIVATE_ANONYMOUS, -1, 0)
    if address < 0:
        raise HarnessError("The program cannot allocate memory.", _NATIVE)
    return address


def _call(function: int, *arguments: int) -> int:
    """Call a function of C's on the selected thread, while the others may run on: they may hold what it needs."""
    types = ", ".join("long" for _ in arguments) or "void"
    given = ", ".join(map(str, arguments))
    with temporarily("scheduler-locking", "off"), temporarily("unwindonsignal", "on"):
        try:
            return int(console.c_value(f"((long (*)({types})) {function:#x})({given})"))
        except gdb.error as error:
            raise HarnessError(f"The call into the program did not return: {error}", _NATIVE) from error

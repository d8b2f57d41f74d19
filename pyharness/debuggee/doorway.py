"""The agent's doorway in a program without the module ``_trap``: a page of machine code, as ``csrc/trap/trap.cpp``.

Such is a program whose Python our native half is not built for, or a source tree without any build. A callback of
ctypes' would not do: it would run with the exception that the stopped code may have on its way up.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from typing import TYPE_CHECKING, Any

from pyharness.protocol.agent import MESSAGE_SIZE, Doorway

if TYPE_CHECKING:
    from collections.abc import Callable

_FAILED = -1
_BEGIN = b"\xf3\x0f\x1e\xfa\x53\x41\x54\x41\x55\x48\x83\xec\x20"  # endbr64; push rbx, r12, r13; sub rsp, 32
_KEEP_ERRNO = b"\x48\x89\xc3\x44\x8b\x28"  # mov rbx, rax; mov r13d, [rax]
_KEEP_GIL_STATE = b"\x41\x89\xc4"  # mov r12d, eax
_ERROR_ADDRESSES = b"\x48\x8d\x3c\x24\x48\x8d\x74\x24\x08\x48\x8d\x54\x24\x10"  # lea rdi, rsi, rdx: [rsp], +8, +16
_ERROR_VALUES = b"\x48\x8b\x3c\x24\x48\x8b\x74\x24\x08\x48\x8b\x54\x24\x10"  # mov from there
_RESULT_AS_ARGUMENT = b"\x48\x89\xc7"  # mov rdi, rax
_NO_ARGUMENTS = b"\x31\xf6"  # xor esi, esi
_KEEP_RESULT = b"\x48\x89\x44\x24\x18"  # mov [rsp+24], rax
_GIL_STATE = b"\x44\x89\xe7"  # mov edi, r12d
_WHETHER_IT_FAILED = b"\x31\xc0\x48\x83\x7c\x24\x18\x00\x0f\x94\xc0"  # xor eax, eax; cmp qword [rsp+24], 0; sete al
_PASS_GONE = b"\xeb\x05"  # jmp over the next
_GONE = b"\xb8\x01\x00\x00\x00"  # mov eax, 1
_END = b"\x44\x89\x2b\x48\x83\xc4\x20\x41\x5d\x41\x5c\x5b\xc3"  # mov [rbx], r13d; add rsp, 32; pop all; ret


def open_to(answer: Callable[[str], str]) -> Doorway:
    """Let gdb ask ``answer`` from now on, on any stopped thread; ``OSError`` where that cannot be had here."""
    if platform.machine() != "x86_64":
        raise OSError(f"there is none for {platform.machine()}")
    code = _memory(mmap.PAGESIZE)
    messages = _memory(2 * MESSAGE_SIZE)
    doorway = Doorway(code, messages, messages + MESSAGE_SIZE)

    def serve() -> None:
        # A failure that is no Exception, as Ctrl-C, leaves this answer behind.
        _write(doorway.answer, b'{"error": "the agent was interrupted"}')
        _write(doorway.answer, _reply(answer, ctypes.string_at(doorway.request)))

    ctypes.pythonapi["Py_IncRef"](ctypes.py_object(serve))  # gdb may ask for as long as there is an interpreter
    body = _machine_code(id(serve))
    ctypes.memmove(code, body, len(body))
    _checked("mprotect", ctypes.c_void_p(code), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC)
    return doorway


def _reply(answer: Callable[[str], str], request: bytes) -> bytes:
    reply = answer(request.decode()).encode()
    return reply if len(reply) < MESSAGE_SIZE else b'{"error": "the answer is longer than the buffer that gdb reads"}'


def _write(address: int, text: bytes) -> None:
    ctypes.memmove(address, text + b"\0", len(text) + 1)


def _memory(size: int) -> int:
    """Memory that the program keeps for ever: an ``mmap`` object would go with the interpreter."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return _checked("mmap", None, ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, ctypes.c_long(0))


def _checked(name: str, *arguments: Any) -> int:
    """A function of libc's that returns -1 where it fails."""
    function = ctypes.pythonapi[name]
    function.restype = ctypes.c_ssize_t
    result: int = function(*arguments)
    if result == _FAILED:
        raise OSError(f"{name} is refused")
    return result


def _machine_code(callback: int) -> bytes:
    """``int agent(void)`` (x86-64): calls the Python function at ``callback`` with the GIL; 1 where nobody answers.

    It keeps errno and a pending exception, and no tracing of debugpy's sees the call (from CPython 3.11 on).
    """
    inner = _calling("PyGILState_Ensure") + _KEEP_GIL_STATE + _ERROR_ADDRESSES + _calling("PyErr_Fetch")
    inner += _tracing("PyThreadState_EnterTracing")
    inner += b"\x48\xbf" + struct.pack("<Q", callback) + _NO_ARGUMENTS + _calling("PyObject_CallObject")  # mov rdi, ..
    inner += _KEEP_RESULT + _RESULT_AS_ARGUMENT + _calling("Py_DecRef")
    inner += _tracing("PyThreadState_LeaveTracing")
    inner += _ERROR_VALUES + _calling("PyErr_Restore") + _GIL_STATE + _calling("PyGILState_Release")
    inner += _WHETHER_IT_FAILED + _PASS_GONE
    unless_gone = b"\x85\xc0\x0f\x84" + struct.pack("<i", len(inner))  # test eax, eax; je
    head = _BEGIN + _calling("__errno_location") + _KEEP_ERRNO + _calling("Py_IsInitialized") + unless_gone
    return head + inner + _GONE + _END


def _tracing(function: str) -> bytes:
    if not hasattr(ctypes.pythonapi, function):  # they are new in 3.11; before, pydevd passes our frames by
        return b""
    return _calling("PyThreadState_Get") + _RESULT_AS_ARGUMENT + _calling(function)


def _calling(function: str) -> bytes:
    address = ctypes.cast(ctypes.pythonapi[function], ctypes.c_void_p).value or 0
    return b"\x48\xb8" + struct.pack("<Q", address) + b"\xff\xd0"  # mov rax, function; call rax

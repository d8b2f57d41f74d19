"""The processor's debug registers: how many a watch takes, and whether this machine lets a debugger use them.

x86-64 has four, each for 1, 2, 4 or 8 bytes that are aligned to that size (Intel SDM, volume 3, 18.2).
"""

from __future__ import annotations

import ctypes
import os

REGISTERS = 4
_PTRACE_PEEKUSER, _PTRACE_POKEUSER = 3, 6
_DEBUG_REGISTERS = 848
"""``offsetof(struct user, u_debugreg)``."""
_ADDRESS, _CONTROL = 3, 7
_WRITES_OF_A_BYTE = 1 << 2 * _ADDRESS | 0b0001 << 16 + 4 * _ADDRESS


def pieces(address: int, length: int) -> list[tuple[int, int]]:
    """The aligned pieces, each of which takes one register."""
    found = []
    while length > 0:
        size = next(size for size in (8, 4, 2, 1) if address % size == 0 and size <= length)
        found.append((address, size))
        address, length = address + size, length - size
    return found


def refusal(lwp: int, address: int) -> str:
    """Why a watch of ``address`` cannot be had on a thread that this gdb has stopped; empty where it can.

    A container's sandbox or an emulator may refuse the registers, which gdb would only notice when it resumes.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def access(request: int, register: int, value: int = 0) -> int:
        ctypes.set_errno(0)
        answer = libc.ptrace(request, lwp, ctypes.c_void_p(_DEBUG_REGISTERS + 8 * register), ctypes.c_void_p(value))
        if ctypes.get_errno():
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return int(answer)

    try:
        control, before = access(_PTRACE_PEEKUSER, _CONTROL), access(_PTRACE_PEEKUSER, _ADDRESS)
        if control & 0xFF:  # in use: they work
            return ""
        access(_PTRACE_POKEUSER, _ADDRESS, address)
        access(_PTRACE_POKEUSER, _CONTROL, _WRITES_OF_A_BYTE)
        kept = access(_PTRACE_PEEKUSER, _CONTROL) & _WRITES_OF_A_BYTE == _WRITES_OF_A_BYTE
        access(_PTRACE_POKEUSER, _CONTROL, control)
        access(_PTRACE_POKEUSER, _ADDRESS, before)
    except OSError as error:
        return str(error.strerror)
    return "" if kept else "the debug registers do not keep what is written to them"

"""The address of a thread-local variable of a library that gdb has not read, by the rules of x86-64 ELF and glibc.

Drepper, "ELF Handling For Thread-Local Storage", sections 3.4.2 (the thread control block and its vector of blocks)
and 4.1 (the code that compilers make for ``__tls_get_addr``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from pyharness.reading.process.memory import Memory

_MAX_MODULE = 1 << 16
_UNALLOCATED = (1 << 64) - 1
_CODE = 96
_LEA_RDI = b"\x48\x8d\x3d"  # lea disp32(%rip), %rdi: the argument of __tls_get_addr
_ADD_RAX = b"\x48\x05"  # add $imm32, %rax
_LEA_RAX = b"\x48\x8d\x80"  # lea disp32(%rax), %rax


@frozen
class ThreadLocal:
    """A variable: which module's block, and where in it."""

    module: int
    offset: int


def of_accessor(memory: Memory, function: int) -> ThreadLocal:
    """The variable whose address the function at ``function`` returns: its code names the module and the offset.

    `UnreadableError` where the code is not what a compiler makes of ``return &variable``.
    """
    code = memory.read(function, _CODE)
    lea = code.find(_LEA_RDI)
    if lea < 0:
        raise UnreadableError("no call of __tls_get_addr")
    slot = function + lea + 7 + struct.unpack_from("<i", code, lea + 3)[0]
    module, base = memory.unsigned(slot), memory.unsigned(slot + 8)
    return ThreadLocal(module, base + _added(code))


def _added(code: bytes) -> int:
    """What is added to the address that ``__tls_get_addr`` gave, before the function returns."""
    end = code.find(b"\xc3")
    for opcode in (_ADD_RAX, _LEA_RAX):
        at = code.find(opcode)
        if 0 <= at <= end - len(opcode) - 4:
            return int(struct.unpack_from("<i", code, at + len(opcode))[0])
    return 0


def address_in_thread(memory: Memory, variable: ThreadLocal, thread_pointer: int) -> int | None:
    """Where the variable of one thread is, ``None`` where that thread has not used its library's variables yet."""
    if not 0 < variable.module < _MAX_MODULE:
        raise UnreadableError(f"module {variable.module}")
    vector = memory.pointer(thread_pointer + 8)
    if variable.module > memory.unsigned(vector - 16):  # the entry before the vector holds its length
        return None
    block = memory.pointer(vector + 16 * variable.module)
    return None if block in {0, _UNALLOCATED} else block + variable.offset

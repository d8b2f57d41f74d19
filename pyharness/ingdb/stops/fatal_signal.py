"""What a signal that ends a program means: who sent it, what lies at the address, what the program said last."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops import last_words, watched_memory
from pyharness.model.frozen import frozen
from pyharness.model.unlocked_call import unlocked_call
from pyharness.protocol import mi
from pyharness.reading.process import fault_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.reading.process.fault_address import Area

_WITH_ADDRESS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_KERNEL = 0x80
_NEAR = 32
"""Frames within which native code has called the interpreter that a signal came in."""
_MASK = (1 << 64) - 1
_CODES: dict[tuple[int, int], str] = {  # sigaction(2)
    (signal.SIGSEGV, 1): "the address is not mapped",
    (signal.SIGSEGV, 2): "the memory's protection does not allow it",
    (signal.SIGSEGV, _KERNEL): "the processor refused the access",
    (signal.SIGBUS, 1): "the address is not aligned",
    (signal.SIGBUS, 2): "the file behind the memory ends before it",
    (signal.SIGFPE, 1): "an integer was divided by zero",
    (signal.SIGFPE, 2): "an integer overflowed",
    (signal.SIGFPE, 3): "a number was divided by zero",
    (signal.SIGILL, 1): "no instruction of this processor",
}
# A memory operand of AT&T syntax: displacement(base,index,scale).
_OPERAND = re.compile(r"(-?0x[0-9a-f]+)?\((%\w+)?(?:,(%\w+),(\d))?\)")


@frozen
class Sent:
    """A signal as the kernel has delivered it (sigaction(2))."""

    number: int
    code: int
    sender: int
    """The process that sent it; means nothing of a fault."""
    address: int
    """The address of a fault; means nothing of one that was sent."""


def mapped() -> list[Area]:
    """What a running program has mapped."""
    maps = Path(f"/proc/{gdb.selected_inferior().pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    return fault_address.areas(maps)


def explained(
    sent: Sent, frame: gdb.Frame, memory: Callable[[], list[Area]] = mapped, inside: int = 0
) -> mi.SignalStop:
    """What is to be said of it: ``frame`` is where it came, ``inside`` the number of a handler's frames within it.

    ``memory``: the map of the program's memory, where it is no running one.
    """
    by_process = sent.code <= 0
    sender = sent.sender if by_process else 0
    own = sender == gdb.selected_inferior().pid
    of_itself = not by_process or (own and sent.number == signal.SIGABRT)
    address = None if by_process or sent.number not in _WITH_ADDRESS else _address(sent, frame)
    return mi.SignalStop(
        name=_name(sent.number),
        meaning=signal.strsignal(sent.number) or "",
        reason=_CODES.get((sent.number, sent.code), ""),
        sender=0 if own else sender,
        address=address,
        what=_what(sent.number, address, frame, memory) or _said(sent.number, inside),
        python_call=_python_call(inside) if of_itself else "",
    )


def _python_call(inside: int) -> str:
    """What was wrong with the call of Python's C API in which the selected thread stands; empty for nothing."""
    python = backtrace.current_python()
    stack = backtrace.thread_stack(limit=inside + _NEAR)
    if stack.holds_gil or (python is not None and python.layout.free_threaded):
        return ""
    return unlocked_call(stack.frames[inside:], python_runs=python is not None)


def _address(sent: Sent, frame: gdb.Frame) -> int | None:
    """The address of the fault; the kernel does not tell one that is not canonical, but the instruction does."""
    return sent.address & _MASK if sent.code != _KERNEL else _operand(frame)


def _operand(frame: gdb.Frame) -> int | None:
    """Where the memory operand of the instruction lies that the thread stands at."""
    text = str(frame.architecture().disassemble(frame.pc(), count=1)[0]["asm"])
    found = _OPERAND.search(text)
    if found is None:
        return None
    displacement, base, index, scale = found.groups()
    value = int(displacement or "0", 16)
    value += int(frame.read_register(base[1:])) if base else 0
    value += int(frame.read_register(index[1:])) * int(scale) if index else 0
    return value & _MASK


def _name(number: int) -> str:
    """The signal's name; gdb's where it is one of the real-time signals, most of which have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _said(number: int, inside: int) -> str:
    return last_words.last_words(inside) if number == signal.SIGABRT else ""


def _what(number: int, address: int | None, frame: gdb.Frame, memory: Callable[[], list[Area]]) -> str:
    if address is None or number in {signal.SIGFPE, signal.SIGILL}:
        return ""
    if number == signal.SIGSEGV and watched_memory.has(address):
        return "a tensor that autograd saved, which --overwritten watches; the write is done when the program goes on"
    stack_pointer = int(frame.read_register("rsp")) & _MASK
    said = fault_address.described(address, memory(), stack_pointer)
    return f"the program called it: {said}" if frame.pc() == address else said

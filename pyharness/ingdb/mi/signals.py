"""MI commands for signals: which ones stop, and what one that did means."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.opening import core_file
from pyharness.ingdb.stops import fault_address, last_words
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.protocol import mi

_LINE = re.compile(r"^(SIG\w+)\s+(Yes|No)\s+(Yes|No)\s+(Yes|No)\s+(.*)$", re.MULTILINE)
_DEBUGGERS = frozenset({"SIGTRAP", "SIGINT"})
"""The debugger lives by these."""
_WITH_ADDRESS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_KERNEL = 0x80
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


@handles(mi.Signals)
def _signals(request: mi.Signals) -> tuple[mi.Signal, ...]:
    if request.stop is not None:
        known = {entry.name for entry in _listed()}
        for name in request.stop:
            if name not in known or name in _DEBUGGERS:
                raise UsageError(f"The program cannot be stopped at {name!r}.", nearest(name, known - _DEBUGGERS))
        console.run("handle all nostop noprint pass")
        if request.stop:
            console.run(f"handle {' '.join(request.stop)} stop print pass")
    return tuple(entry for entry in _listed() if entry.name not in _DEBUGGERS)


def _listed() -> list[mi.Signal]:
    rows = _LINE.findall(console.run("info signals"))
    return [mi.Signal(name, stop == "Yes", meaning) for name, stop, _, _, meaning in rows]


@handles(mi.SignalInfo)
def _signal_info(request: mi.SignalInfo) -> mi.SignalStop:
    thread = select(request.thread)
    try:
        info = gdb.parse_and_eval("$_siginfo")
        number, code = int(info["si_signo"]), int(info["si_code"])
    except gdb.error as error:
        raise HarnessError(f"Thread {thread.ptid[1]} did not stop at a signal.") from error
    sent = code <= 0
    sender = int(info["_sifields"]["_kill"]["si_pid"]) if sent else 0
    address = None if sent or number not in _WITH_ADDRESS else _address(info, code)
    return mi.SignalStop(
        name=_name(number),
        meaning=signal.strsignal(number) or "",
        reason=_CODES.get((number, code), ""),
        sender=0 if sender == thread.ptid[0] else sender,
        address=address,
        what=_what(number, address),
    )


def _address(info: gdb.Value, code: int) -> int | None:
    """The address of the fault; the kernel does not tell one that is not canonical, but the instruction does."""
    if code != _KERNEL:
        return int(info["_sifields"]["_sigfault"]["si_addr"]) & _MASK
    return _operand()


def _operand() -> int | None:
    """Where the memory operand of the instruction lies that the thread stands at."""
    frame = gdb.newest_frame()
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


def _what(number: int, address: int | None) -> str:
    if number == signal.SIGABRT:
        return last_words.last_words()
    if address is None or number in {signal.SIGFPE, signal.SIGILL}:
        return ""
    stack_pointer = int(gdb.newest_frame().read_register("rsp")) & _MASK
    return fault_address.described(address, _memory(), stack_pointer)


def _memory() -> list[fault_address.Area]:
    of_core = core_file.memory()
    if of_core is not None:
        return of_core
    maps = Path(f"/proc/{gdb.selected_inferior().pid}/maps").read_text(encoding="utf-8", errors="replace")
    return fault_address.areas(maps)

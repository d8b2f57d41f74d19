"""A sanitizer's report as ``csrc/sanitized/report.h`` has it: the same fields in the same order."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Literal

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.process.memory import Memory

    Role = Literal["made", "freed", "other access", "started"]

_PYTHON_FRAMES, _NATIVE_FRAMES, _TRACES, _NAME = 10, 40, 8, 128
_HEAD = struct.Struct(f"<2I 4Q 3Q 3Q 32s {_NAME}s")
_TRACE = struct.Struct(f"<2I Q 2I {2 * _PYTHON_FRAMES}Q {_NATIVE_FRAMES}Q")
_SANITIZERS = {1: "AddressSanitizer", 2: "UndefinedBehaviorSanitizer", 3: "ThreadSanitizer"}
_ROLES: dict[int, Role] = {1: "made", 2: "freed", 3: "other access", 4: "started"}
_MAX_TEXT = 256 << 10


@frozen
class Trace:
    """A call stack that the runtime, or our library beside it, has kept."""

    role: Role
    is_write: bool
    """Whether an access writes."""
    thread: int
    """The kernel's id of the thread; 0 where that is not known."""
    python: tuple[tuple[int, int], ...]
    """Addresses of code objects, and where in them; innermost first."""
    native: tuple[int, ...]
    """Return addresses, innermost first."""


@frozen
class Report:
    """An error at which a thread of the program stands."""

    sanitizer: str
    text: str
    """What the runtime prints."""
    what: str
    """The runtime's name for this kind of error, such as ``heap-buffer-overflow``."""
    message: str
    """A sentence of UndefinedBehaviorSanitizer; empty for the others."""
    address: int
    """0 where the error is not about memory."""
    size: int
    """Bytes that were accessed; 0 for no access."""
    is_write: bool
    region: int
    """Where the block or the variable begins that the address lies in or beside; 0 for none."""
    region_size: int
    """Bytes that were asked for."""
    region_kind: str
    region_name: str
    """The name of a variable."""
    traces: tuple[Trace, ...]

    def trace(self, role: Role) -> Trace | None:
        """The first one of a role."""
        return next((trace for trace in self.traces if trace.role == role), None)


def read_report(memory: Memory, address: int) -> Report:
    """The report at ``address``; ``UnreadableError`` where there is none."""
    fields = _HEAD.unpack(memory.read(address, _HEAD.size))
    sanitizer, count, text, text_size, what, message, *numbers, kind, name = fields
    place, size, is_write, region, region_size, asked_for = numbers
    return Report(
        _SANITIZERS.get(sanitizer, "a sanitizer"),
        memory.read(text, min(text_size, _MAX_TEXT)).decode("utf-8", "replace") if text_size else "",
        memory.text(what) if what else "",
        memory.text(message, 4096) if message else "",
        place,
        size,
        bool(is_write),
        region,
        asked_for or region_size,
        _text(kind),
        _text(name),
        tuple(_traces(memory, address + _HEAD.size, min(count, _TRACES))),
    )


def _traces(memory: Memory, address: int, count: int) -> Iterator[Trace]:
    for index in range(count):
        fields = _TRACE.unpack(memory.read(address + index * _TRACE.size, _TRACE.size))
        role, is_write, thread, python_count, native_count, *rest = fields
        python, native = rest[: 2 * _PYTHON_FRAMES], rest[2 * _PYTHON_FRAMES :]
        pairs = list(zip(python[::2], python[1::2], strict=True))
        if role in _ROLES:
            yield Trace(_ROLES[role], bool(is_write), thread, tuple(pairs[:python_count]), tuple(native[:native_count]))


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")

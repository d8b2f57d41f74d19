"""What a core file's header says before gdb reads it: whether it is one, of this machine, and whole."""

from __future__ import annotations

import struct
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_CORE, _EXECUTABLES = 4, {2, 3}
_EXTENDED = 0xFFFF
"""``e_phnum`` of a file with more segments than that: section 0 has the number."""
_SECTION_SIZE = 64
_COMPRESSED = {
    b"\x28\xb5\x2f\xfd": "zstd -d",
    b"\x04\x22\x4d\x18": "lz4 -d",
    b"\xfd7zXZ": "xz -d",
    b"\x1f\x8b": "gzip -d",
}
_LEAVE_OUT = "Of a core file, `program` is the Python that made it: leave it out, mostly."
_MAKE_ONE = "`gcore PID` makes one, and so does the kernel where `ulimit -c unlimited` and core_pattern let it."


def check_core(path: Path, *, whole: bool = True) -> Path:
    """The absolute path of a core; ``UsageError`` for no core, one of another machine, or a part of one.

    Without ``whole`` a part will do: gdb shows what it can of it.
    """
    with _opened(path, _MAKE_ONE) as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        head = stream.read(_HEADER.size)
        _check_compressed(path, head)
        if head[:4] != b"\x7fELF" or (len(head) >= 18 and head[16:18] != struct.pack("<H", _CORE)):
            raise UsageError(f"{path} is not a core file.", _MAKE_ONE)
        if len(head) < _HEADER.size:
            raise _truncated(path, size, _HEADER.size)
        _check_machine(path, head)
        needed = _needed(stream, head, size)
    if whole and needed > size:
        raise _truncated(path, size, needed)
    return path.resolve()


def truncated(path: Path) -> UsageError | None:
    """How much of the core file is missing, if that can be told from its header."""
    try:
        check_core(path)
    except UsageError as error:
        return error
    return None


def check_program(path: Path) -> None:
    """Raise ``UsageError`` where the file that should have made a core is no executable: a script, perhaps."""
    with _opened(path, _LEAVE_OUT) as stream:
        head = stream.read(18)
    if head[:4] != b"\x7fELF" or int.from_bytes(head[16:18], "little") not in _EXECUTABLES:
        raise UsageError(f"{path} is not an executable.", _LEAVE_OUT)


@contextmanager
def _opened(path: Path, remedy: str) -> Iterator[BinaryIO]:
    """The file, and whatever fails of reading it: the kernel has some that pass for files, as /proc/PID/mem."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for, a device read for ever
            raise UsageError(f"{path} is not a file.", remedy)
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy) from error


def _check_compressed(path: Path, head: bytes) -> None:
    for magic, tool in _COMPRESSED.items():
        if head.startswith(magic):
            remedy = f"`{tool}` unpacks it; of systemd's, `coredumpctl dump PID -o FILE` writes one."
            raise UsageError(f"{path} is compressed.", remedy)


def _check_machine(path: Path, head: bytes) -> None:
    with Path(sys.executable).open("rb") as stream:
        own = stream.read(20)
    if (head[4:6], head[18:20]) != (own[4:6], own[18:20]):
        raise UsageError(f"{path} is of another kind of machine.", "Open it on one of its kind, with the same files.")


def _needed(stream: BinaryIO, head: bytes, size: int) -> int:
    """The size that the file should have; beyond any where its table of segments makes no sense."""
    table, sections, entry, count = (int(_HEADER.unpack(head)[index]) for index in (5, 6, 9, 10))
    if entry != _SEGMENT.size:
        return 1 << 63
    if count == _EXTENDED:
        if sections + _SECTION_SIZE > size:
            return sections + _SECTION_SIZE
        stream.seek(sections + 44)  # sh_info of the first section
        count = int.from_bytes(stream.read(4), "little")
    if table + count * entry > size:
        return table + count * entry
    stream.seek(table)
    ends = [int(row[2]) + int(row[5]) for row in _SEGMENT.iter_unpack(stream.read(count * entry))]
    return max(ends, default=1 << 63)


def _truncated(path: Path, size: int, needed: int) -> UsageError:
    whole = f"{needed:,}" if needed < 1 << 50 else "many more"
    left = f" `pyharness stack {path}` shows what is left, if anything." if size >= _HEADER.size else ""
    return UsageError(
        f"{path} is damaged or truncated: it has {size:,} bytes of {whole}.",
        f"Was the disk full, or the core limited (ulimit -c, ProcessSizeMax of systemd-coredump)?{left}",
    )

"""Finds the CPython of a process or core: which mapped file holds `_PyRuntime`, and its version and layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.layout import UnknownPythonError, debug_offsets_layout, table_layout
from pyharness.reading.python.threads import Python

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.reading.binaries.elf import Elf
    from pyharness.reading.process.memory import Memory

RUNTIME, VERSION, SINCE_3_10, SINCE_3_9 = "_PyRuntime", "Py_Version", "PyIter_Send", "PyFrame_GetCode"
ALWAYS = "Py_IsInitialized"
"""A function of every CPython; without ``RUNTIME`` it is older than 3.7."""
_NATIVE_ONLY = "Only the native half of the stack is shown."
_LARGE = 64 << 20
"""A file of another name that is larger than this is not searched: no interpreter is, libtorch is."""


class LoadedFile(Protocol):
    """A mapped ELF file; an address in memory is the file's own plus ``bias``."""

    @property
    def path(self) -> str: ...  # noqa: D102  (a field)
    @property
    def bias(self) -> int: ...  # noqa: D102  (a field)
    @property
    def elf(self) -> Elf: ...  # noqa: D102  (a field)


def find_python(memory: Memory, files: Iterable[LoadedFile]) -> Python | None:
    """The first CPython among mapped files; ``None`` where there is none.

    `UnknownPythonError` where it is one that cannot be read: too old or new, free-threaded, or not started.
    """
    older = ""
    for file in files:
        if "python" not in file.path and len(file.elf.data) > _LARGE:
            continue
        if file.elf.symbol(RUNTIME) is not None:
            found = {name: file.elf.symbol(name) for name in (RUNTIME, VERSION, SINCE_3_10, SINCE_3_9)}
            return _python(memory, {name: file.bias + at for name, at in found.items() if at is not None}, file.path)
        if "python" in file.path and file.elf.symbol(ALWAYS) is not None:
            older = older or file.path
    if older:
        raise UnknownPythonError(f"The CPython in {older} is older than 3.7.", _NATIVE_ONLY)
    return None


def _python(memory: Memory, found: dict[str, int], path: str) -> Python:
    runtime = found[RUNTIME]
    try:
        layout = debug_offsets_layout(memory.read, runtime) or table_layout(_version(memory, found, path))
    except UnreadableError as error:
        raise UnknownPythonError(f"The memory of the CPython in {path} cannot be read ({error}).") from error
    python = Python(memory, layout, runtime)
    if not python.looks_right():
        version = ".".join(map(str, layout.version))
        raise UnknownPythonError(
            f"The CPython {version} in {path} is laid out differently from the release, has not started yet, or its"
            " memory is not all there.",
            _NATIVE_ONLY,
        )
    return python


def _version(memory: Memory, found: dict[str, int], path: str) -> tuple[int, int]:
    """`Py_Version` is there since 3.11; before that, `PyIter_Send` came with 3.10, and `PyFrame_GetCode` with 3.9."""
    if VERSION in found:
        version = memory.unsigned(found[VERSION], 4)
        return version >> 24, version >> 16 & 0xFF
    if SINCE_3_10 in found:
        return 3, 10
    if SINCE_3_9 in found:
        return 3, 9
    raise UnknownPythonError(f"The CPython in {path} is older than 3.9.", _NATIVE_ONLY)

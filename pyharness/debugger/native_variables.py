"""Variables of native and Python frames, as gdb reads them from memory; see ``ingdb.mi.variables``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyharness.debugger.native_side import NativeSide

    Entry = dict[str, Any]


class NativeVariables:
    """Of threads that stand; levels count frames of the merged stack. Handles are valid until the program goes on."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def scopes(self, thread: int, level: int) -> list[Entry]:
        """The scopes of a frame."""
        found: list[Entry] = self._native.ask_about(thread, "ph-scopes", {"level": level})
        return found

    def children(self, thread: int, handle: int, start: int, count: int, kind: str | None = None) -> list[Entry]:
        """Some of the variables behind a handle; ``kind``: only those that are ``named``, or ``indexed``."""
        request = {"handle": handle, "start": start, "count": count, "filter": kind}
        found: list[Entry] = self._native.ask_about(thread, "ph-children", request)
        return found

    def evaluate(self, thread: int, level: int, expression: str, *, whole: bool = False) -> Entry:
        """One variable, in the language of its frame; ``whole``: with more than a line of its value."""
        request = {"level": level, "expression": expression, "whole": whole}
        found: Entry = self._native.ask_about(thread, "ph-evaluate-variable", request)
        return found

    def assign(self, thread: int, handle: int, name: str, value: str) -> Entry:
        """Set one of the variables behind a handle; the variable as it is then."""
        found: Entry = self._native.ask_about(
            thread, "ph-set-variable", {"handle": handle, "name": name, "value": value}
        )
        return found

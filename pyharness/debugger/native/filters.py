"""What stops the native half by itself: C++ exceptions and signals, as the client's filters have it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.debugger.native.exceptions import NativeExceptions
from pyharness.debugger.native.settings import FATAL_SIGNALS
from pyharness.debugger.native.signals import NativeSignals

if TYPE_CHECKING:
    from pyharness.debugger.native.side import NativeSide
    from pyharness.protocol.mi import CxxException


class NativeFilters:
    """Which C++ exceptions and signals stop one program; what is asked for before gdb is there waits until it is."""

    def __init__(self) -> None:
        self._wanted: dict[str, str] = {}
        self._native: NativeExceptions | None = None

    def want(self, wanted: list[tuple[str, str]], native: NativeSide | None) -> None:
        """From now on."""
        self._wanted = {name: condition for name, condition in wanted if name.startswith("cxx") or name == "signals"}
        if native and (self._wanted or self._native):
            self._apply(native)

    def libraries(self, native: NativeSide) -> None:
        """gdb is attached, or more libraries are loaded."""
        if self._native:
            self._native.refresh()
        elif self._wanted:
            self._apply(native)

    def info(self, thread: int) -> CxxException | None:
        """What a thread stopped for."""
        return self._native.info(thread) if self._native else None

    def _apply(self, native: NativeSide) -> None:
        self._native = self._native or NativeExceptions(native)
        self._native.stop_at(
            throw=self._types("cxxThrow", "cxxThrough"),
            catch=self._types("cxxCatch"),
            origin="through" if "cxxThrough" in self._wanted else "own",
        )
        NativeSignals(native).stop_at([*FATAL_SIGNALS, *words(self._wanted.get("signals", ""))])

    def _types(self, *names: str) -> list[str] | None:
        """The patterns of these filters together: none where one of them wants every type."""
        conditions = [words(self._wanted[name]) for name in names if name in self._wanted]
        if not conditions:
            return None
        return [each for patterns in conditions for each in patterns] if all(conditions) else []


def words(text: str) -> list[str]:
    """The words of a filter's condition."""
    return [each for each in re.split(r"[\s,]+", text) if each]

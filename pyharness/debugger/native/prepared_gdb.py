"""A gdb that starts as soon as it may be needed, beside what the program still imports: by then it is ready."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from pyharness.debugger.native.link import GdbLink
from pyharness.debugger.native.side import NativeSide
from pyharness.gdbmi.client import INSTALL_GDB, GdbLostError, find_gdb
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.gdbmi.records import Notice
    from pyharness.model.user_code import UserCode

_SAID, _PROMPT = "<- ", "(gdb)"


class PreparedGdb:
    """What is wrong with it is said when it is needed."""

    def __init__(
        self, on_notice: Callable[[Notice | None], None], user_code: UserCode, scripts: Sequence[str] = ()
    ) -> None:
        self._on_notice = on_notice
        self.user_code = user_code
        """What gdb takes for the user's code."""
        self._scripts = scripts
        self._begun = False
        self._made: Future[NativeSide] = Future()

    def begin(self) -> None:
        """Start it on a thread of its own, once: there is native code, or somebody asks for some."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._make, name="pyharness-prepare-gdb", daemon=True).start()

    def take(self) -> NativeSide:
        """The prepared gdb, once it is ready; ``HarnessError`` or ``OSError`` where it cannot be."""
        self.begin()
        return self._made.result()

    def unused(self) -> NativeSide | None:
        """The prepared gdb, to be closed; ``None`` where there is none."""
        return self._made.result() if self._begun and self._made.exception() is None else None

    def _make(self) -> None:
        native = None
        try:
            link = GdbLink(self._on_notice, self.user_code)
            native = NativeSide(link, self.user_code)
            native.prepare(self._scripts)
            self._made.set_result(native)
        except (HarnessError, OSError) as error:
            if native:
                native.close()
                if not native.link.was_killed:
                    error = _not_gdb(error, native.transcript)
            self._made.set_exception(error)
        except Exception as error:  # noqa: BLE001  (whoever needs gdb waits for an answer)
            self._made.set_exception(
                HarnessError(f"gdb cannot be used: {type(error).__name__}: {error}", "`pyharness doctor` looks at gdb.")
            )


def _not_gdb(error: HarnessError | OSError, transcript: list[str]) -> HarnessError | OSError:
    """What is wrong with a program that ended before it spoke as gdb does: it is none."""
    said = [line.removeprefix(_SAID) for line in transcript if line.startswith(_SAID)]
    if not isinstance(error, GdbLostError) or any(line.startswith(_PROMPT) for line in said):
        return error
    words = f"it said {said[0]!r}" if said else "it ended without a word"
    return HarnessError(f"{find_gdb()} does not run as gdb: {words}.", INSTALL_GDB)

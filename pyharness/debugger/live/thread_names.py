"""What Python calls the threads of a program: debugpy tells it at a stop in Python, memory at one in native code."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell


class ThreadNames:
    """The names, of which memory is asked once for each new thread."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._asked: set[int] = set()
        self._read: dict[int, str] = {}

    def known(self) -> dict[int, str]:
        """LWP → name, as far as it can be had now."""
        shell, told = self._shell, self._shell.python.names
        focus, native = shell.machine.focus, shell.native
        new = shell.tasks.keys() - told.keys() - self._asked
        if new and focus and focus.language == "native" and native:
            self._asked |= new
            with suppress(HarnessError):  # a name is no reason to refuse the list
                read = native.ask(mi.ThreadNames())
                self._read |= {shell.python.number_of(number): name for number, name in read.items()}
        return {**self._read, **told}

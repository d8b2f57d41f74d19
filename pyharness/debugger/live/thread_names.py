"""What Python calls the threads of a program: debugpy tells it at a stop in Python, memory at one in native code."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.debugger.shell import Shell
    from pyharness.debugger.stop import Stopped


_OWN = "pydevd"
"""What a debugger's thread in the program calls itself, for the kernel (``debuggee/link/thread_names.py``)."""


class ThreadNames:
    """The names, of which memory is asked once for each new thread."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._asked: set[int] = set()
        self._read: dict[int, str] = {}

    def of(self, tasks: Mapping[int, str]) -> dict[int, str]:
        """LWP → name, as far as it can be had now; ``tasks``: all threads, with the kernel's names."""
        shell, focus = self._shell, self._shell.machine.focus
        new = tasks.keys() - shell.python.names.keys() - self._asked
        if new and focus:
            self._asked |= new
            with suppress(HarnessError):  # a name is no reason to refuse the list
                self._ask(focus)
        own = {lwp: "" for lwp, kernels in tasks.items() if kernels == _OWN}
        return {**self._read, **shell.python.names, **own}

    def _ask(self, focus: Stopped) -> None:
        python, native = self._shell.python, self._shell.native
        if focus.language == "python":
            python.read_names(focus.thread)
        elif native:
            read = native.ask(mi.ThreadNames())
            self._read |= {python.number_of(number): name for number, name in read.items()}

"""The native code that the program loads: when gdb comes for it, and what is set in it then."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from pyharness.model.errors import DebuggerLostError, HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.listener import Listener
    from pyharness.debugger.live.actions import Actions
    from pyharness.debugger.native.prepared_gdb import PreparedGdb
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Shell


class Libraries:
    """Which of the user's libraries are loaded.

    ``crashes``: gdb comes with the first, for a crash in it.
    """

    def __init__(
        self,
        shell: Shell,
        actions: Actions,
        listener: Listener,
        gdb: PreparedGdb,
        progress: Callable[[str], None],
        *,
        crashes: bool,
    ) -> None:
        self._shell = shell
        self._actions = actions
        self._listener = listener
        self._gdb = gdb
        self._progress = progress
        self._crashes = crashes
        self.paths: list[str] = []
        """The user's, in the order in which they came."""
        self._of_others = False
        """Whether there are some that are neither the user's nor Python's own."""

    def begins(self) -> None:
        """Have gdb there before initializers of the user's first library run, where it is wanted."""
        if self._wants_native and not self._shell.native:
            self._attach_to_stop()
        else:
            self.added()

    def loaded(self, path: str) -> None:
        """Take a library of the user's, whose code has not run yet."""
        shell = self._shell
        self.paths.append(path)
        shell.breakpoints.generated(str(PurePath(path).with_suffix(".cpp")))  # AOTInductor's lies beside its library
        if shell.native:
            shell.native.load_symbols()
        elif self._wants_native:
            self._attach_to_stop()
        else:
            self.added()
        if shell.native:
            self.read(shell.native)

    def generated(self) -> None:
        """Set what means lines of kernels that the program has just made, and loaded."""
        if self.paths and self._shell.breakpoints.wants_native and not self._shell.native:
            self._attach_to_stop()
        if self._shell.native and self._shell.breakpoints.wants_native:
            self._shell.breakpoints.bind_native(self._shell.native)

    @property
    def _wants_native(self) -> bool:
        return self._shell.breakpoints.wants_native or self._actions.wants_native

    def _attach_to_stop(self) -> None:
        """gdb is needed for a place or a step in native code; without it each place is refused."""
        try:
            self._shell.attach()
        except DebuggerLostError:
            raise
        except HarnessError as error:
            self._actions.forgets_native()
            self._shell.breakpoints.refuse_native(error)
            raise

    def read(self, native: NativeSide) -> None:
        """Stop in a library whose symbols gdb has read, where that was asked for before."""
        self._shell.breakpoints.bind_native(native)
        self._listener.libraries(native)
        self._actions.arm_again(native)
        native.threads.armed = None  # a library may have a C++ runtime of its own

    def added(self) -> None:
        """Take a library that is not Python's own, be it the user's or not: gdb comes where crashes are wanted."""
        self._gdb.begin()
        if self._shell.native or not self._crashes:
            return
        try:
            self._shell.attach()
        except HarnessError as error:  # nobody asked for gdb: the Python half needs none
            self._crashes = False
            self._progress(f"a crash will not be stopped at: {error.message}")

    def added_by_others(self) -> None:
        """Take a library that is neither the user's nor Python's own."""
        self._of_others = True
        if self._shell.breakpoints.wants_function:
            self.look_for_functions()
        else:
            self.added()

    def look_for_functions(self) -> None:
        """Set what waits for a function, where one of the libraries of others may have it."""
        shell = self._shell
        if not (self._of_others and shell.breakpoints.wants_function):
            return
        if shell.native and shell.native.loads:  # gdb has looked where the linker had mapped it
            return
        if not shell.native:
            self._attach_to_stop()
        if shell.native:
            shell.breakpoints.bind_native(shell.native)

"""Which of an interpreter's threads one thread of the kernel's is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.reading.python.threads import PythonThread


@frozen
class KernelThread:
    """A thread that stands.

    It is known by ``pthread_self()``, its ``fs_base``. Kernel ids differ where the program has a namespace of its own;
    they serve where the register is not to be had. Up to Python 3.12 any thread may run a subinterpreter by the state
    of the one that made it, so there the place of the loops tells: on this thread's stack, which ends where its
    ``fs_base`` points to (the main thread's lies above).
    """

    lwp: int
    pthread: int
    """0 where it cannot be had, as ``stack_pointer``."""
    stack_pointer: int

    def may_be(self, native: int | None, known: int, interpreter: int) -> bool:
        """Whether it may be the one that an interpreter knows by these numbers."""
        same = known == self.pthread if self.pthread else native == self.lwp
        return same or bool(interpreter and self.stack_pointer and self.pthread)

    def among(self, threads: Iterable[PythonThread]) -> list[PythonThread]:
        """What each interpreter knows of it, the one that runs innermost first."""
        return sorted(filter(self._is, threads), key=lambda one: _marker(one) or 1 << 64)

    def _is(self, one: PythonThread) -> bool:
        marker = _marker(one)
        if not one.interpreter or marker is None or not self.stack_pointer or not self.pthread:
            return self.may_be(one.native_id, one.pthread, 0)
        return self.stack_pointer <= marker and (self.stack_pointer > self.pthread or marker < self.pthread)


def _marker(one: PythonThread) -> int | None:
    return next((loop.marker for loop in one.loops if loop.marker), None)

"""Puts back the modules that the debugger needs, in a program that has emptied ``sys.modules``.

pydevd imports as it goes: where its modules are gone, its trace function raises into the program, which ends of it.
So they come back at the first stop, and at the program's end at the latest, when Python's own would have no use for
them any more. They stay then: pydevd's threads go on with a stop's requests when the program runs again.
"""

from __future__ import annotations

import atexit
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


class KeptModules:
    """What was imported before the program ran."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}

    def keep(self) -> None:
        """Remember what is imported; the program is about to run.

        The program's own module is not, and at its end nothing is: what it made is to be taken down as Python does it.
        """
        self.note()
        atexit.register(self.forget)

    def note(self) -> None:
        """Remember what is imported by now, for whoever forgets it by itself."""
        self._modules.update(sys.modules)
        del self._modules["__main__"]

    def forget(self) -> None:
        """Let Python take down what the program has."""
        self._modules.clear()

    def put_back(self) -> None:
        """Put back what the program threw out, if that was ours, too; what it imported anew since stays."""
        if __name__ in sys.modules:
            return
        for name, module in self._modules.items():
            sys.modules.setdefault(name, module)


KEPT_MODULES = KeptModules()

"""Steps that pass by what torch imports for itself, late: a step into an op of the user's can be its first need of it.

Else the step would end in a class statement of such a module, in ``typing_extensions`` or ``sympy``, which are the
user's code as any other package is where a line of theirs calls it. Breakpoints stop in there as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debuggee.pydevd.steps.held import is_into, step_held
from pyharness.debuggee.watched.imports import around_all_imports

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import ModuleType

_LIBRARIES = ("torch.", "functorch.", "torchgen.")


def watch() -> None:
    """From now on a step into what a line calls goes on behind each such import."""
    around_all_imports(_is_passed_by, _within)


def _is_passed_by(name: str) -> bool:
    return name.startswith(_LIBRARIES) and is_into()


def _within(_module: ModuleType) -> AbstractContextManager[None]:
    return step_held()

"""Begins ours in the children that ``multiprocessing`` starts as a Python of their own: ``spawn``, ``forkserver``.

A forked child has its parent's handlers and hooks. Such a child has none; the first that it reads from its parent is a
dictionary, pickled, and what we add to that runs a function of ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_PACKAGES = str(Path(__file__).resolve().parents[3])
_BEGIN = """\
import sys
sys.path.append({packages!r})
try:
    from {module} import {function}
    {function}(*{arguments!r})
except Exception as error:
    if sys.stderr:
        print("pyharness: {lacks}:", ascii(str(error))[1:-1], file=sys.stderr)
finally:
    if {packages!r} in sys.path:
        sys.path.reverse()
        sys.path.remove({packages!r})
        sys.path.reverse()
"""
"""What the child runs. Where ours fails in it, the program goes on."""


def begin_in_spawned(function: Callable[..., None], *arguments: str, lacks: str) -> None:
    """Have each child that is started from now on call a function of a module; ``lacks``: what it has not, else."""
    after_import("multiprocessing.spawn", lambda module: _add(module, _Begins(function, arguments, lacks)))


class _Begins:
    """Is pickled as a call of our beginning."""

    def __init__(self, function: Callable[..., None], arguments: tuple[str, ...], lacks: str) -> None:
        self.name = f"pyharness {function.__name__}"
        self._code = _BEGIN.format(
            packages=_PACKAGES,
            module=function.__module__,
            function=function.__name__,
            arguments=arguments,
            lacks=lacks,
        )

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, dict[str, object]]]:
        return exec, (self._code, {})


def _add(module: ModuleType, begins: _Begins) -> None:
    theirs: Callable[..., dict[str, Any]] | None = getattr(module, "get_preparation_data", None)
    if theirs is None:
        return

    def get_preparation_data(*arguments: Any, **named: Any) -> dict[str, Any]:
        return {**theirs(*arguments, **named), begins.name: begins}

    module.__dict__["get_preparation_data"] = get_preparation_data

"""Tells of crashes of the children that ``multiprocessing`` starts as a Python of their own: ``spawn``, ``forkserver``.

A forked child has its parent's handlers. Such a child has none; the first that it reads from its parent is a
dictionary, pickled, and what we add to that begins the watch.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.watched.imports import after_import
from pyharness.model.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from pyharness.protocol.aftermath import Reported

_PACKAGES = str(Path(__file__).resolve().parents[3])
_BEGIN = """\
import sys
sys.path.append({packages!r})
try:
    from pyharness.debuggee.entries.reported import begin_spawned
    begin_spawned({reported!r})
except Exception as error:
    if sys.stderr:
        print("pyharness: no crash of this process is reported:", ascii(str(error))[1:-1], file=sys.stderr)
finally:
    if {packages!r} in sys.path:
        sys.path.reverse()
        sys.path.remove({packages!r})
        sys.path.reverse()
"""
"""What the child runs. Where ours fails in it, the program goes on."""


def follow_spawned(reported: Reported) -> None:
    """Have each child that is started from now on write its report as this process does."""
    after_import("multiprocessing.spawn", lambda module: _add(module, _Begins(reported)))


class _Begins:
    """Is pickled as a call of our beginning."""

    def __init__(self, reported: Reported) -> None:
        self._code = _BEGIN.format(packages=_PACKAGES, reported=json.dumps(encode(reported)))

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, dict[str, object]]]:
        return exec, (self._code, {})


def _add(module: ModuleType, begins: _Begins) -> None:
    theirs: Callable[..., dict[str, Any]] | None = getattr(module, "get_preparation_data", None)
    if theirs is None:
        return

    def get_preparation_data(*arguments: Any, **named: Any) -> dict[str, Any]:
        return {**theirs(*arguments, **named), "pyharness": begins}

    module.__dict__["get_preparation_data"] = get_preparation_data

"""Has a program that is debugged watch the tensors that autograd saves: a write is a signal, where debuggers stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from types import ModuleType


def watch() -> None:
    """Begin with the import of torch, or now."""
    after_import("torch", _begin)


def _begin(_torch: ModuleType) -> None:
    from pyharness.model.errors import HarnessError
    from pyharness.model.text.visible import say
    from pyharness.native.find_overwritten import find_overwritten

    try:
        find_overwritten().__enter__()
    except HarnessError as error:
        say(str(error))

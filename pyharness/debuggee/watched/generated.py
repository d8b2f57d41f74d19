"""Follows torch.fx in a program that the harness starts: each generated ``forward`` gets a file before it can run.

Nothing is done to a program that never imports torch.fx, and nothing here imports torch.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.watched.imports import after_import
from pyharness.fx import provenance
from pyharness.fx.code import files
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from pyharness.fx.code.files import GeneratedFile

_FX = "torch.fx"
_known: dict[str, None] = {}


def known() -> list[str]:
    """The files that ``install`` has told of so far."""
    return list(_known)


def install(notify: Callable[[str], None], lost: Callable[[str], None] = say) -> None:
    """Call ``notify(path)`` for each file of generated code, before the program can run it.

    Once for each content of a file: torch.compile generates the same code many times. ``lost`` is told why, for the
    first code that gets no file.
    """
    told: dict[str, int] = {}

    def tell(file: GeneratedFile) -> None:
        content = hash((file.text, file.source_map))
        if told.get(file.path) == content:
            return
        told[file.path] = content
        _known[file.path] = None
        notify(file.path)

    files.LISTENERS.append(tell)
    after_import(_FX, functools.partial(_follow, lost))


def _follow(lost: Callable[[str], None], fx: ModuleType) -> None:
    if not hasattr(fx.GraphModule.recompile, "__pyharness__"):
        _follow_recompile(fx.GraphModule, lost)
        _follow_nodes(fx.proxy.TracerBase)


def _follow_recompile(cls: Any, lost: Callable[[str], None]) -> None:
    original = cls.recompile
    told: list[str] = []

    @functools.wraps(original)
    def recompile(self: Any) -> Any:
        if files.is_followed(self):
            return original(self)
        try:
            return files.recompiled(self, lambda: original(self), None)
        except files.MaterializeError as error:  # a full disk must not end the user's program, nor fill its stderr
            if not told:
                told.append(error.message)
                lost(f"{error.message}. {error.remedy}")
            return original(self)

    recompile.__pyharness__ = True  # type: ignore[attr-defined]
    cls.recompile = recompile


def _follow_nodes(cls: Any) -> None:
    original = cls.create_node

    def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
        node = original(self, *args, **kwargs)
        provenance.record(self, node, sys._getframe(1))
        return node

    # torch leaves frames of its own files, known by name, out of the stack traces that it records on nodes.
    create_node.__code__ = create_node.__code__.replace(co_filename=original.__code__.co_filename)
    cls.create_node = functools.wraps(original)(create_node)

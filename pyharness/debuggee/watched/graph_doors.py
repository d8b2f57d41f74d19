"""Where torch's compilers hand a graph to somebody: those graphs are the program's, what came before is their own.

Private functions, looked up by name when their module is imported; where another torch has none of that name, its
graphs stay among torch's own (``--all``).
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Note = Callable[[Any, str], None]

_DYNAMO = "torch._dynamo.output_graph"
_AOT = "torch._functorch._aot_autograd.graph_compile"
_EXPORT = "torch.export.exported_program"
_TAKING = {
    _DYNAMO: {"OutputGraph._call_user_compiler": "torch.compile"},
    _AOT: {
        "_aot_stage2b_compile_forward_or_inference": "AOT forward",
        "_aot_stage2b_bw_compile": "AOT backward",
    },
}


def follow(note: Note) -> None:
    """Call ``note(module, maker)`` for each graph that is handed on, before whoever gets it can change it."""
    for name, functions in _TAKING.items():
        after_import(name, functools.partial(_take, functions, note))
    after_import(_EXPORT, functools.partial(_exported, note))


def _take(functions: dict[str, str], note: Note, module: ModuleType) -> None:
    for path, maker in functions.items():
        *owners, name = path.split(".")
        owner: Any = module
        for part in owners:
            owner = getattr(owner, part, None)
        original = getattr(owner, name, None)
        if original is not None:
            setattr(owner, name, _noting(original, maker, note))


def _noting(original: Callable[..., Any], maker: str, note: Note) -> Callable[..., Any]:
    """``original``, whose first GraphModule is noted."""

    @functools.wraps(original)
    def noting(*args: Any, **kwargs: Any) -> Any:
        cls = sys.modules["torch.fx"].GraphModule
        for value in (*args, *kwargs.values()):
            if isinstance(value, cls):
                note(value, maker)
                break
        return original(*args, **kwargs)

    return noting


def _exported(note: Note, module: ModuleType) -> None:
    """The graph of an exported program, and the module that the user's own code makes of it."""
    cls = module.ExportedProgram
    make, as_module = cls.__init__, cls.module

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        note(self.graph_module, "torch.export")

    @functools.wraps(as_module)
    def to_module(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = as_module(self, *args, **kwargs)
        if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] != "torch":
            note(result, "torch.export, module()")
        return result

    cls.__init__ = made
    cls.module = to_module

"""The private parts of ``torch._inductor`` that kernels are followed by, and how they are replaced.

docs/inductor.md says which they are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

PARTS = {
    "graph": (
        "GraphLowering.run_node",
        "GraphLowering.call_function",
        "GraphLowering.mark_buffer_mutated",
        "GraphLowering.codegen",
        "GraphLowering._compile_to_module",
    ),
    "ir": (
        "Loops.__post_init__",
        "Buffer.__post_init__",
        "Pointwise.store_output",
        "Scatter",
        "MutableBox",
        "BaseView",
    ),
    "loop_body": (
        "LightTracer.create_node",
        "LoopBody._init_with_copy",
        "LoopBody.__call__",
        "LoopBody.replace_indirect",
        "InterpreterShim.run_node",
    ),
    "utils": ("IndentedBuffer.writeline", "DeferredLineBase._new_line", "sympy_subs", "sympy_index_symbol"),
    "common": ("CSE.augment_key", "CSEVariable", "PythonPrinter"),
    "cpp": ("CppKernel._gen_reduction_prefix", "CppScheduling.define_kernel"),
    "virtualized": ("V", "OpsValue"),
    "compile_fx": ("compile_fx",),
    "codecache": ("PyCodeCache.load_by_key_path", "write"),
}
_FOLDERS = {"common": "codegen.", "cpp": "codegen."}


@dataclass(frozen=True)
class Private:
    """The modules, all of whose parts that we need are there."""

    graph: Any
    ir: Any
    loop_body: Any
    utils: Any
    common: Any
    cpp: Any
    virtualized: Any
    compile_fx: Any
    codecache: Any


class LackingError(Exception):
    """A part of torch that we need is not there: which one."""


def private() -> Private:
    """The modules of the torch that is installed; ``LackingError`` where a part is missing."""
    import importlib

    modules = {}
    for name, parts in PARTS.items():
        path = f"torch._inductor.{_FOLDERS.get(name, '')}{name}"
        try:
            modules[name] = module = importlib.import_module(path)
        except ImportError:
            raise LackingError(path) from None
        for part in parts:
            _check(module, part)
    return Private(**modules)


def _check(module: ModuleType, part: str) -> None:
    found: Any = module
    for name in part.split("."):
        found = getattr(found, name, None)
        if found is None:
            raise LackingError(f"{module.__name__}.{part}")


def replaced(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    """Have ``wrapper(original, *args)`` called in place of a function, a method or a class method of ``owner``."""
    given = vars(owner).get(name)
    original = given.__func__ if isinstance(given, (classmethod, staticmethod)) else getattr(owner, name)

    @functools.wraps(original)
    def instead(*args: Any, **named: Any) -> Any:
        return wrapper(original, *args, **named)

    setattr(owner, name, type(given)(instead) if isinstance(given, (classmethod, staticmethod)) else instead)

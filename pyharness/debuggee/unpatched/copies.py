"""Copies of modules of the standard library, as they are before a program replaces what is in them."""

from __future__ import annotations

import builtins
import importlib
import sys
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

_TOLD_BY = {"_thread": "get_ident", "threading": "get_ident", "time": "sleep", "select": "select", "socket": "socket"}
"""A name in each module that tells by its own module whether it has been replaced."""
_MADE_IN = {"threading": "_thread"}


def is_programs_own(name: str) -> bool:
    """Whether the program, or a library of its, has put something of its own into a module."""
    told_by = getattr(importlib.import_module(name), _TOLD_BY[name])
    return bool(told_by.__module__ != _MADE_IN.get(name, name))


def unpatched(name: str) -> ModuleType:
    """A module whose functions and classes wait for nothing of Python's that can be replaced, as it is now."""
    if is_programs_own(name):
        return run_again(name, {})
    module = ModuleType(name)
    vars(module).update(vars(sys.modules[name]))
    return module


def run_again(name: str, imported: dict[str, ModuleType]) -> ModuleType:
    """A second module of this name; it finds ``imported`` where it imports these."""
    spec: Any = importlib.import_module(name).__spec__
    module = module_from_spec(spec)
    import_ = builtins.__import__

    def find(wanted: str, *arguments: Any, **named: Any) -> Any:
        return imported[wanted] if wanted in imported else import_(wanted, *arguments, **named)

    vars(module)["__builtins__"] = {**vars(builtins), "__import__": find}
    code = spec.loader.get_code(name)
    if code is None:  # it is C
        spec.loader.exec_module(module)
        return module
    module.__name__ = f"{__package__}.{name}"  # ``socket`` asks for the module of its name, and writes into that
    sys.modules[module.__name__] = module
    try:
        exec(code, vars(module))  # noqa: S102
    finally:
        del sys.modules[module.__name__]
    return module

"""Runs first in each Python that a program with debugged children starts; then the user's own, if there is one."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_HERE = str(Path(__file__).parent)


def _greet() -> None:
    if sys.version_info < (3, 9) or "t" in sys.abiflags or sys.implementation.name != "cpython":
        return  # a program may start any Python
    sys.path.append(str(Path(__file__).parents[3]))
    _let_others_import_site()
    try:
        from pyharness.debuggee.link import children

        children.greet(children.name_of_started(), begins=True)
    except Exception as error:  # noqa: BLE001  (the user's program runs in any case)
        print(f"pyharness: this process cannot be debugged: {ascii(str(error))[1:-1]}", file=sys.stderr)
    finally:
        sys.path.remove(str(Path(__file__).parents[3]))


def _let_others_import_site() -> None:
    """Count the import of ``site`` as done: debugpy imports it on another thread, while this one waits within it.

    All that the module will have is there by now.
    """
    spec = getattr(sys.modules.get("site"), "__spec__", None)
    if spec is not None:
        spec._initializing = False


def _run_the_next() -> None:
    """The ``sitecustomize`` that this one hides, as Python would have run it."""
    sys.path[:] = [path for path in sys.path if path != _HERE]  # the program's is as without us
    spec = PathFinder.find_spec(__name__, sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules[__name__] = module
        spec.loader.exec_module(module)


_greet()
_run_the_next()

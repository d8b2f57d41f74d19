"""Objects by name: ``package.module:name`` or ``path/to/file.py:name``."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.fx.theirs import name_of, theirs
from pyharness.host.missing import check_link
from pyharness.host.running_now import running
from pyharness.model.errors import HarnessError, UsageError, nearest

_FORM = "Write MODULE:NAME or FILE.py:NAME."
_A_MODEL = "Name a module class, a module, or a function without arguments. Are the two names in the order of --help?"

if TYPE_CHECKING:
    from types import ModuleType

    import torch
    from torch.fx import GraphModule


def resolve(reference: str) -> Any:
    """The object that ``reference`` names; its module is imported, once.

    Raises ``UsageError`` where there is no such module or name, ``HarnessError`` where the module raises.
    """
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise UsageError(f"{reference!r} names no object.", _FORM)
    module = _of_file(Path(place).absolute()) if place.endswith(".py") else _of_name(place)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            known = [each for each in dir(value) if each[0] != "_"]
            remedy = nearest(part, known) or (f"It has {', '.join(known[:5])}." if known else "It defines nothing.")
            raise UsageError(f"{place} has no {name!r}.", remedy)
        value = getattr(value, part)
    return value


def _of_name(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        with running(name):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(f"There is no module {name!r}.", "Name a file as FILE.py:NAME.") from error
        raise _failed(name, error) from error
    except Exception as error:
        raise _failed(name, error) from error


def made_by(maker: Any) -> torch.nn.Module:
    """The module that ``maker`` is, or gives when it is called without arguments, its weights always the same."""
    import torch

    if isinstance(maker, torch.nn.Module):
        return maker
    torch.manual_seed(0)
    if callable(maker) and is_pass(maker):
        raise UsageError(f"{name_of(maker)} gives no module by itself: it must be given {_needed(maker)}.", _A_MODEL)
    with theirs(maker):
        made = maker() if callable(maker) else maker
    if not isinstance(made, torch.nn.Module):
        raise UsageError(f"{name_of(maker)} gives a {type(made).__name__}, no module.", _A_MODEL)
    return made


def applied(function: Any, module: torch.nn.Module) -> GraphModule:
    """What a pass makes of a copy of ``module``, which is traced if it is not a GraphModule."""
    from pyharness.fx.bisecting.passes import graph_module, passes_of

    run, given = passes_of([function])[0], graph_module(module)
    with theirs(function):
        return run(given)


def is_pass(function: Any) -> bool:
    """Whether it must be given something."""
    try:
        return bool(_required(function))
    except (TypeError, ValueError):
        return True


def _required(function: Any) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.default is each.empty and each.kind in {0, 1, 3}]


def _needed(function: Any) -> str:
    try:
        return ", ".join(_required(function))
    except (TypeError, ValueError):
        return "something"


@functools.cache
def _of_file(path: Path) -> ModuleType:
    if not path.is_file():
        check_link(path, str(path))
        raise UsageError(
            f"There is no file {str(path)!r}.",
            nearest(path.name, (each.name for each in path.parent.glob("*.py"))) or _FORM,
        )
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))  # as Python does for a script
    name = path.stem if path.stem not in sys.modules else f"_pyharness_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(path)!r} is not a Python file.", _FORM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with running(str(path)):
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failed(str(path), error) from error
    return module


def _failed(name: str, error: Exception) -> HarnessError:
    message = f"{name} cannot be imported: {type(error).__name__}: {error}"
    return HarnessError(message, "Python could not import it either: mend it first.")

"""Objects by name: ``package.module:name`` or ``path/to/file.py:name``."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError, UsageError, nearest

if TYPE_CHECKING:
    from types import ModuleType


def resolve(reference: str) -> Any:
    """The object that ``reference`` names; its module is imported, once.

    Raises ``UsageError`` where there is no such module or name, ``HarnessError`` where the module raises.
    """
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise UsageError(f"{reference!r} names no object.", "Write MODULE:NAME or FILE.py:NAME.")
    module = _of_file(Path(place).absolute()) if place.endswith(".py") else _of_name(place)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise UsageError(
                f"{place} has no {name!r}.", nearest(part, [each for each in dir(value) if each[0] != "_"])
            )
        value = getattr(value, part)
    return value


def _of_name(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(f"There is no module {name!r}.", "Name a file as FILE.py:NAME.") from error
        raise _failed(name, error) from error
    except Exception as error:
        raise _failed(name, error) from error


@functools.cache
def _of_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"There is no file {str(path)!r}.")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))  # as Python does for a script
    name = path.stem if path.stem not in sys.modules else f"_pyharness_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(path)!r} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failed(str(path), error) from error
    return module


def _failed(name: str, error: Exception) -> HarnessError:
    return HarnessError(f"{name} cannot be imported: {type(error).__name__}: {error}")

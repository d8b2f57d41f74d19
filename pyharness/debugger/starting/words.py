"""What a caller of the Python API gives: text, paths, flags, streams. What is none of these is refused by its name."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, TypeVar

from pyharness.model.errors import UsageError

Function = TypeVar("Function", bound="Callable[..., object] | None")
_OF_POPEN = (subprocess.PIPE, subprocess.DEVNULL)


def word(name: str, value: object) -> str:
    """Text, or a path as ``subprocess`` takes it; ``UsageError`` for anything else."""
    given = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(given, str):
        raise UsageError(f"{name} must be a string or a path, not {_said(value)}.", "Give it as text.")
    return given


def words(name: str, values: object) -> tuple[str, ...]:
    """Several of them."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a list of strings, not {_said(values)}.", f"Write {name}=[...].")
    return tuple(word(f"{name}[{index}]", value) for index, value in enumerate(values))


def environment(values: object) -> dict[str, str]:
    """Names and values of environment variables."""
    if not isinstance(values, Mapping):
        raise UsageError(f"env must be a mapping of strings, not {_said(values)}.", 'Write env={"NAME": "value"}.')
    return {word("A name in env", name): word(f"env[{name!r}]", value) for name, value in values.items()}


def flag(name: str, value: object) -> bool:
    """Whether something is wanted."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be True or False, not {_said(value)}.", f"Write {name}=True.")
    return value


def function(name: str, value: Function) -> Function:
    """What is called with something; ``None`` where nothing is."""
    if value is not None and not callable(value):
        raise UsageError(f"{name} must be a function or None, not {_said(value)}.", f"Write {name}=print.")
    return value


def stream(name: str, value: IO[Any] | int | None) -> IO[Any] | int | None:
    """Where a program's output goes, as ``subprocess.Popen`` takes it."""
    if value is None or (value in _OF_POPEN and not isinstance(value, bool)):
        return value
    try:
        descriptor(name, value if isinstance(value, int) else value.fileno())
    except (AttributeError, OSError, ValueError) as error:  # one that is closed, or a file in memory alone
        remedy = f"Write {name}=open(PATH, 'w'), or subprocess.DEVNULL."
        raise UsageError(f"{name} must be an open file with a descriptor, not {_said(value)}.", remedy) from error
    return value


def descriptors(name: str, values: object) -> tuple[int, ...]:
    """Open file descriptors."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a list of file descriptors, not {_said(values)}.", f"Write {name}=[...].")
    return tuple(descriptor(f"{name}[{index}]", value) for index, value in enumerate(values))


def descriptor(name: str, value: object) -> int:
    """One that is open."""
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            os.fstat(value)
            return value
    except (OSError, OverflowError):
        pass
    raise UsageError(f"{name} must be an open file descriptor, not {_said(value)}.", "Give what fileno() says.")


def _said(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} ({value!r})"

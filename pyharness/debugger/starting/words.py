"""What a caller of the Python API gives: text, paths, an environment. What is none of these is refused by its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from pyharness.model.errors import UsageError


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


def _said(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} ({value!r})"

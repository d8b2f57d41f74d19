"""Exceptions by name, for debugpy: a class that stands for all whose type, or a base of it, is called so."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Named(type):
    """The patterns are asked when an exception comes: its class need not exist when the breakpoint is set."""

    patterns: tuple[str, ...] = ()

    def __subclasscheck__(cls, exception: type) -> bool:
        names = [name for base in exception.__mro__ for name in _names(base)]
        return any(fnmatchcase(name, pattern) for name in names for pattern in cls.patterns)


def _names(kind: type) -> Iterator[str]:
    """What people call a class: its bare name, and with the module or a package above, as json.JSONDecodeError is."""
    yield kind.__name__
    yield kind.__qualname__
    module = kind.__module__ if isinstance(kind.__module__, str) else ""
    while module:
        yield f"{module}.{kind.__qualname__}"
        module = module.rpartition(".")[0]


def named(*patterns: str) -> type:
    """The class for names such as ``KeyError``, ``torch.OutOfMemoryError`` or ``mine.*``."""
    made = _Named("named", (), {})
    made.patterns = patterns
    return made

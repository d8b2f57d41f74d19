"""Exceptions by name, for debugpy: a class that stands for all whose type, or a base of it, is called so."""

from __future__ import annotations

from fnmatch import fnmatchcase


class _Named(type):
    """The patterns are asked when an exception comes: its class need not exist when the breakpoint is set."""

    patterns: tuple[str, ...] = ()

    def __subclasscheck__(cls, exception: type) -> bool:
        names = [
            name for base in exception.__mro__ for name in (base.__name__, f"{base.__module__}.{base.__qualname__}")
        ]
        return any(fnmatchcase(name, pattern) for name in names for pattern in cls.patterns)


def named(*patterns: str) -> type:
    """The class for names such as ``KeyError``, ``torch.OutOfMemoryError`` or ``mine.*``."""
    made = _Named("named", (), {})
    made.patterns = patterns
    return made

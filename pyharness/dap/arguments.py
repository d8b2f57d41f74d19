"""The arguments of a request, taken out by name and type: what a client got wrong is said to it in one sentence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyharness.dapwire.wire import Message

_REQUIRED = object()
_KINDS = {str: "a string", int: "an integer", bool: "true or false", list: "an array", dict: "an object"}


class Arguments:
    """A JSON object of the client's; every getter raises ``UsageError`` for a value of another type."""

    def __init__(self, request: str, values: Message) -> None:
        self.request = request
        self.values = values

    def text(self, name: str, default: Any = _REQUIRED) -> str:
        """A string."""
        value: str = self._typed(name, str, default)
        return value

    def path(self, name: str) -> str:
        """A string that can name a file. debugpy ends its connection when it looks for a file of another name."""
        path = self.text(name)
        try:
            possible = b"\0" not in os.fsencode(path)
        except UnicodeEncodeError:
            possible = False
        if not possible:
            raise UsageError(f"{self.request}: no file can be called {path!r}.")
        return path

    def integer(self, name: str, default: Any = _REQUIRED) -> int:
        """A number without a fraction."""
        value: int = self._typed(name, int, default)
        return value

    def number(self, name: str, default: float) -> float:
        """A number, with a fraction or without."""
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise UsageError(f"{self.request}: {name!r} must be a number.")
        return value

    def flag(self, name: str, *, default: Any = _REQUIRED) -> bool:
        """A truth value."""
        value: bool = self._typed(name, bool, default)
        return value

    def object(self, name: str, default: Any = _REQUIRED) -> Arguments:
        """An object."""
        return Arguments(f"{self.request}.{name}", self._typed(name, dict, default))

    def items(self, name: str) -> list[Any]:
        """An array of anything, empty where there is none."""
        values: list[Any] = self._typed(name, list, [])
        return values

    def objects(self, name: str) -> list[Arguments]:
        """An array of objects, empty where there is none."""
        return [Arguments(f"{self.request}.{name}", self._checked(name, each, dict)) for each in self.items(name)]

    def texts(self, name: str) -> list[str]:
        """An array of strings, empty where there is none."""
        return [self._checked(name, each, str) for each in self.items(name)]

    def known(self, names: Collection[str]) -> None:
        """Raise for a name that nobody reads: a typo must not be silently without effect."""
        for name in self.values:
            if name not in names and not name.startswith("__"):
                raise UsageError(f"{self.request}: there is no attribute {name!r}.", nearest(name, names))

    def _typed(self, name: str, kind: type, default: Any) -> Any:
        value = self.values.get(name)
        if value is None:
            if default is _REQUIRED:
                raise UsageError(f"{self.request}: {name!r} is missing.")
            return default
        return self._checked(name, value, kind)

    def _checked(self, name: str, value: Any, kind: type) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UsageError(f"{self.request}: {name!r} must be {_KINDS[kind]}.")
        return value

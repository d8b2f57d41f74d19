"""Reads TOML strictly: every key has its type, an unknown one is an error with its line and the nearest name."""

from __future__ import annotations

import importlib
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import UsageError, nearest
from pyharness.session.statements import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.session.statements import KeyPath

_toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")  # the same module, by two names
_EXAMPLE = "docs/sessions.md has a session to begin with."
_MOST_BYTES = 1 << 20


class Document:
    """A TOML file; ``name`` is how the user called it, for messages."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self.name = name
        try:
            self.root = Table(self, (), _toml.loads(text))
        except ValueError as error:  # TOMLDecodeError
            raise UsageError(f"{name} is not TOML: {error}", _EXAMPLE) from error
        except RecursionError as error:
            raise UsageError(f"{name} is nested too deeply to be read.", _EXAMPLE) from error

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        return lines_of(self._text, _toml.loads)

    def line_of(self, path: KeyPath) -> int:
        """1-based line of the statement that makes the value at ``path``; the last one where none does."""
        return self._lines.get(path) or max(1, len(self._text.splitlines()))

    def error(self, path: KeyPath, message: str, remedy: str = "") -> UsageError:
        """An error about the value at ``path``."""
        return UsageError(f"{self.name}:{self.line_of(path)}: {message}", remedy)


class Table:
    """A table of the file; what is never asked for is unknown, and ``done`` says so."""

    def __init__(self, document: Document, path: KeyPath, data: dict[str, Any]) -> None:
        self._document = document
        self._path = path
        self._data = data
        self._known: set[str] = set()

    @property
    def line(self) -> int:
        """Where it begins."""
        return self._document.line_of(self._path)

    def line_of(self, key: str) -> int:
        """Where the value of a key begins."""
        return self._document.line_of((*self._path, key))

    def error(self, key: str, message: str, remedy: str = "") -> UsageError:
        """An error about the value of a key."""
        return self._document.error((*self._path, key), message, remedy)

    def keys(self) -> list[str]:
        """The keys as written, in order."""
        return list(self._data)

    def text(self, key: str) -> str | None:
        """A string."""
        value: str | None = self._take(key, str, "a string")
        return value

    def number(self, key: str) -> int | None:
        """A whole number."""
        value: int | None = self._take(key, int, "a whole number")
        if isinstance(value, bool):
            raise self.error(key, f"{key} must be a whole number, not {str(value).lower()}.")
        return value

    def seconds(self, key: str) -> float | None:
        """A number, with a fraction or without."""
        value: float | None = self._take(key, (int, float), "a number of seconds")
        if isinstance(value, bool):
            raise self.error(key, f"{key} must be a number of seconds, not {str(value).lower()}.")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where it is not there."""
        return bool(self._take(key, bool, "true or false"))

    def texts(self, key: str) -> tuple[str, ...]:
        """A string, or a list of them."""
        value = self._take(key, (str, list), "a string or a list of strings")
        values = [value] if isinstance(value, str) else value or []
        if not all(isinstance(each, str) for each in values):
            raise self.error(key, f"{key} must be a list of strings.")
        return tuple(values)

    def mapping(self, key: str) -> dict[str, str]:
        """A table of strings."""
        value: dict[str, Any] = self._take(key, dict, "a table of strings") or {}
        for name, each in value.items():
            if not isinstance(each, str):
                raise self.error(key, f"{key}.{name} must be a string.")
            if _has_null([name, each]):
                raise self.error(key, f"{key}.{ascii(name)[1:-1]} has a null character.")
        return value

    def table(self, key: str) -> Table | None:
        """A table in this one."""
        value = self._take(key, dict, "a table")
        return None if value is None else Table(self._document, (*self._path, key), value)

    def tables(self, key: str) -> list[Table]:
        """A list of tables: ``[[key]]``."""
        value = self._take(key, list, f"a list of tables, [[{key}]]") or []
        if not all(isinstance(each, dict) for each in value):
            raise self.error(key, f"{key} must be a list of tables, [[{key}]].")
        return [Table(self._document, (*self._path, key, index), each) for index, each in enumerate(value)]

    def items(self, key: str) -> list[str | Table]:
        """A list of strings and tables."""
        value: list[Any] = self._take(key, list, "a list") or []
        return [self._item(key, index, each) for index, each in enumerate(value)]

    def done(self) -> None:
        """Everything known was asked for: what is left is a typo."""
        for key in self._data:
            if key not in self._known:
                raise self.error(key, f"there is no key {key!r} here.", _offer(key, self._known))

    def _item(self, key: str, index: int, value: Any) -> str | Table:
        if isinstance(value, dict):
            return Table(self._document, (*self._path, key, index), value)
        if not isinstance(value, str):
            raise self.error(key, f"{key} must be a list of strings and tables.")
        return value

    def _take(self, key: str, kind: type | tuple[type, ...], wanted: str) -> Any:
        self._known.add(key)
        value = self._data.get(key)
        if value is not None and not isinstance(value, kind):
            raise self.error(key, f"{key} must be {wanted}.")
        if _has_null(value):
            raise self.error(key, f"{key} has a null character.")
        return value


def _has_null(value: Any) -> bool:
    """Whether a string, or one of a list, has a character that no path, argument or variable of a process can have."""
    return any(isinstance(each, str) and "\0" in each for each in (value if isinstance(value, list) else [value]))


def read(file: str) -> Document:
    """The TOML file of that name; an error offers the names beside it."""
    path = Path(file)
    try:
        return Document(_text_of(path, file), file)
    except (FileNotFoundError, NotADirectoryError) as error:
        known = {entry.name: entry for entry in path.parent.glob("*.toml")}
        raise UsageError(f"There is no session file {file!r}.", nearest(path.name, known)) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{file} cannot be read: {reason}.", "Name a TOML file.") from error


def _text_of(path: Path, file: str) -> str:
    if path.is_dir():
        raise UsageError(f"{file} is a folder.", "Name a TOML file.")
    if path.exists() and not path.is_file():  # a device or a pipe would be read for ever
        raise UsageError(f"{file} is not a file.", "Name a TOML file.")
    with path.open("rb") as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{file} is larger than {_MOST_BYTES >> 20} MiB, which no session is.", "Name a session file.")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def _offer(key: str, known: Iterable[str]) -> str:
    known = sorted(known)
    return nearest(key, known) or f"Known here: {', '.join(known)}."

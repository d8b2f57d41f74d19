"""Paths of a client that sees other folders than the program: translated where messages come in and go out.

The attribute is debugpy's, ``pathMappings``: ``localRoot`` is a folder as the client has it, ``remoteRoot`` the same
one as the program has it, or as its debug information names it (a library that was built somewhere else).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.dap.arguments import Arguments
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST_REFERENCE = 1 << 30
"""debugpy numbers its sources from 1."""
_WINDOWS = re.compile(r"^([A-Za-z]:[\\/]|\\\\)")
_PATHS_OF_A_START = ("program", "cwd", "coreFile")


@dataclass(frozen=True)
class Root:
    """A folder as one side names it."""

    path: str

    @property
    def windows(self) -> bool:
        """Whether it is written as Windows has it."""
        return bool(_WINDOWS.match(self.path))

    def inside(self, path: str) -> list[str] | None:
        """The names from here to ``path``; ``None`` where it does not lie here."""
        if not self.windows and not path.startswith("/"):
            return None
        root, names = self._names(self.path), self._names(path)
        same = [name.lower() for name in names] if self.windows else names
        wanted = [name.lower() for name in root] if self.windows else root
        return names[len(root) :] if same[: len(root)] == wanted else None

    def join(self, names: Iterable[str]) -> str:
        """The path of what lies here under these names."""
        separator = "\\" if self.windows and "\\" in self.path else "/"
        return separator.join([self.path.rstrip("/\\"), *names]) or separator

    def _names(self, path: str) -> list[str]:
        return [name for name in (re.split(r"[\\/]", path) if self.windows else path.split("/")) if name]


class PathMappings:
    """All of a session's; without any, messages pass as they are."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = [(Root(local), Root(remote)) for local, remote in pairs]
        self._references: dict[str, int] = {}

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def given(self) -> list[dict[str, str]]:
        """The mappings as the client wrote them, for a session of a child."""
        return [{"localRoot": local.path, "remoteRoot": remote.path} for local, remote in self._pairs]

    def to_program(self, path: str) -> str:
        """A path of the client's as the program has it; the deepest root decides."""
        return _moved(path, [(local, remote) for local, remote in self._pairs]) or path

    def to_client(self, path: str) -> str:
        """A path of the program's as the client has it."""
        return _moved(path, [(remote, local) for local, remote in self._pairs]) or path

    def incoming(self, message: Any) -> Any:
        """The client's arguments, with every ``path`` as the program has it."""
        return _with_paths(message, self.to_program) if self._pairs else message

    def outgoing(self, message: Any) -> Any:
        """What the client is told, with every ``path`` as it has it; it must ask for the text of files it has not."""
        return self._shown(message) if self._pairs else message

    def file_of(self, reference: int) -> str:
        """The file that a reference was given for; empty for one of debugpy's."""
        return next((path for path, number in self._references.items() if number == reference), "")

    def start(self, arguments: Arguments) -> Arguments:
        """The arguments of a launch or an attach, with the paths in them as the program has them."""
        values = arguments.values
        moved = {name: self.to_program(values[name]) for name in _PATHS_OF_A_START if isinstance(values.get(name), str)}
        return Arguments(arguments.request, {**values, **moved})

    def _shown(self, message: Any) -> Any:
        if isinstance(message, list):
            return [self._shown(each) for each in message]
        if not isinstance(message, dict):
            return message
        told = {name: self._shown(value) for name, value in message.items()}
        path = message.get("path")
        if isinstance(path, str):
            told["path"] = self.to_client(path)
            if told["path"] == path and self._only_here(path) and not told.get("sourceReference") and "id" not in told:
                told["sourceReference"] = self._references.setdefault(path, _FIRST_REFERENCE + len(self._references))
        return told

    def _only_here(self, path: str) -> bool:
        return not any(remote.inside(path) is not None for _, remote in self._pairs) and Path(path).is_file()


def mappings_of(arguments: Arguments) -> PathMappings:
    """The mappings that a launch or an attach asks for; ``UsageError`` for what is none."""
    pairs = [(each.text("localRoot"), each.text("remoteRoot")) for each in arguments.objects("pathMappings")]
    for local, remote in pairs:
        for path in (local, remote):
            if not (path.startswith("/") or _WINDOWS.match(path)):
                raise UsageError(f"pathMappings: {path!r} is not an absolute path.", "Write both folders in full.")
    return PathMappings(pairs)


def _moved(path: str, pairs: list[tuple[Root, Root]]) -> str:
    found = [(names, there) for here, there in pairs if (names := here.inside(path)) is not None]
    if not found:
        return ""
    names, there = min(found, key=lambda each: len(each[0]))
    return there.join(names)


def _with_paths(message: Any, move: Any) -> Any:
    if isinstance(message, list):
        return [_with_paths(each, move) for each in message]
    if not isinstance(message, dict):
        return message
    return {
        name: move(value) if name == "path" and isinstance(value, str) else _with_paths(value, move)
        for name, value in message.items()
    }

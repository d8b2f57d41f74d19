"""JSON with comments and trailing commas, as in VS Code's files: read with positions, written as a person would."""

from __future__ import annotations

import json
import re
from dataclasses import field
from typing import Any

from pyharness.model.frozen import frozen

_SPACE = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_WORD = re.compile(r"[-+.\w]+")
_MOST_LEVELS = 200
_WIDTH = 120


class JsoncError(ValueError):
    """What is wrong, and where: ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {message}")


@frozen
class Node:
    """A value and where it stands: ``text[start:end]``."""

    value: Any
    """Plain data, what is inside of lists and objects too."""
    start: int
    end: int
    items: tuple[Node, ...] = ()
    members: dict[str, Node] = field(default_factory=dict)
    trailing_comma: bool = False


def parse(text: str) -> Node:
    """The one value of a file; ``JsoncError`` where it is none."""
    reader = _Reader(text)
    node = reader.value(reader.space(0), 0)
    rest = reader.space(node.end)
    if rest != len(text):
        raise JsoncError("something follows the end of the value", text, rest)
    return node


def loads(text: str) -> Any:
    """The data of a file; ``JsoncError`` where it is none."""
    return parse(text).value


def is_empty(text: str) -> bool:
    """Whether there is nothing but space and comments."""
    return _Reader(text).space(0) == len(text)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def space(self, at: int) -> int:
        """Where space and comments end."""
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int, level: int) -> Node:
        """The value that begins at ``at``."""
        first = self._text[at : at + 1]
        if level > _MOST_LEVELS:
            raise JsoncError("it is nested too deeply", self._text, at)
        if first == "{":
            return self._object(at, level)
        if first == "[":
            return self._array(at, level)
        found = _STRING.match(self._text, at) or _WORD.match(self._text, at)
        try:
            return Node(json.loads(found[0], strict=False) if found else _nothing(), at, found.end() if found else at)
        except ValueError:
            what = found[0][:40] if found else first or "the end of the file"
            raise JsoncError(f"a value is expected, not {what}", self._text, at) from None

    def _object(self, start: int, level: int) -> Node:
        members: dict[str, Node] = {}
        at, comma = self.space(start + 1), False
        while self._text[at : at + 1] != "}":
            self._expect_comma(at, needed=bool(members) and not comma)
            key = _STRING.match(self._text, at)
            if key is None:
                raise JsoncError("a name in double quotes is expected", self._text, at)
            colon = self.space(key.end())
            if self._text[colon : colon + 1] != ":":
                raise JsoncError("':' is expected", self._text, colon)
            node = self.value(self.space(colon + 1), level + 1)
            members[json.loads(key[0], strict=False)] = node
            at, comma = self._behind_comma(node.end)
        value = {name: node.value for name, node in members.items()}
        return Node(value, start, at + 1, members=members, trailing_comma=comma)

    def _array(self, start: int, level: int) -> Node:
        items: list[Node] = []
        at, comma = self.space(start + 1), False
        while self._text[at : at + 1] != "]":
            self._expect_comma(at, needed=bool(items) and not comma)
            items.append(self.value(at, level + 1))
            at, comma = self._behind_comma(items[-1].end)
        return Node([node.value for node in items], start, at + 1, items=tuple(items), trailing_comma=comma)

    def _behind_comma(self, at: int) -> tuple[int, bool]:
        at = self.space(at)
        comma = self._text[at : at + 1] == ","
        return (self.space(at + 1) if comma else at), comma

    def _expect_comma(self, at: int, *, needed: bool) -> None:
        if needed:
            raise JsoncError("',' is expected", self._text, at)


def _nothing() -> Any:
    raise ValueError


def dumps(value: Any, indent: str = "  ", margin: str = "", before: int = 0) -> str:
    """JSON as a person writes it: what fits into a line, behind ``before`` characters of it, is one."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(margin.expandtabs(4)) + before + len(line) < _WIDTH:
        return line
    keys = (
        [f"{json.dumps(key, ensure_ascii=False)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    )
    items = zip(keys, value.values() if isinstance(value, dict) else value, strict=True)
    inner = margin + indent
    lines = ",\n".join(f"{inner}{key}{dumps(item, indent, inner, len(key))}" for key, item in items)
    return f"{line[0]}\n{lines}\n{margin}{line[-1]}"

"""What a C++ file defines: functions with their parameters, and blocks such as ``TORCH_LIBRARY``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.project.reading.cxx_tokens import Tokens, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.project.reading.cxx_tokens import Token

_NO_FUNCTION = {"if", "for", "while", "switch", "catch", "return", "sizeof", "do", "else"}
_PASSED_OVER = {"__attribute__", "alignas", "decltype", "noexcept", "__declspec", "requires", "explicit"}
_CLASSES = {"class", "struct", "union"}
_BLOCKS = ("TORCH_LIBRARY", "PYBIND11_MODULE", "NB_MODULE")
_QUALIFIERS = {"const", "volatile", "&", "*", "&&", "typename", "struct", "class"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: its type as written, without spaces, and its name, empty where it has none."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A definition."""

    name: str
    """With the namespaces and classes around it."""
    line: int
    """The line of the function's name."""
    body_line: int
    """The line of the first statement."""
    parameters: tuple[Parameter, ...]
    start: int
    end: int
    """The end of the body's tokens, which begin at ``start``."""


@dataclass(frozen=True)
class Block:
    """A registration macro with a body: its name, its arguments, and the body's tokens."""

    macro: str
    arguments: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class CxxFile:
    """What is in one source file."""

    tokens: Tokens
    functions: tuple[Function, ...]
    blocks: tuple[Block, ...]


def read(text: str) -> CxxFile:
    """The definitions of a source file, as far as they can be read without its headers."""
    tokens = tokens_of(text)
    found = list(_Scan(tokens).definitions(0, len(tokens.items), ()))
    return CxxFile(
        tokens,
        tuple(one for one in found if isinstance(one, Function)),
        tuple(one for one in found if isinstance(one, Block)),
    )


def split(tokens: Tokens, start: int, end: int) -> list[tuple[int, int]]:
    """Token ranges between commas; commas in brackets of any kind do not count."""
    ranges, index, begin, depth = [], start, start, 0
    while index < end:
        text = tokens.items[index].text if tokens.items[index].kind == "punctuation" else ""
        if text and text in "([{":
            index = tokens.partner.get(index, index)
        elif text == "<":
            depth += 1
        elif text == ">":
            depth = max(0, depth - 1)
        elif text == "," and not depth:
            ranges.append((begin, index))
            begin = index + 1
        index += 1
    return [*ranges, (begin, end)] if begin < end else ranges


def before_angles(tokens: Tokens, index: int, start: int) -> int:
    """Where the name stands whose template arguments end at ``index``; ``index`` itself where none do."""
    depth = 0
    while index > start and (depth or tokens.items[index].text == ">"):
        depth += {">": 1, "<": -1}.get(tokens.items[index].text, 0)
        index -= 1
    return index


def parameters(tokens: Tokens, bracket: int) -> tuple[Parameter, ...]:
    """The parameters of a function or a lambda, behind the bracket that opens them."""
    inside = split(tokens, bracket + 1, tokens.partner.get(bracket, bracket + 1))
    found = (_parameter(tokens, *one) for one in inside)
    return tuple(one for one in found if one.type != "void")


def _parameter(tokens: Tokens, start: int, end: int) -> Parameter:
    texts = tokens.texts(start, end)
    if "=" in texts:
        end = start + texts.index("=")
    items = tokens.items
    last = items[end - 1] if end > start else None
    words = [token for token in items[start:end] if token.text not in _QUALIFIERS]
    named = last is not None and last.kind == "name" and len(words) > 1 and items[end - 2].text != "::"
    return Parameter(_type(items[start : end - named]), last.text if named and last else "")


def _type(items: Sequence[Token]) -> str:
    """The type as it is written, without qualifiers, and with spaces only where words would run together."""
    kind, before = "", ""
    for token in items:
        if token.text not in _QUALIFIERS:
            kind += f" {token.text}" if before == token.kind == "name" else token.text
            before = token.kind
    return kind


class _Scan:
    """Goes through a file's declarations, into namespaces and classes, not into functions."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._items = tokens.items

    def definitions(self, index: int, end: int, scope: tuple[str, ...]) -> Iterator[Function | Block]:
        """In their order."""
        start = index
        while index < end:
            token = self._items[index]
            if token.kind == "punctuation" and token.text == ";":
                start = index + 1
            elif token.kind == "punctuation" and token.text in "([":
                index = self._tokens.partner.get(index, index)
            elif token.kind == "punctuation" and token.text == "{":
                close = self._tokens.partner.get(index, end)
                yield from self._braced(start, index, close, scope)
                start, index = close + 1, close
            index += 1

    def _braced(self, start: int, brace: int, close: int, scope: tuple[str, ...]) -> Iterator[Function | Block]:
        start = self._behind_template(start, brace)
        header = self._items[start:brace]
        words = [token.text for token in header]
        if "namespace" in words[:2]:
            names = tuple(token.text for token in header if token.kind == "name" and token.text not in _NAMESPACE)
            yield from self.definitions(brace + 1, close, (*scope, *names))
        elif words[:1] == ["extern"] and len(words) == 2:
            yield from self.definitions(brace + 1, close, scope)
        elif (at := self._parameters(start, brace)) is not None:
            yield from self._callable(start, at, brace, close, scope)
        elif _CLASSES & set(words):
            yield from self._class(header, brace, close, scope)

    def _behind_template(self, start: int, end: int) -> int:
        while start < end and self._items[start].text == "template":
            depth, start = 0, start + 1
            while start < end:
                depth += {"<": 1, ">": -1}.get(self._items[start].text, 0)
                start += 1
                if depth <= 0:
                    break
        return start

    def _parameters(self, start: int, brace: int) -> int | None:
        """Index of the bracket that opens a function's parameters."""
        index = start
        while index < brace:
            text = self._items[index].text
            if text == "=" and "operator" not in self._tokens.texts(start, index):
                return None
            if text == "(" and index > start:
                if self._items[index - 1].text not in _PASSED_OVER:
                    return index
                index = self._tokens.partner.get(index, index)
            index += 1
        return None

    def _callable(
        self, start: int, at: int, brace: int, close: int, scope: tuple[str, ...]
    ) -> Iterator[Function | Block]:
        name, line = self._name(start, at)
        if any(block in name for block in _BLOCKS):
            inside = split(self._tokens, at + 1, self._tokens.partner.get(at, brace))
            yield Block(name, tuple("".join(self._tokens.texts(*one)) for one in inside), brace + 1, close)
        elif name and name not in _NO_FUNCTION:
            body = self._items[brace + 1].line if brace + 1 < close else self._items[brace].line
            yield Function("::".join((*scope, name)), line, body, parameters(self._tokens, at), brace + 1, close)

    def _name(self, start: int, at: int) -> tuple[str, int]:
        """The qualified name that ends before ``at``, without template arguments."""
        parts: list[str] = []
        index = at - 1
        while index >= start:
            index = before_angles(self._tokens, index, start)
            if self._items[index].kind != "name":
                break
            parts.insert(0, self._items[index].text)
            if index - 1 < start or self._items[index - 1].text != "::":
                break
            index -= 2
        return "::".join(parts), self._items[max(at - 1, start)].line

    def _class(
        self, header: Sequence[Token], brace: int, close: int, scope: tuple[str, ...]
    ) -> Iterator[Function | Block]:
        words = [token.text for token in header]
        name_end = words.index(":") if ":" in words else len(words)
        names = [token.text for token in header[:name_end] if token.kind == "name" and token.text != "final"]
        yield from self.definitions(brace + 1, close, (*scope, names[-1] if names else ""))


_NAMESPACE = {"namespace", "inline"}

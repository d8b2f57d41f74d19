"""C++ as tokens with their lines: no comments, whole strings, of `#if ... #else` the side of a CPU build."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["name", "string", "number", "punctuation"]
_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))
      | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"?)
      | (?P<character>'(?:\\.|[^'\\\n])*')
      | (?P<directive>^[ \t]*\#(?:\\\r?\n|[^\n])*)
      | (?P<number>\d(?:'?[\w.])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<punctuation>::|->|\S)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DIRECTIVE = re.compile(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)", re.DOTALL)
_OTHER_MACHINE = re.compile(r"CUDA|HIP|ROCM|SYCL|XPU|_MPS|_WIN32|_MSC_VER|__APPLE__|WITH_GPU")
_LITERALS = {"string", "raw", "mark"}
_PLAIN: dict[str | None, Kind] = {"name": "name", "number": "number", "punctuation": "punctuation"}
_CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True)
class Token:
    """A piece of a source file; ``text`` of a string is what is in it."""

    kind: Kind
    text: str
    line: int


@dataclass(frozen=True)
class Tokens:
    """A file's tokens, and for each bracket the index of its partner."""

    items: Sequence[Token]
    partner: dict[int, int]

    def texts(self, start: int, end: int) -> list[str]:
        """What stands between two indices."""
        return [token.text for token in self.items[start:end]]


def tokens_of(text: str) -> Tokens:
    """The tokens of a C++ or CUDA source."""
    items = list(_chosen(list(_raw(text))))
    return Tokens(items, _partners(items))


def _raw(text: str) -> Iterator[Token | re.Match[str]]:
    """Tokens, and the matches of those directives that choose between lines."""
    line, before = 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", before, found.start())
        before = found.start()
        kind, piece = found.lastgroup, found[0]
        if kind == "directive" and (directive := _DIRECTIVE.match(piece)):
            yield directive
        elif kind in _LITERALS:
            yield Token("string", _content(piece), line)
        elif kind in _PLAIN:
            yield Token(_PLAIN[kind], piece, line)


def _content(piece: str) -> str:
    """What a string literal means; what is no valid one stays as it is written."""
    if "R" in piece.partition('"')[0]:
        mark = piece.partition("(")[0].partition('"')[2]
        return piece.partition("(")[2].removesuffix(f'){mark}"')
    plain = piece[piece.index('"') :]
    try:
        return str(ast.literal_eval(plain.replace("\\\n", "")))
    except (SyntaxError, ValueError):
        return plain.strip('"')


def _chosen(pieces: list[Token | re.Match[str]]) -> Iterator[Token]:
    """The tokens that are compiled, as far as it can be told: with an ``#else`` there is one side only."""
    with_else = _with_else(pieces)
    taken: list[tuple[bool, bool]] = []  # of each open #if: whether this side counts, whether one did already
    for index, piece in enumerate(pieces):
        if isinstance(piece, Token):
            if all(now for now, _ in taken):
                yield piece
            continue
        word, condition = piece[1], piece[2].strip()
        if word.startswith("if"):
            now = _holds(word, condition, has_else=index in with_else)
            taken.append((now, now))
        elif word == "endif":
            if taken:
                taken.pop()
        elif taken:
            done = taken.pop()[1]
            taken.append((not done, True))


def _with_else(pieces: list[Token | re.Match[str]]) -> set[int]:
    """Indices of each ``#if`` that has another side."""
    open_ifs: list[int] = []
    found = set()
    for index, piece in enumerate(pieces):
        if isinstance(piece, Token):
            continue
        if piece[1].startswith("if"):
            open_ifs.append(index)
        elif open_ifs and piece[1] == "endif":
            open_ifs.pop()
        elif open_ifs:
            found.add(open_ifs[-1])
    return found


def _holds(word: str, condition: str, *, has_else: bool) -> bool:
    if condition == "0":
        return False
    if not has_else or not _OTHER_MACHINE.search(condition):
        return True
    return word == "ifndef" or condition.startswith("!")


def _partners(items: Sequence[Token]) -> dict[int, int]:
    """Brackets that belong together; one without a partner is left out."""
    partner: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(items):
        if token.kind != "punctuation":
            continue
        if token.text in "([{":
            waiting.append(index)
        elif token.text in _CLOSING:
            opener = _CLOSING[token.text]
            at = next(
                (number for number in reversed(range(len(waiting))) if items[waiting[number]].text == opener), None
            )
            if at is not None:
                partner[waiting[at]], partner[index] = index, waiting[at]
                del waiting[at:]
    return partner

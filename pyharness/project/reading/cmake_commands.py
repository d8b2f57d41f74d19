"""The commands of a CMakeLists.txt, as its language reference has them: comments, quoting, bracket arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<bracket_comment>\#\[(?P<c>=*)\[.*?\](?P=c)\])
      | (?P<comment>\#[^\n]*)
      | (?P<bracket>\[(?P<b>=*)\[\n?(?P<inside>.*?)\](?P=b)\])
      | (?P<quoted>"(?P<text>(?:\\.|[^"\\])*)")
      | (?P<parenthesis>[()])
      | (?P<word>(?:\\.|\$\{[^}]*\}|[^\s()\#"\\])+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Command:
    """``name(arguments)``; the name in small letters, as CMake reads it."""

    name: str
    arguments: tuple[str, ...]


def commands(text: str) -> Iterator[Command]:
    """Every command in order, those in branches too; an unfinished one at the end is left out."""
    before, name, depth = "", "", 0
    arguments: list[str] = []
    for found in _TOKEN.finditer(text):
        kind, piece = found.lastgroup, found[0]
        if piece.startswith("#") and kind not in {"text", "quoted", "word", "inside"}:
            continue
        if piece == "(" and not found["quoted"]:
            if depth == 0:
                name, arguments = before.lower(), []
            depth += 1
        elif piece == ")" and not found["quoted"]:
            depth = max(0, depth - 1)
            if depth == 0 and name:
                yield Command(name, tuple(arguments))
                name = ""
        elif depth:
            arguments.append(found["inside"] if found["bracket"] else found["text"] if found["quoted"] else piece)
        else:
            before = piece

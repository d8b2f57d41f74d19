"""The fenced blocks of README and docs, and the commands that they show with what those print."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kit.paths import ROOT

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\s*$")
_COMMENT = re.compile(r"<!--\s*(?P<what>not run|exit status):?\s*(?P<value>.*?)\s*-->", re.DOTALL)
_GDB = "(gdb) "
_PROMPTS = (_GDB, "(ph) ")
_GENERATED = ("docs/reference/",)
"""Written from the code, which has tests of its own."""


@dataclass(frozen=True)
class Block:
    """A fenced block; ``not_run`` says why its commands are not for a test, in a comment before it."""

    page: str
    line: int
    """Of its first line of text."""
    language: str
    text: str
    not_run: str = ""
    status: int = 0
    """What its commands exit with: ``<!-- exit status 1 -->`` before it, if not with 0."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A line with a prompt, and what is shown below it."""

    block: Block
    line: int
    text: str
    shown: tuple[str, ...]
    typed: tuple[str, ...]
    """What is typed at a prompt, gdb's or ours."""

    @property
    def input(self) -> str:
        """What is typed, as it comes through a pipe."""
        return "".join(f"{line}\n" for line in self.typed)

    def __str__(self) -> str:
        return f"{self.block.page}:{self.line}"


def pages() -> list[Path]:
    """README, CONTRIBUTING, CHANGELOG and every page of docs that a person wrote."""
    found = [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    return [page for page in found if not str(page.relative_to(ROOT)).startswith(_GENERATED)]


def blocks(*languages: str) -> list[Block]:
    """All blocks in one of these languages, page by page."""
    return [block for page in pages() for block in _blocks(page) if block.language in languages]


def commands() -> list[Command]:
    """All commands of all ``console`` blocks."""
    return [command for block in blocks("console") for command in _commands(block)]


def _blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    name, begin, opening = str(page.relative_to(ROOT)), 0, None
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if opening is None and fence:
            begin, opening = number, fence
        elif opening is not None and line.strip() == "```":
            said = _said(lines[: begin - 1])
            text = "\n".join(each[len(opening["indent"]) :] for each in lines[begin : number - 1])
            status = int(said.get("exit status", "0"))
            yield Block(name, begin + 1, opening["language"], text, said.get("not run", ""), status)
            opening = None


def _said(before: list[str]) -> dict[str, str]:
    """What comments right before a block say of it."""
    said: dict[str, str] = {}
    text = "\n".join(before).rstrip()
    while text.endswith("-->"):
        begin = text.rindex("<!--")
        if found := _COMMENT.fullmatch(text[begin:]):
            said[found["what"]] = " ".join(found["value"].split())
        text = text[:begin].rstrip()
    return said


def _commands(block: Block) -> Iterator[Command]:
    lines = block.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in itertools.pairwise([*starts, len(lines)]):
        last = start
        while lines[last].endswith("\\"):
            last += 1
        text = "\n".join([lines[start][2:], *lines[start + 1 : last + 1]])
        rest = lines[last + 1 : end]
        typed = tuple(line.partition(" ")[2] for line in rest if line.startswith(_PROMPTS))
        shown = tuple(line for line in rest if not line.startswith(_GDB))  # ours shows what it reads from a pipe
        yield Command(block, block.line + start, text, shown, typed)

"""The command that explains the others."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pyharness.model.text.styled_line import Line, in_parts
from pyharness.model.where import SHAPES
from pyharness.prompt.registry import ABOUT, COMMANDS, found
from pyharness.prompt.registry import command as registered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.prompt.registry import Command
    from pyharness.prompt.session import Session

_COLUMNS = 80
_MOST_USAGE = 24


@registered("help", "h", "?", about="the session", takes="[WORD]", needs="nothing")
def help_(session: Session, rest: str) -> None:
    """List the commands, or explain one; `help places` shows how a place is written."""
    columns = session.screen.columns() or _COLUMNS
    if rest in {"places", "where", "WHERE"}:
        session.screen.write_lines(in_parts((f"  {shape:<22}", "place"), (means, "")) for shape, means in SHAPES)
    elif rest:
        session.screen.write_lines(_of_one(found(rest)[0], columns))
    else:
        session.screen.write_lines(_of_all(columns))


def _of_one(command: Command, columns: int) -> Iterator[Line]:
    yield Line(command.usage, "heading")
    for part in command.text.split("\n\n"):
        yield from map(Line, textwrap.wrap(" ".join(part.split()), max(20, columns - 1)))
    if command.repeats:
        yield Line("An empty line does it again.", "faint")
    if command.note:
        yield from (Line(each, "faint") for each in textwrap.wrap(f"{command.note}.", max(20, columns - 1)))


def _of_all(columns: int) -> Iterator[Line]:
    for heading in ABOUT:
        yield Line(heading, "heading")
        for command in COMMANDS.values():
            if command.about == heading:
                yield from _row(command, columns)
    yield Line("The beginning of a name does where no other begins so. An empty line repeats a step.", "faint")


def _row(command: Command, columns: int) -> Iterator[Line]:
    others = [each for each in command.names[1:] if len(each) < 4][:2]
    usage = f"{command.name}{''.join(f', {each}' for each in others)}"
    room = max(20, columns - _MOST_USAGE - 3)
    first, *more = textwrap.wrap(command.summary, room) or [""]
    yield in_parts((f"  {usage:<{_MOST_USAGE}}", "place"), (first, ""))
    for line in more:
        yield Line(f"  {'':<{_MOST_USAGE}}{line}")

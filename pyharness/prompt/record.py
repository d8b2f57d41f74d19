"""What was done at the prompt, kept so that it can be written as a session file that checks itself."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.starting.launch import Command
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.source_line import source_line
from pyharness.model.transcript import without_addresses
from pyharness.model.where import Where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.debugger.action import Request
    from pyharness.model.stops import Stop
    from pyharness.prompt.plan import Plan
    from pyharness.prompt.points import Point

HEADING = "# Saved by `save` at the prompt; `pyharness session run` plays it, and checks what was seen."
"""The first line of each file that is saved: what another begins with is not replaced."""
_LONGEST = 200
"""Characters of a value that is expected again."""
_CHANGES = "`run` begins anew: what is done from then on can be saved."
_MEANT = re.compile(r"[.^$*+?{}\[\]\\|()]")
_CHANGING = re.compile(r"0x…|\bat 0x|\d{5,}")
"""What a value has that is another in each run: addresses, ids of processes and threads."""


@dataclass
class _Step:
    """One way to a stop, and what was looked at there."""

    moves: str
    """A line of TOML."""
    stop: Stop | None
    """``None`` where the program ended."""
    prints: dict[str, str] = field(default_factory=dict)


class Record:
    """What was done with one program, from its start."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._logs: dict[str, str] = {}
        """The messages of log points, by their places."""
        self._cannot = ""
        """The first command that a session file has no step for."""
        self._exit_code: int | None = None

    def begin(self) -> None:
        """Another program begins."""
        self.__init__()  # type: ignore[misc]

    @property
    def length(self) -> int:
        """How many steps it has."""
        return len(self._steps)

    def moved(self, request: Request, stop: Stop | None, point: Point | None) -> None:
        """The program went on, and stopped at ``point`` or by a step."""
        place = point.breakpoint.where if point else None
        if point and point.breakpoint.where.hits and point.since != self.length:
            self.cannot("a place with `hits` that the program had passed")  # a session file would count from here
        if stop is not None and stop.condition_failed:
            self.cannot("a condition that fails")
        if stop is not None and stop.reason in {"exception", "pause", "data breakpoint", "goto"}:
            self.cannot(f"a stop by {stop.reason}")
        if stop is not None and place is not None and stop.reason == "breakpoint":
            if stop.frame.fx and place.kind == "py":  # the file of generated code is named by its content
                place = Where("fx", stop.frame.fx.node, condition=place.condition, hits=place.hits)
            self._steps.append(_Step(f"at = {_text(place.written)}", stop))
        elif request in {"instruction", "into_instruction"}:
            self.cannot("a step of one instruction")
        elif stop is not None or request != "continue":
            self._steps.append(_Step(f"{request} = true", stop))

    def printed(self, expression: str, value: str) -> None:
        """A value was shown where the program stands."""
        if self._steps:
            self._steps[-1].prints[expression] = value

    def logged(self, where: Where, message: str) -> None:
        """A log point was set: played, it logs from the program's start."""
        self._logs[where.written] = message

    def ended(self, exit_code: int | None) -> None:
        """The program is over."""
        self._exit_code = exit_code

    def cannot(self, what: str) -> None:
        """Something was done that a session file has no step for."""
        self._cannot = self._cannot or what

    @contextmanager
    def cannot_unless_it_fails(self, what: str) -> Iterator[None]:
        """Something is done that a session file has no step for; what fails is left out."""
        before = self._cannot
        self.cannot(what)
        try:
            yield
        except HarnessError:
            self._cannot = before
            raise

    def lines(self, plan: Plan) -> Iterator[str]:
        """The session file; ``UsageError`` where what was done has no steps."""
        if not isinstance(plan.target, Command):
            raise UsageError("A session file starts its program: this one was not started here.", "")
        if self._cannot:
            raise UsageError(f"A session file has no step for {self._cannot}.", _CHANGES)
        if not self._steps:
            raise UsageError("Nothing was done yet that could be saved.", "Step, or run to a place, first.")
        yield HEADING
        yield from _program(plan, plan.target)
        if self._exit_code is None:
            yield "kill = true"
        else:
            yield f"exit_code = {self._exit_code}"
        for place, message in self._logs.items():
            yield from ("", "[[log]]", f"at = {_text(place)}", f"message = {_text(message)}")
        for step in self._steps:
            yield ""
            yield from _step(step)


def _program(plan: Plan, target: Command) -> Iterator[str]:
    if plan.eval_timeout != type(plan).eval_timeout:
        yield f"eval_timeout = {plan.eval_timeout:g}"
        yield ""
    yield "[program]"
    script = target.script if target.module else str(Path(target.cwd or ".", target.script).absolute())
    yield f"{'module' if target.module else 'script'} = {_text(script)}"
    if target.arguments:
        yield f"args = {_texts(list(target.arguments))}"
    if target.python:
        yield f"python = {_text(target.python)}"
    yield f"cwd = {_text(str(Path(target.cwd or '.').absolute()))}"
    if plan.include:
        yield f"include = {_texts(list(plan.include))}"
    if target.debug_kernels:
        yield "debug_kernels = true"
    if target.overwritten:
        yield "overwritten = true"


def _step(step: _Step) -> Iterator[str]:
    yield "[[step]]"
    yield step.moves
    if step.prints:
        yield f"print = {_texts(list(step.prints))}"
    if step.stop is None:
        yield 'expect.reason = "ended"'
        return
    frame = step.stop.frame
    yield f"expect.reason = {_text(step.stop.reason)}"
    yield f"expect.language = {_text(frame.language)}"
    yield f"expect.function = {_text(frame.function)}"
    if frame.fx:
        yield f"expect.fx.node = {_text(frame.fx.node)}"
    if text := source_line(frame.file, frame.line):
        yield f"expect.source = {_text(_escaped(text))}"
    for expression, value in step.prints.items():
        if _is_steady(value):
            yield f"expect.printed.{_text(expression)} = {_text(f'^{_escaped(value)}$')}"


def _is_steady(value: str) -> bool:
    """Whether a value may be expected to be the same in each run."""
    return len(value) <= _LONGEST and "\n" not in value and not _CHANGING.search(without_addresses(value))


def _escaped(text: str) -> str:
    """A pattern of nothing but this text; blanks need no care."""
    return _MEANT.sub(r"\\\g<0>", text)


def _text(text: str) -> str:
    """A string of TOML: as it is between single quotes, else as JSON has it, whose strings TOML reads."""
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _texts(texts: list[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"

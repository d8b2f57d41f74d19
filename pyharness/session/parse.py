"""A session file becomes a plan: pure but for the look whether the files that it names are there."""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debugger.starting.job import JobCommand
from pyharness.debugger.starting.launch import Command
from pyharness.host.visible import is_file
from pyharness.model.element import parse as parse_element
from pyharness.model.errors import UsageError, nearest
from pyharness.model.evaluation import EVAL_TIMEOUT, checked_timeout
from pyharness.model.ranks.named import named_ranks
from pyharness.model.where import folders_of
from pyharness.model.where import parse as parse_where
from pyharness.session import document
from pyharness.session.expect import FRAME_KEYS, PATTERNS, STOP_KEYS
from pyharness.session.plan import MOVES, Expectation, LogPoint, Plan, Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.element import Element
    from pyharness.model.where import Where
    from pyharness.session.document import Table
    from pyharness.session.plan import Move

REASONS = ("breakpoint", "step", "signal", "exception", "entry", "ended")
LANGUAGES = ("python", "native")
_NAMING: tuple[Move, ...] = ("at", "element")
"""Moves that name where they go to; the others are true or false."""
_EXIT_CODES = range(-signal.SIGRTMAX, 256)
"""Exit codes below 0 stand for signals."""
_CHOICES = {"reason": REASONS, "language": LANGUAGES}


def plan_of(file: str) -> Plan:
    """The plan in a session file; ``UsageError`` names the line of what is wrong with it."""
    root = document.read(file).root
    program = root.table("program")
    if program is None:
        raise UsageError(f"{file} has no [program] table.", 'Say what to run: [program], script = "train.py".')
    folder = Path(file).absolute().parent
    exit_code, kill = _end(program)
    exit_code_line = program.line_of("exit_code") if exit_code is not None else 0
    include, started = program.texts("include"), _ranks(program)
    target, eval_timeout = _target(program, folder), _eval_timeout(root)
    steps = _steps(root.tables("step"), Path(file), target)
    logs = tuple(_log_point(table, Path(file), target) for table in root.tables("log"))
    full = root.flag("full")
    root.done()
    return Plan(
        target,
        steps,
        logs,
        full,
        kill,
        exit_code,
        exit_code_line,
        expecting=True,
        include=include,
        eval_timeout=eval_timeout,
        job=_job(target, started),
    )


def _ranks(program: Table) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
    """What starts the job, and the ranks in which the steps are taken; ``None`` for a program alone."""
    words, ranks = program.texts("job"), program.text("ranks")
    if ranks is None:
        if words:
            raise program.error("job", "job needs ranks: in which are the steps taken?", 'ranks = "all"')
        return None
    if len(words) == 1 and len(one := words[0].split()) > 1:
        raise program.error("job", "job is a list of words.", f"job = {json.dumps(one)}")
    for key in sorted({"python", "debug_kernels", "overwritten"}.intersection(program.keys())):
        raise program.error(key, f"ranks take no {key}.", "job names what starts them, with its interpreter.")
    try:
        return words, named_ranks(ranks)
    except UsageError as error:
        raise program.error("ranks", error.message, error.remedy) from error


def _job(target: Command, started: tuple[tuple[str, ...], tuple[int, ...]] | None) -> JobCommand | None:
    if started is None:
        return None
    words, ranks = started
    script = ("-m", target.script) if target.module else (target.script,)
    return JobCommand((*words, *script, *target.arguments), ranks, cwd=target.cwd, env=target.env)


def _end(program: Table) -> tuple[int | None, bool]:
    """The exit code that is expected, and whether the program is ended after the last step."""
    exit_code, kill = program.number("exit_code"), program.flag("kill")
    if exit_code is not None and exit_code not in _EXIT_CODES:
        raise program.error("exit_code", f"No program ends with {exit_code}.", "Write 0 to 255, or -11 for SIGSEGV.")
    if exit_code is not None and kill and exit_code != -signal.SIGKILL:
        raise program.error("exit_code", "kill ends the program: it returns no exit code.", "Take one of the two out.")
    return exit_code, kill


def _log_point(table: Table, file: Path, target: Command) -> LogPoint:
    message = table.text("message") or ""
    where = _where(table, file, target)
    table.done()
    try:
        return LogPoint(where, message)
    except UsageError as error:
        raise table.error("message", error.message, error.remedy) from error


def _eval_timeout(root: Table) -> float:
    seconds = root.seconds("eval_timeout")
    try:
        return EVAL_TIMEOUT if seconds is None else checked_timeout(seconds)
    except UsageError as error:
        raise root.error("eval_timeout", error.message, error.remedy) from error


def _target(program: Table, folder: Path) -> Command:
    script, module, cwd = program.text("script"), program.text("module"), program.text("cwd")
    target = Command(
        script=module or _beside(folder, script or ""),
        arguments=program.texts("args"),
        module=module is not None,
        python=program.text("python") or "",
        cwd=os.path.normpath(folder / (cwd or "")),
        env=program.mapping("env"),
        debug_kernels=program.flag("debug_kernels"),
        overwritten=program.flag("overwritten"),
    )
    program.done()
    if (script is None) == (module is None):
        raise program.error("script", "[program] takes script or module, one of them.")
    if not (script or module or "").strip():
        key = "script" if module is None else "module"
        raise program.error(key, f"{key} names nothing.")
    return target


def _beside(folder: Path, script: str) -> str:
    """A script is named relative to the session file, or else to where the command runs."""
    here = Path(script).absolute()
    return os.path.normpath(here if is_file(here) and not is_file(folder / script) else folder / script)


# --- steps ------------------------------------------------------------------------------------------------------------


def _steps(tables: list[Table], file: Path, target: Command) -> tuple[Step, ...]:
    steps: list[Step] = []
    for number, table in enumerate(tables, 1):
        move = _move(table)
        if move:
            where = _where(table, file, target) if move == "at" else None
            element = _element(table) if move == "element" else None
            steps.append(Step(move, f"step {number} ({move})", where, element))
        elif not steps:
            raise table.error(table.keys()[0], "the program stands nowhere yet.", f"Move first: {', '.join(MOVES)}.")
        steps[-1] = _asked(steps[-1], table, number)
        table.done()
    return tuple(steps)


def _move(table: Table) -> Move | None:
    """The one move of a step, or ``None`` for a further look at the latest stop."""
    moves: list[Move] = [
        move for move in MOVES if (table.text(move) is not None if move in _NAMING else table.flag(move))
    ]
    if len(moves) > 1:
        raise table.error(moves[1], f"a step makes one move, not {' and '.join(moves)}.", "Write a [[step]] for each.")
    return moves[0] if moves else None


def _where(table: Table, file: Path, target: Command) -> Where:
    text = table.text("at") or ""
    named = text.partition(" if ")[0].removeprefix("py:").rpartition(":")[0]
    beside = str(file) if named and is_file(file.absolute().parent / named) else ""
    try:
        return parse_where(text, folders_of(beside or (target.file)))
    except UsageError as error:
        raise table.error("at", error.message, error.remedy) from error


def _element(table: Table) -> Element:
    try:
        return parse_element(table.text("element") or "")
    except UsageError as error:
        raise table.error("element", error.message, error.remedy) from error


def _asked(step: Step, table: Table, number: int) -> Step:
    """The step with what ``table`` asks where it ends."""
    expected = table.table("expect")
    return replace(
        step,
        prints=(*step.prints, *table.texts("print")),
        stack=table.flag("stack") or step.stack,
        expects=(*step.expects, *([_expectation(expected, number)] if expected else [])),
    )


# --- expectations -----------------------------------------------------------------------------------------------------


def _expectation(table: Table, number: int) -> Expectation:
    fields = _fields(table, (*FRAME_KEYS, *STOP_KEYS))
    printed = table.mapping("printed")
    for expression, pattern in printed.items():
        _check_pattern(table, "printed", expression, pattern)
    stack = tuple(
        {"function": item} if isinstance(item, str) else _frame(item) for item in table.items("stack_contains")
    )
    table.done()
    return Expectation(number, table.line, fields, printed, stack)


def _frame(table: Table) -> dict[str, str | int]:
    fields = _fields(table, FRAME_KEYS)
    table.done()
    return fields


def _fields(table: Table, keys: Iterable[str]) -> dict[str, str | int]:
    fields: dict[str, str | int | None] = {key: _field(table, key) for key in keys if not key.startswith("fx.")}
    fx = table.table("fx")
    if fx:
        fields |= {key: fx.text(key.removeprefix("fx.")) for key in keys if key.startswith("fx.")}
        fx.done()
    return {key: value for key, value in fields.items() if value is not None}


def _field(table: Table, key: str) -> str | int | None:
    if key == "line":
        return table.number(key)
    text = table.text(key)
    if text is not None and key in _CHOICES and text not in _CHOICES[key]:
        known = _CHOICES[key]
        raise table.error(key, f"{key} cannot be {text!r}.", nearest(text, known) or f"It is {' or '.join(known)}.")
    if text is not None and key in PATTERNS:
        _check_pattern(table, key, key, text)
    return text


def _check_pattern(table: Table, key: str, name: str, pattern: str) -> None:
    if pattern.startswith("~"):
        return
    try:
        re.compile(pattern)
    except re.error as error:
        raise table.error(
            key, f"{name}: {pattern!r} is not a regular expression: {error}.", "For text as it stands write ~text."
        ) from error

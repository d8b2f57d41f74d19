"""Commands about values: expressions, variables, what every stop shows."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.debugger.frame_variables import variables_of
from pyharness.debugger.python.dap_client import RequestError
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.styled_line import Line
from pyharness.prompt.registry import command
from pyharness.prompt.shown.expanding import parts, whole
from pyharness.prompt.shown.returned import returned
from pyharness.prompt.shown.stop_text import value_line
from pyharness.prompt.shown.values import literal, text_of
from pyharness.protocol.pydevd import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.prompt.session import Session
    from pyharness.prompt.shown.expanding import Part

_VALUES = "values"
_WIDTH = 100


@command("p", "print", about=_VALUES, takes="EXPR")
def p(session: Session, rest: str) -> None:
    """Show the value of an expression, in the language of the frame; py: or native: before it chooses."""
    text = text_of(session, rest)
    if session.where.shown is session.where.top:
        session.record.printed(rest, text)
    _show(session, text)


@command("pp", about=_VALUES, takes="EXPR")
def pp(session: Session, rest: str) -> None:
    """Show a value over several lines, with what it is made of."""
    shown = session.where.shown
    if shown.debugpy is None or rest.startswith("native:"):
        _show_parts(session, whole(session, rest))
        return
    if not rest:
        raise UsageError("Which expression?", "For example: pp config")
    width = session.screen.columns() or _WIDTH
    _show(session, literal(text_of(session, f"__import__('pprint').pformat(({rest}), width={width})")))


@command("whatis", "ptype", about=_VALUES, takes="EXPR")
def whatis(session: Session, rest: str) -> None:
    """Show the type of a value."""
    _show(session, whole(session, rest).type)


@command("tensor", about=_VALUES, takes="EXPR [--stats]")
def tensor(session: Session, rest: str) -> None:
    """Show a tensor: dtype, shape, device, storage, elements; with --stats, minimum, maximum, mean, NaN, infinities."""
    wants_statistics = rest.endswith("--stats")
    found = whole(session, rest.removesuffix("--stats").strip())
    _show_parts(session, found, opened=("statistics",) if wants_statistics else (), elements=False)


def _show_parts(session: Session, found: Part, opened: Sequence[str] = (), *, elements: bool = True) -> None:
    columns = session.screen.columns()
    _show(session, found.value)
    for part in parts(session, found):
        if part.name.startswith("[") and not elements:  # the value itself has them
            continue
        session.screen.write_lines([value_line(part.name, part.value, columns)])
        if part.name in opened:
            session.screen.write_lines(
                value_line(each.name, each.value, columns).behind("   ") for each in parts(session, part)
            )


@command("locals", "info locals", about=_VALUES)
def locals_(session: Session, _rest: str) -> None:
    """Show all variables of the frame that is looked at."""
    variables = variables_of(session.shell, session.where.shown)
    if not variables and session.where.shown.frame.function == "<module>":
        session.screen.write_lines([Line("There are no variables here but functions, classes and modules.", "faint")])
    elif not variables and session.where.shown.frame.file:
        session.screen.write_lines([Line("This function has no variables here.", "faint")])
    elif not variables:
        raise HarnessError("Nothing is known of this frame's variables.", "`up` looks at the frame that called.")
    columns = session.screen.columns()
    session.screen.write_lines(value_line(each.name, each.value, columns) for each in variables)


@command("args", "a", "info args", about=_VALUES)
def args(session: Session, _rest: str) -> None:
    """Show the arguments of the frame that is looked at."""
    shown = session.where.shown
    variables = variables_of(session.shell, shown)
    wanted = {each.name for each in variables if each.argument}
    if shown.debugpy is not None:
        wanted = set(_names_of_arguments(session))
    columns = session.screen.columns()
    lines = [value_line(each.name, each.value, columns) for each in variables if each.name in wanted]
    session.screen.write_lines(lines or [Line("This function has no arguments.", "faint")])


def _names_of_arguments(session: Session) -> list[str]:
    """The names of a Python function's arguments, as its code has them."""
    asked = {"expression": ARGUMENTS, "frameId": session.where.shown.debugpy, "context": "repl"}
    with suppress(RequestError, SyntaxError, ValueError):
        found = ast.literal_eval(session.shell.python.asking.ask("evaluate", asked)["result"])
        return [str(name) for name in found]
    return []


@command("display", about=_VALUES, takes="[EXPR]", needs="nothing")
def display(session: Session, rest: str) -> None:
    """Show an expression at every stop from now on, * where it has changed; without one, list them."""
    if rest:
        session.displays.add(rest)
    if session.position is not None and session.debuggee is not None:
        session.screen.write_lines(session.displays.lines(session))
    elif not rest:
        session.screen.write_lines(Line(f"{number}: {each}") for number, each in session.displays.expressions.items())


@command("undisplay", about=_VALUES, takes="[N ...]", needs="nothing")
def undisplay(session: Session, rest: str) -> None:
    """Show these no more, or none."""
    session.displays.remove(rest)


@command("py", "!", about=_VALUES, takes="STATEMENT", needs="change")
def py(session: Session, rest: str) -> None:
    """Run a statement of Python in the frame that is looked at."""
    if not rest:
        raise UsageError("Which statement?", "For example: py x = x.clone()")
    with session.record.cannot_unless_it_fails(f"py {rest}"):
        if session.where.shown.debugpy is None and _is_statement(rest):
            raise UsageError(
                f"At a native stop `py` takes an expression, and {rest!r} is none.",
                "`out` steps back to Python, where statements run.",
            )
        _show(session, text_of(session, f"py:{rest}"))


def _is_statement(text: str) -> bool:
    """Whether this is Python, and no expression."""
    found = False
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        found = any(not isinstance(each, ast.Expr) for each in ast.parse(text).body)
    return found


@command("retval", "rv", about=_VALUES)
def retval(session: Session, _rest: str) -> None:
    """Show what the function has returned that the last step has left; of C++ it is `out` that knows."""
    value = returned(session.shell, session.where.top)
    if value is None:
        raise HarnessError("The last step has left no function by a return, or none that gives a value.", "`out` does.")
    _show(session, value.value)


def _show(session: Session, text: str) -> None:
    if text:
        session.screen.write_lines([Line(line) for line in text.splitlines()])

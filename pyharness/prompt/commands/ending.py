"""Commands about the program as a whole: start it again, end it, leave it, and leave the prompt."""

from __future__ import annotations

import os
import shlex
import signal as signals
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.debugger.starting.launch import Command
from pyharness.host.process_state import has_handler
from pyharness.model.errors import UsageError, nearest
from pyharness.model.text.styled_line import Line
from pyharness.prompt.registry import command

if TYPE_CHECKING:
    from pyharness.prompt.session import Session

_PROGRAM = "the program"
_UNDER_WAY = 0.05
"""Seconds in which a thread has left debugpy: a handler of Python's that is called earlier would raise in there."""


@command("run", "r", "restart", about=_PROGRAM, takes="[ARGS]", needs="nothing", note="pdb's r is return: out")
def run(session: Session, rest: str) -> None:
    """Start the program, again if it runs, and run on to the first stop; ARGS replace its command line."""
    target = session.plan.target
    if not isinstance(target, Command):
        raise UsageError("This program was not started here.", "Name a script: pyharness debug SCRIPT.")
    if rest:
        try:
            words = tuple(shlex.split(rest))
        except ValueError as error:
            raise UsageError(f"{rest!r} is no command line: {error}.", "Quote as a shell does.") from error
        session.plan = replace(session.plan, target=replace(target, arguments=words))
    if session.debuggee:
        session.drop()
    session.start()
    session.go("continue")


@command("signal", about=_PROGRAM, takes="NAME", needs="change")
def signal(session: Session, rest: str) -> None:
    """Send the program a signal and let it go on: INT is what Ctrl-C is to it."""
    name = rest.upper().removeprefix("SIG")
    known = {each.name.removeprefix("SIG"): each for each in signals.Signals}
    if name not in known:
        raise UsageError(f"There is no signal {rest!r}.", nearest(name, known) or "For example: signal INT")
    process, number = session.shell.process.pid, known[name]
    session.record.cannot(f"signal {rest}")
    focus = session.shell.machine.focus
    if focus and focus.language == "python" and has_handler(process, number):
        session.go("continue", threading.Timer(_UNDER_WAY, os.kill, (process, number)).start)
        return
    os.kill(process, number)  # it comes before the thread's next instruction
    session.go("continue")


@command("kill", "k", about=_PROGRAM, needs="program")
def kill(session: Session, _rest: str) -> None:
    """End the program; the prompt stays."""
    debuggee = session.debuggee
    if debuggee and session.shell.immobile:
        raise UsageError("A core file is no program that could be ended.", "`quit` closes it.")
    if debuggee:
        debuggee.shell.kill()
        session.screen.write_lines([Line("The program was ended.")])
        session.drop()


@command("detach", about=_PROGRAM, needs="program")
def detach(session: Session, _rest: str) -> None:
    """Leave the program running without a debugger, and the prompt."""
    debuggee = session.debuggee
    if debuggee:
        session.debuggee = session.position = None
        debuggee.leave()
        session.screen.write_lines([Line(f"Process {debuggee.shell.process.pid} runs on without a debugger.")])
    session.over = True


@command("quit", "q", "exit", about="the session", needs="nothing")
def quit_(session: Session, _rest: str) -> None:
    """Leave the prompt: a program that was started here ends, one that was attached to runs on."""
    session.over = True

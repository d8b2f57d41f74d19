"""Ways out of this process that are no answer: we were told to end, or the user's code that runs in it exits."""

from __future__ import annotations

import _sitebuiltins
import os
import threading
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.cli.kit import output
from pyharness.host.exit_status import ExitStatus
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn

_ENDS = ("_exit", "execv", "execve")
_EXITING = {__file__, os.__file__, _sitebuiltins.__file__}


class ToldToEnd(SystemExit):
    """A signal has told us to end."""


@contextmanager
def no_exit() -> Iterator[None]:
    """``HarnessError`` where the user's code exits: its status would pass for what we found out."""
    try:
        with _ends_as_exceptions():
            yield
    except ToldToEnd:
        raise
    except SystemExit as error:
        last = _their_last(error)
        raise HarnessError(
            f"{last.filename}:{last.lineno} exits ({error.code!r}) before there is a result.",
            "Return a value instead of exiting.",
        ) from error


def _their_last(error: SystemExit) -> traceback.FrameSummary:
    """Where the user's code exits: what it calls for that is Python's, or ours."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if frame.filename not in _EXITING and not frame.filename.startswith("<frozen")]
    return (theirs or frames)[-1]


@contextmanager
def _ends_as_exceptions() -> Iterator[None]:
    """What ends a process without a word of Python's raises ``SystemExit`` in this one; not in children of it."""
    before = {name: getattr(os, name) for name in _ENDS}
    for name, function in before.items():
        setattr(os, name, _raising(function, os.getpid()))
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(os, name, function)


def _raising(function: Callable[..., NoReturn], own: int) -> Callable[..., NoReturn]:
    def end(*arguments: object, **named: object) -> NoReturn:
        if os.getpid() != own:
            function(*arguments, **named)
        code = arguments[0] if function.__name__ == "_exit" and arguments else function.__name__
        if threading.current_thread() is threading.main_thread():
            raise SystemExit(code)
        output.error(f"A thread of yours exits ({code!r}) before there is a result.", "Return a value instead.")
        before_exit(ExitStatus.FAILED)

    before_exit = os._exit
    return end

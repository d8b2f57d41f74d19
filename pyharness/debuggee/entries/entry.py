"""What ``pyharness run`` becomes: the user's script under a handle, waiting for a debugger beside its own work.

python START.py run NAME [-m] SCRIPT [ARGS...]
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debuggee.link.served import Served


def main(on_uncaught: Callable[[BaseException], None] = lambda _error: None, *, listens: bool = True) -> int:
    """Listen, then become the script; ``on_uncaught`` hears what nobody has caught, before it is printed.

    ``listens``: where it must have no thread but its own, no handle is made.
    """
    from pyharness.debuggee.__main__ import INTERRUPTED, parse, run
    from pyharness.debuggee.entries import answers
    from pyharness.debuggee.in_place import hook
    from pyharness.debuggee.link.served import Served  # now: a program may empty sys.modules

    name, *arguments = sys.argv[1:]
    options = parse(arguments)
    if listens:
        _listen(name, arguments)
    hook.install()
    answers.begin()
    try:
        status = run(options, stop=False, on_uncaught=on_uncaught)
    except SystemExit as ended:
        _exits(Served.current, _code_of(ended))
        raise
    if status == INTERRUPTED:  # Python dies of the signal then, once it has cleaned up: shells look at that
        _exits(Served.current, -signal.SIGINT)
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    _exits(Served.current, status)
    return status


def _listen(name: str, arguments: list[str]) -> None:
    """Say under which handle debuggers find the program; without a folder for that it runs all the same."""
    from pyharness.debuggee.link import served
    from pyharness.debuggee.link.seat import SEAT
    from pyharness.host.state import StateError
    from pyharness.model.errors import HarnessError
    from pyharness.model.text.visible import say

    try:
        here = served.Served(name, " ".join(arguments))
    except StateError as error:
        SEAT.follow()
        say(f"no handle: {error.message} {error.remedy}")
        return
    except HarnessError as error:
        say(str(error))
        raise SystemExit(error.exit_code) from None
    try:
        here.start()
    except RuntimeError as error:  # no thread can be had: too little memory, or too many threads
        here.end()
        served.Served.current = None
        say(f"no handle: {error}.")
        return
    say(f"handle {name} (pid {here.handle.pid})")


def _exits(here: Served | None, code: int) -> None:
    """Tell a debugger, if one has come, how the program ends."""
    if here:
        here.exits(code)


def _code_of(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    return ended.code & 0xFF if isinstance(ended.code, int) else 1

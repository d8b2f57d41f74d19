"""Starts one of our programs around the user's script, apart from the current folder.

python START.py PROGRAM [ARGS...]             PROGRAM: a key of ``PROGRAMS``
python START.py verb PACKAGES VERB [ARGS...]  a command line of ours, with what it imports: {name: folder} in JSON
"""

import os.path
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_AT_START = frozenset(sys.modules)
PROGRAMS = {
    "debug": "debuggee.__main__",
    "run": "debuggee.entries.entry",
    "nan": "debuggee.entries.nan_entry",
    "overwritten": "debuggee.entries.overwritten_entry",
    "report": "debuggee.entries.reported",
    "trace": "debuggee.entries.recorded",
    "graphs": "debuggee.entries.graphs",
    "compiled": "debuggee.entries.compiled",
    "hashseeds": "fx.hashseeds.child",
    "aftermath": "aftermath.reporter",
    "hangs": "aftermath.watching",
    "deadlines": "aftermath.deadlines",
    "observes": "debugger.observing",
    "answers": "ranks.store.answering",
    "verb": "cli.went_over",
}
"""What the controller calls each program → its module in ``pyharness``."""
_WITHOUT_THEIRS = ("debug", "run")
"""Need nothing that is the user's before the user's script; the others need torch, say."""


_FIRST = {
    "debug": ("debuggee.link.session", "debuggee.link.seat"),
    "run": ("debuggee.__main__", "debuggee.link.served", "debuggee.in_place.hook"),
}
"""What a program imports before it knows whether it can begin, beside its own module."""


def main() -> int:
    """Take this folder off the path, where Python has put it, and run the program."""
    try:
        run = _found()
    except Exception as error:  # noqa: BLE001  (what a sitecustomize has made of Python)
        return _without_us(error)
    status = int(run() or 0)
    if status and sys.flags.inspect:
        from pyharness.debuggee import inspected

        inspected.has_shown()
    return status


def _found() -> "Callable[[], int | None]":
    packages = os.path.realpath(os.path.join(__file__, "../../.."))  # noqa: PTH118  (pathlib may be the program's own)
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    sys.path.insert(0, packages)
    from pyharness.debuggee import apart, collector, inspected  # noqa: F401  (now: the program may empty sys.modules)

    sys.path.remove(packages)
    apart.begin(_AT_START)
    from importlib import import_module

    program = sys.argv.pop(1)
    if program in _WITHOUT_THEIRS:
        apart.put_named_last()
        collector.wait()
    if program == "verb":
        import json

        apart.make_importable(json.loads(sys.argv.pop(1)))
    if program not in _WITHOUT_THEIRS:
        return import_module(f"pyharness.{PROGRAMS[program]}").main  # type: ignore[no-any-return]
    from pyharness.host import bytecode

    with bytecode.kept(__file__):
        for name in _FIRST[program]:
            import_module(f"pyharness.{name}")
        return import_module(f"pyharness.{PROGRAMS[program]}").main  # type: ignore[no-any-return]


def _without_us(error: Exception) -> int:
    """Say that we cannot be in this program; one that is only to be run runs all the same."""
    os.write(2, f"pyharness: Nobody can debug this program: {type(error).__name__}: {error}.\n".encode())
    os.write(2, b"Does a sitecustomize or a .pth file of this Python change what it imports, or its arguments?\n")
    words = getattr(sys, "orig_argv", [])  # Python 3.10 on
    at = words.index(__file__) if __file__ in words else len(words)
    if words[at + 1 : at + 2] == ["run"]:
        os.execv(sys.executable, [sys.executable, *words[1:at], *words[at + 3 :]])  # noqa: S606  (arguments, no shell)
    return 1


if __name__ == "__main__" and (status := main()):  # nothing ends the program but its last line, as PYTHONINSPECT sees
    sys.exit(status)

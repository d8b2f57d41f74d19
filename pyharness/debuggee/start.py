"""Starts one of our programs around the user's script, apart from the current folder.

python START.py PROGRAM [ARGS...]             PROGRAM: a key of ``PROGRAMS``
python START.py verb PACKAGES VERB [ARGS...]  a command line of ours, with what it imports: {name: folder} in JSON
"""

import os.path
import sys

_AT_START = frozenset(sys.modules)
PROGRAMS = {
    "debug": "debuggee.__main__",
    "run": "debuggee.entries.entry",
    "nan": "debuggee.entries.nan_entry",
    "trace": "debuggee.entries.recorded",
    "graphs": "debuggee.entries.graphs",
    "compiled": "debuggee.entries.compiled",
    "hashseeds": "fx.hashseeds.child",
    "verb": "cli.went_over",
}
"""What the controller calls each program → its module in ``pyharness``."""
_WITHOUT_THEIRS = ("debug", "run")
"""Need nothing that is the user's before the user's script; the others need torch, say."""


def main() -> int:
    """Take this folder off the path, where Python has put it, and run the program."""
    packages = os.path.realpath(os.path.join(__file__, "../../.."))  # noqa: PTH118  (pathlib may be the program's own)
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    sys.path.insert(0, packages)
    from pyharness.debuggee import apart, inspected

    sys.path.remove(packages)
    apart.begin(_AT_START)
    from importlib import import_module

    program = sys.argv.pop(1)
    if program in _WITHOUT_THEIRS:
        apart.put_named_last()
    if program == "verb":
        import json

        apart.make_importable(json.loads(sys.argv.pop(1)))
    status = int(import_module(f"pyharness.{PROGRAMS[program]}").main() or 0)
    if status and sys.flags.inspect:
        inspected.has_shown()
    return status


if __name__ == "__main__" and (status := main()):  # nothing ends the program but its last line, as PYTHONINSPECT sees
    sys.exit(status)

"""Commands of gdb's own, what they print, and expressions of ours."""

from __future__ import annotations

import gdb

from pyharness.ingdb.stream_records import plain


def run(command: str) -> str:
    """What a command prints; ``gdb.error`` where it fails."""
    return plain(gdb.execute(command, to_string=True))


def resume(command: str) -> None:
    """Have the selected thread go on. gdb 18 takes the answer to the MI command, ``^running``, for what is printed."""
    gdb.execute(f"{command} &")


def c_value(expression: str) -> gdb.Value:
    """The value of an expression of ours, which is C whatever the language of the code that stands (Rust)."""
    before = gdb.parameter("language")
    if before == "c":
        return gdb.parse_and_eval(expression)
    gdb.execute("set language c", to_string=True)
    try:
        return gdb.parse_and_eval(expression)
    finally:
        gdb.execute(f"set language {before}", to_string=True)

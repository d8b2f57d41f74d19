"""Reads a person's own scripts into gdb, and says where one fails: gdb's ``source`` writes that to a log alone."""

from __future__ import annotations

import sys
from pathlib import Path

import gdb

from pyharness.ingdb import console


def read(path: str) -> None:
    """Do what a file of gdb's commands or of Python says; ``gdb.GdbError`` where it fails."""
    try:
        if Path(path).suffix == ".py":
            _run(path)
        else:
            console.run(f"source {path}")
    except (gdb.error, RuntimeError) as error:
        raise gdb.GdbError(str(error)) from error


def _run(path: str) -> None:
    """Run Python as gdb does, in ``__main__``, which knows the file meanwhile: its modules may lie beside it."""
    names = vars(sys.modules["__main__"])
    before = names.get("__file__")
    names["__file__"] = path
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), names)  # noqa: S102  (the person has named it)
    except gdb.GdbError:
        raise
    except Exception as error:
        raise gdb.GdbError(f"{type(error).__name__}: {error}{_line(error, path)}") from error
    finally:
        names.pop("__file__", None)
        if before is not None:
            names["__file__"] = before


def _line(error: Exception, path: str) -> str:
    """The last line of the file itself that led there, as ``(line 3)``; empty where it could not be compiled."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f" (line {lines[-1]})" if lines else ""

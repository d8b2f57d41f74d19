"""A breakpoint stops in any file: torch's and the standard library's as well.

Rules keep steps out of libraries (``stepping_rules``), and debugpy takes no breakpoint in a file that they exclude.
A file that had a breakpoint is not excluded any more in this session, from steps either: whoever stops there goes on
line by line, also from a breakpoint that was for one stop. A notebook's cell counts as a file: Python has its lines.
"""

from __future__ import annotations

import linecache
from typing import Any


def open_files(debugger: Any) -> None:
    """Have the rules of pydevd's ``debugger`` spare the files that have breakpoints."""
    from _pydevd_bundle.pydevd_api import PyDevdAPI
    from pydevd_file_utils import get_abs_path_real_path_and_base_from_file

    excluded, changed = debugger._exclude_by_filter, debugger.on_breakpoints_changed
    opened: set[str] = set()

    def excludes(frame: Any, file: str) -> bool | None:
        about_to_be_set = isinstance(frame, PyDevdAPI._DummyFrame)
        if about_to_be_set or get_abs_path_real_path_and_base_from_file(file)[1] in opened:
            return bool(debugger.get_file_type(frame) == debugger.PYDEV_FILE)
        outcome: bool | None = excluded(frame, file)
        return outcome

    def on_breakpoints_changed(*arguments: Any, **named: Any) -> None:
        if new := {file for file, lines in debugger.breakpoints.items() if lines} - opened:
            opened.update(new)
            _forget_rules(debugger)
        changed(*arguments, **named)

    debugger._exclude_by_filter = excludes
    debugger.on_breakpoints_changed = on_breakpoints_changed
    _know_cells()


def _know_cells() -> None:
    """Have pydevd take a breakpoint in code that is in no file, where Python has its lines for its tracebacks."""
    import pydevd_file_utils

    exists = pydevd_file_utils.exists
    if exists.__module__ != __name__:  # once, however many sessions come
        pydevd_file_utils.exists = lambda file: exists(file) or file in linecache.cache


def _forget_rules(debugger: Any) -> None:
    """What the rules said of files is remembered for each function."""
    if debugger.ready_to_run:
        debugger._clear_caches()
    else:  # nothing is traced yet
        debugger._exclude_by_filter_cache.clear()
        debugger._apply_filter_cache.clear()

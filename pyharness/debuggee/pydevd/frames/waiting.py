"""Generators and coroutines that wait: no thread has their frames, and pydevd looks at those of threads."""

from __future__ import annotations

import gc
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.frames.followed import after_each
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES: dict[type, str] = {GeneratorType: "gi", CoroutineType: "cr", AsyncGeneratorType: "ag"}


def codes() -> Iterator[CodeType]:
    """What each of them runs, whether it has begun or not."""
    for each, name in _each():
        yield getattr(each, f"{name}_code")


def follow(debugger: Any) -> None:
    """Have ``sys.monitoring`` see the new breakpoints in those that wait now, whenever breakpoints change.

    pydevd hears where code begins (``PY_START``), and not where it goes on.
    """

    def look() -> None:
        from _pydevd_sys_monitoring import pydevd_sys_monitoring

        thread = threading.main_thread().ident  # any thread's
        for frame in _frames(debugger):
            pydevd_sys_monitoring.enable_code_tracing(thread, frame.f_code, frame)

    after_each(debugger, debugger.on_breakpoints_changed, look)


def _frames(debugger: Any) -> Iterator[FrameType]:
    """Frames whose file has a breakpoint."""
    import pydevd_file_utils

    files: dict[str, bool] = {}
    for each, name in _each():
        file = getattr(each, f"{name}_code").co_filename
        if file not in files:
            path = pydevd_file_utils.get_abs_path_real_path_and_base_from_file(file)[1]
            files[file] = bool(debugger.breakpoints.get(path))
        frame = getattr(each, f"{name}_frame") if files[file] else None
        if frame is not None:
            yield frame


def _each() -> Iterator[tuple[Any, str]]:
    """Look through what Python's collector knows: 0.1 s at most for the 280,000 objects of a program with torch."""
    for each in [one for one in gc.get_objects() if type(one) in _NAMES]:
        yield each, _NAMES[type(each)]

"""The stack of a thread that runs nothing of the user's is shown whole: rules would leave none of it.

A pause may come there: `python -m http.server` and the prompt of Python 3.13 run the standard library alone.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


class _Shown(threading.local):
    whole = False
    """Nothing that rules exclude is left out of the stack that the thread tells of."""


_SHOWN = _Shown()


def watch(debugger: Any) -> None:
    """Have it so in pydevd's ``debugger``."""
    from _pydevd_bundle.pydevd_net_command_factory_json import NetCommandFactoryJson

    debugger.apply_files_filter = _unless_whole(debugger.apply_files_filter)
    made = NetCommandFactoryJson.make_get_thread_stack_message
    if made.__module__ != __name__:  # once, however many sessions come
        NetCommandFactoryJson.make_get_thread_stack_message = _whole_if_empty(made)


def _unless_whole(excludes: Callable[..., bool]) -> Callable[..., bool]:
    def stands_for(frame: FrameType, file: str, *arguments: Any, **named: Any) -> bool:
        return not _SHOWN.whole and excludes(frame, file, *arguments, **named)

    return stands_for


def _whole_if_empty(make: Callable[..., Any]) -> Callable[..., Any]:
    def make_get_thread_stack_message(*arguments: Any, **named: Any) -> Any:
        message = make(*arguments, **named)
        if message is None or message.as_dict["body"].get("totalFrames") != 0:
            return message
        _SHOWN.whole = True
        try:
            return make(*arguments, **named)
        finally:
            _SHOWN.whole = False

    return functools.update_wrapper(make_get_thread_stack_message, make, assigned=("__name__", "__doc__"))

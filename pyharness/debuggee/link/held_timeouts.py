"""The timeouts of a rank's process groups: long while a debugger is at the job, which may hold another rank for hours.

A collective keeps the timeout that it began with. So the groups get a long one when they are made, and their own when
the debugger has left.
"""

from __future__ import annotations

import functools
import inspect
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

LONG = timedelta(days=20)
"""Milliseconds of more days do not fit into the 32 bits that some of torch's waits have for them."""
_MAKE = ("init_process_group", "new_group", "split_group")
"""What makes a group, with the timeout of all that it will do."""
_CALL = ("barrier", "monitored_barrier")
"""What takes a timeout for one call."""


class HeldTimeouts:
    """The timeouts of this process's groups, from ``hold`` to ``put_back``."""

    def __init__(self) -> None:
        self._holds = True
        self._module: Any = None
        self._set: Callable[..., None] = lambda *_: None
        self._own: list[tuple[Any, Any]] = []
        """Groups, and the timeout that the program has given each; ``None`` for that of its backend."""

    def hold(self, distributed: ModuleType, arrive: Callable[[dict[str, Any]], None]) -> None:
        """Replace what makes groups in ``torch.distributed.distributed_c10d``, which has just been imported.

        ``arrive`` is called with the arguments of ``init_process_group``, before that is.
        """
        self._module, self._set = distributed, getattr(distributed, "_set_pg_timeout", self._set)
        for name in _MAKE:
            if function := getattr(distributed, name, None):
                told = arrive if name == "init_process_group" else _nothing
                setattr(distributed, name, self._held(function, told, makes=True))
        for name in _CALL:
            if function := getattr(distributed, name, None):
                setattr(distributed, name, self._held(function, _nothing, makes=False))
        vars(distributed)["_set_pg_timeout"] = self._noted

    def put_back(self) -> None:
        """Give each group its own timeout, for all that begins from now on."""
        self._holds = False
        for group, own in self._own:
            with suppress(Exception):  # a group that was destroyed, or that takes no timeout
                self._set(own or self._of_backend(group), group)
        self._own.clear()

    def _of_backend(self, group: Any) -> timedelta:
        """What torch gives a group that was made without one."""
        usual: timedelta = self._module._get_default_timeout(self._module.get_backend(group))
        return usual

    def _held(self, function: Callable[..., Any], told: Callable[[dict[str, Any]], None], *, makes: bool) -> Any:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:  # which the function says better
                return function(*args, **kwargs)
            told(bound.arguments)
            own = bound.arguments.get("timeout")
            if not self._holds or (own is None and not makes) or (own is not None and not isinstance(own, timedelta)):
                return function(*args, **kwargs)
            bound.arguments["timeout"] = LONG
            result = function(*bound.args, **bound.kwargs)
            if makes:
                self._own.append((result, own))
            return result

        return call

    def _noted(self, timeout: Any, group: Any = None) -> None:
        """Keep what the program sets, in the place of torch's ``_set_pg_timeout``."""
        if not self._holds:
            self._set(timeout, group)
            return
        self._own.append((group, timeout))


def _nothing(_arguments: dict[str, Any]) -> None:
    pass

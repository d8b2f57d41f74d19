"""Registers the ph- commands: a decorator on the function that does the work, errors turned into gdb's."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import gdb

from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[str], None]

_DEFAULTED = re.compile(r"\$\{(\w+):-([^}]*)\}")
COMMANDS: dict[str, str] = {}
"""Name → what ``ph-help`` says of it, in the order of registration."""


class _Command(gdb.Command):
    """One ph- command; its handler takes the text after the name."""

    def __init__(self, name: str, kind: int, handler: Handler) -> None:
        self.__doc__ = handler.__doc__
        super().__init__(name, kind)
        self._handler = handler

    def invoke(self, argument: str, _from_tty: bool) -> None:  # noqa: FBT001  (gdb's signature)
        try:
            self._handler(expand(argument.strip()))
        except (HarnessError, gdb.error) as error:
            raise gdb.GdbError(visible(str(error))) from error


def expand(argument: str) -> str:
    """``${NAME:-DEFAULT}`` replaced by the environment variable, as a shell does: a script then takes another place."""
    return _DEFAULTED.sub(lambda match: os.environ.get(match[1]) or match[2], argument)


def command(name: str, kind: int = gdb.COMMAND_RUNNING) -> Callable[[Handler], Handler]:
    """Make a function the gdb command ``name``; its docstring is the command's help."""

    def register(handler: Handler) -> Handler:
        if name in COMMANDS:
            raise ValueError(f"two commands called {name}")
        COMMANDS[name] = (handler.__doc__ or "").partition("\n")[0]
        _Command(name, kind, handler)
        return handler

    return register

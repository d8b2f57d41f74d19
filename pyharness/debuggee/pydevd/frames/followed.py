"""Methods of pydevd's that something of ours follows."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def after_each(debugger: Any, method: Any, then: Callable[[], object]) -> None:
    """Call ``then`` whenever a method of a debugger's has returned."""

    @functools.wraps(method)
    def stands_for(*arguments: Any, **named: Any) -> Any:
        outcome = method(*arguments, **named)
        then()
        return outcome

    setattr(debugger, method.__name__, stands_for)

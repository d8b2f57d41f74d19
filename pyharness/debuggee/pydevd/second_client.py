"""What a program asks of debugpy for a client of its own: nothing is done while our debugger is that client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = "pyharness_listens"
_LOCAL = "127.0.0.1"


class _Said:
    """What the program has been told."""

    once = False


def refuse(is_here: Callable[[], bool]) -> None:
    """From now on ``listen``, ``connect`` and ``wait_for_client`` return at once, as if done, while ``is_here()``."""
    from debugpy.server import api

    if hasattr(api, _MARK):
        return
    setattr(api, _MARK, True)
    for name, answer in (("listen", _address), ("connect", _nothing), ("wait_for_client", _nothing)):
        setattr(api, name, _stands_for(name, getattr(api, name), answer, is_here))


def _stands_for(
    name: str, original: Any, answer: Callable[..., Any], is_here: Callable[[], bool]
) -> Callable[..., Any]:
    def stands_for(*arguments: Any, **named: Any) -> Any:
        if not is_here():
            return original(*arguments, **named)
        if not _Said.once:
            _Said.once = True
            say(f"debugpy.{name} does nothing here: pyharness debugs this program already.")
        return answer(*arguments, **named)

    stands_for.cancel = getattr(original, "cancel", _nothing)  # type: ignore[attr-defined]
    stands_for.called = False  # type: ignore[attr-defined]  # where debugpy's ``listen`` notes that it listens
    return stands_for


def _address(address: Any, **_named: Any) -> tuple[str, int]:
    """Where it would listen."""
    return tuple(address) if isinstance(address, (tuple, list)) else (_LOCAL, address)


def _nothing(*_arguments: Any, **_named: Any) -> None:
    pass

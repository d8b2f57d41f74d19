"""Keeps the user's run from what fails in ours: that costs what it was for, and a line at the end says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


class Guard:
    """A ``with`` block of ours within a hook: tests put mocks, limits and clocks of theirs where we work."""

    notes: tuple[str, ...] = ()
    """What has failed in this process, or is not to be had, each once."""

    def __init__(self, purpose: str) -> None:
        self._purpose = purpose

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> bool:
        """Go on behind an error, but not behind Ctrl-C or the end of the program."""
        if not isinstance(error, Exception):
            return False
        said = f"{type(error).__name__}: {error}".partition("\n")[0]
        note(f"could not {self._purpose}: {visible(said)}")
        return True


def note(what: str) -> None:
    """Have it said at the end, once."""
    said = f"pyharness: {what}"
    if said not in Guard.notes:
        Guard.notes = (*Guard.notes, said)

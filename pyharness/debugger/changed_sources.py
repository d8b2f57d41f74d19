"""Says once of each source that is shown that it has changed since the program took its code from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.host.process_state import started_at
from pyharness.model.frozen import frozen
from pyharness.model.text.changed_source import changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyharness.model.frames import Frame


@frozen
class ChangedSources:
    """One program's."""

    since: float
    """When its code was read, in seconds since the epoch."""
    event: str
    """What was then, as a sentence goes on: "the program started"."""
    root: str
    """Where its files lie here, for one in a container."""
    tell: Callable[[str], object]
    """Takes a sentence, and tells it once."""

    @classmethod
    def of_process(cls, pid: int, root: str, tell: Callable[[str], object]) -> ChangedSources:
        """What a process that runs has read since its start."""
        return cls(started_at(pid), "the program started", root, tell)

    @classmethod
    def of_core(cls, path: Path, tell: Callable[[str], object]) -> ChangedSources:
        """What the process had read that left a core file."""
        return cls(path.stat().st_mtime, "the core file was written", "", tell)

    def shown(self, frames: Iterable[Frame]) -> None:
        """Tell what is to be known of the sources of frames that a person sees."""
        for frame in {(each.file, each.library): each for each in frames if not each.plumbing}.values():
            if text := changed(frame, self.since, self.event, self.root):
                self.tell(text)

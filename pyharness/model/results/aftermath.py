"""What a program was at when it crashed, raised or hung: one report, as text, as JSON and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.frames import from_json
from pyharness.model.frozen import frozen
from pyharness.model.ranks.rank import rank_from_json
from pyharness.model.threads import thread_from_json
from pyharness.model.user_code import is_users_frame

if TYPE_CHECKING:
    from pyharness.model.frames import Frame
    from pyharness.model.ranks.rank import Rank
    from pyharness.model.threads import ThreadStack

Kind = Literal["crash", "exception", "hang", "sanitizer"]
VERSION = 1
"""The version of the JSON."""


@frozen
class History:
    """A stack of before: where memory was allocated or freed, or of a race the other access."""

    title: str
    frames: tuple[Frame, ...]
    """Innermost first."""

    def to_json(self) -> dict[str, Any]:
        """The object that is written."""
        return {"title": self.title, "stack": [frame.to_json() for frame in self.frames]}


@frozen
class Aftermath:
    """A process at its end, at an error that a sanitizer has found, or as it stands and does not go on."""

    kind: Kind
    name: str
    """The program's, for people."""
    command: tuple[str, ...]
    """From its script on."""
    pid: int
    host: str
    time: str
    """When it was looked at, ISO 8601 with the offset from UTC."""
    rank: int | None
    """The number that a launcher has given it; ``None`` for no rank."""
    what: str
    """The signal and what lies at its address; the exception; for how long it has stood."""
    threads: tuple[ThreadStack, ...]
    """The one that it is about comes first, with variables."""
    traceback: str = ""
    """What Python prints of an exception, or a sanitizer of an error; empty for none."""
    output: str = ""
    """What a test had printed by then, where pytest has kept it."""
    note: str = ""
    """What could not be read, and why; empty where all was."""

    histories: tuple[History, ...] = ()
    """Stacks of before, where a sanitizer knows them."""
    workers: tuple[Rank, ...] = ()
    """The child processes that run Python, of one that hangs."""

    @property
    def frame(self) -> Frame | None:
        """Where it happened: the innermost line of the user's, else the innermost frame that is no machinery."""
        frames = self.threads[0].frames if self.threads else ()
        theirs = (frame for frame in frames if is_users_frame(frame))
        others = (frame for frame in frames if not frame.plumbing)
        return next(theirs, next(others, frames[0] if frames else None))

    def to_json(self) -> dict[str, Any]:
        """The object that is written."""
        frame = self.frame
        return {
            "version": VERSION,
            "kind": self.kind,
            "name": self.name,
            "command": list(self.command),
            "pid": self.pid,
            "host": self.host,
            "time": self.time,
            "rank": self.rank,
            "what": self.what,
            "frame": frame.to_json() if frame else None,
            "traceback": self.traceback,
            "output": self.output,
            "note": self.note,
            "histories": [history.to_json() for history in self.histories],
            "threads": [thread.to_json() for thread in self.threads],
            "workers": [worker.to_json() for worker in self.workers],
        }


def aftermath_from_json(data: dict[str, Any]) -> Aftermath:
    """The report that ``Aftermath.to_json`` wrote."""
    return Aftermath(
        data["kind"],
        data["name"],
        tuple(data["command"]),
        data["pid"],
        data["host"],
        data["time"],
        data["rank"],
        data["what"],
        tuple(thread_from_json(thread) for thread in data["threads"]),
        traceback=data["traceback"],
        output=data["output"],
        note=data["note"],
        histories=tuple(
            History(one["title"], tuple(map(from_json, one["stack"]))) for one in data.get("histories", ())
        ),
        workers=tuple(map(rank_from_json, data.get("workers", ()))),
    )

"""One rank of a distributed job as it stands: its stacks, and what it has called of its process groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.collectives import layout as layouts
from pyharness.reading.collectives.asked import asked
from pyharness.reading.collectives.process_groups import process_groups
from pyharness.reading.collectives.record import Held, hold, noted, record_of
from pyharness.reading.live.process import LiveProcess
from pyharness.reading.live.snapshot import take
from pyharness.reading.live.stacks import MAX_FRAMES, described, opened
from pyharness.reading.python.uncaught import uncaught

if TYPE_CHECKING:
    from pyharness.model.ranks.asked import Asked
    from pyharness.reading.collectives.process_groups import ProcessGroup
    from pyharness.reading.collectives.record import Record
    from pyharness.reading.live.snapshot import Snapshot
    from pyharness.reading.live.stacks import Stacks
    from pyharness.reading.python.threads import Python


@frozen
class RankReading:
    """A process at one moment."""

    stacks: Stacks
    record: Record
    asked: Asked | None
    """What the main thread has asked ``torch.distributed`` for."""
    raised: str
    """The exception that nobody has caught; empty for none."""
    torch: str | None
    """Version of its torch; ``None`` where it has none."""


def read_rank(pid: int, limit: int = MAX_FRAMES) -> RankReading:
    """The stacks and the collectives of a running process; ``RefusedError`` where it cannot be held."""
    with opened(pid) as process:
        recorder = _Recorder(process)
        snapshot = take(process, None, limit, recorder.look)
        python, _ = process.python()
        record = record_of(recorder.held, python, recorder.layout)
        stacks, raised = described(process, snapshot, limit), uncaught(python) if python else ""
        return RankReading(stacks, record, _asked(python, snapshot), raised, process.torch_version)


def _asked(python: Python | None, snapshot: Snapshot) -> Asked | None:
    main = snapshot.threads[0].registers if snapshot.threads else None
    if python is None or main is None:
        return None
    known = (thread for thread in snapshot.python if thread.pthread == main.fs_base)
    return asked(python, (frame for thread in known for loop in thread.loops for frame in loop.frames))


def group_of(pid: int) -> ProcessGroup | None:
    """The largest process group of torch's that a running process is in, if any; it runs on meanwhile."""
    try:
        with LiveProcess(pid) as process:
            python, _ = process.python()
            groups = process_groups(python, layouts.for_version(process.torch_version)) if python else []
    except OSError:
        return None
    return max(groups, key=lambda group: len(group.ranks), default=None)


def recorded(pid: int) -> int | None:
    """How many calls the flight recorders of a running process have noted; ``None`` where they cannot be read."""
    try:
        with LiveProcess(pid) as process:
            return noted(process.memory, process.files.named, layouts.for_version(process.torch_version))
    except OSError:
        return None


class _Recorder:
    """Reads the flight recorder while the process stands."""

    def __init__(self, process: LiveProcess) -> None:
        self._process = process
        self.layout = layouts.for_version(process.torch_version)
        self.held = Held((), "")

    def look(self) -> None:
        self.held = hold(self._process.memory, self._process.files.named, self.layout)

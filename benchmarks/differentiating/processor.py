"""Times that hold on a busy machine: of the processor, for what never waits."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.table import take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def on_the_processor(
    subjects: Mapping[str, Callable[[], object]], runs: int, warmups: int = 1
) -> dict[str, list[float]]:
    """Seconds of this process in every run of every subject, taken in turns."""
    return take_turns({name: partial(_seconds, call) for name, call in subjects.items()}, runs, warmups)


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started

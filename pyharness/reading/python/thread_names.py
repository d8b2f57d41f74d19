"""What ``threading`` calls the threads of a stopped process or core: the names that a person gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.attributes import attributes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.reading.python.threads import Python, PythonThread

_BOOTSTRAP = "_bootstrap"
_MAX_NAME = 100


def thread_names(python: Python) -> dict[int, str]:
    """Kernel id → name, of those that ``threading`` started and that can be read."""
    return dict(named for thread in python.threads() for named in _named(python, thread))


def name_of(python: Python, threads: Iterable[PythonThread]) -> str:
    """The name of one thread, as the interpreters know it that it runs; empty where ``threading`` did not start it."""
    return next((name for thread in threads for _, name in _named(python, thread)), "")


def _named(python: Python, thread: PythonThread) -> Iterator[tuple[int, str]]:
    """The object whose method is the thread's outermost function knows both."""
    frames = [frame for loop in thread.loops for frame in loop.frames if frame.function.endswith(_BOOTSTRAP)]
    try:
        owner = dict(python.local_addresses(frames[-1])).get("self") if frames else None
        found = dict(attributes(python.values, owner)) if owner else {}
        if "_native_id" in found and "_name" in found:
            yield python.values.integer(found["_native_id"]), python.values.string(found["_name"], _MAX_NAME)
    except UnreadableError:
        return

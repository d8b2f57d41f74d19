"""``pyharness.find_overwritten()``: tensors that autograd saved and that somebody wrote into before backward took them.

Memory is watched, not ops: so it sees C++ that writes through a data pointer, and knows its line.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError
from pyharness.model.results.overwritten import Overwritten
from pyharness.model.results.overwritten_text import overwritten_lines
from pyharness.model.results.trace import Call, TensorInfo
from pyharness.model.text.told import tell
from pyharness.native.chains import ChainReader, engine
from pyharness.native.named_addresses import frames_below_python
from pyharness.native.raw_finding import python_frames

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self


class OverwrittenSearch:
    """Looks from ``with`` to its end, in all threads.

    ``found`` is what was found so far: each node, line that saved and line that wrote once. ``times`` counts all.
    """

    def __init__(self, action: Callable[[Overwritten], object]) -> None:
        self.found: list[Overwritten] = []
        self.times = 0
        self._known: set[tuple[object, ...]] = set()
        self._action = action
        self._engine: Any = engine()

    def __enter__(self) -> Self:
        """Begin."""
        try:
            began = self._engine.start_watching_saves(self._take)
        except RuntimeError as error:
            raise HarnessError(f"Saved tensors cannot be watched here: {error}.", "") from None
        if not began:
            raise HarnessError(
                "find_overwritten looks at saved tensors already.", "Leave its `with` first; it sees all threads."
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        self._engine.stop_watching_saves()

    @property
    def saves(self) -> tuple[int, int]:
        """How many saved tensors were watched, and how many could not be: not on the CPU, or not in torch's memory."""
        watched, elsewhere = self._engine.count_saves()
        return int(watched), int(elsewhere)

    def forget(self) -> None:
        """Begin anew: what was found is another process's to tell."""
        self.found.clear()
        self._known.clear()
        self.times = 0

    def _take(self, fields: dict[str, Any]) -> None:
        """Decode one; called on the thread of the backward, which has not gone on yet."""
        self.times += 1
        kind = (fields["node"], fields["saved"], fields["native"][0], *fields["python"][:1])
        if kind in self._known:
            return
        self._known.add(kind)
        found = _decoded(fields, self._engine)
        self.found.append(found)
        self._action(found)


def find_overwritten(action: Callable[[Overwritten], object] | None = None) -> OverwrittenSearch:
    """Look for saved tensors that are overwritten: ``with pyharness.find_overwritten(): ...``.

    Autograd saves tensors in the forward and takes them in the backward. One that somebody wrote into in between is
    given to ``action`` as an ``Overwritten``; without one it is printed to stderr. The program goes on. What happens
    again, in a next step of training, is only counted.

    From the first search on torch gives each tensor on the CPU pages of its own; tensors of before are not watched. A
    tensor that is a view counts by its own elements, as far as the write's first page shows them.
    """
    return OverwrittenSearch(action or report)


def report(found: Overwritten, rank: int | None = None) -> None:
    """Print it to stderr; ``rank``: whose it is, in a job of several."""
    tell(overwritten_lines(found, rank=rank))


def _decoded(fields: dict[str, Any], engine: Any) -> Overwritten:
    reader = ChainReader()
    calls = tuple(Call(file, line, function) for file, line, function in fields["python"])
    index = fields.get("index")
    thread, other = fields["thread"], fields["python_thread"]
    return Overwritten(
        node=fields["node"],
        info=TensorInfo(fields["shape"], str(fields["dtype"]).removeprefix("torch."), "cpu"),
        counted=fields["counted"],
        inside=fields["inside"],
        saved=reader.calls(engine.chain_links(fields["saved"])),
        run=reader.calls(engine.chain_links(fields["run"])),
        stack=(*frames_below_python(fields["native"]), *python_frames(calls)),
        element=index,
        was=None if index is None else fields["was"].item(),
        now=None if index is None else fields["is"].item(),
        thread=thread,
        thread_name=_name_of(thread),
        waiting=f"{other} ({_name_of(other)})" if calls and other != thread else "",
        graph_task=fields["graph_task"] if fields["graph_task"] >= 0 else None,
    )


def _name_of(thread: int) -> str:
    return next((each.name for each in threading.enumerate() if each.native_id == thread), "")

"""A tensor that autograd saved for backward, and that somebody wrote into before backward took it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from pyharness.model.frozen import frozen
from pyharness.model.results.trace import Call, TensorInfo, origin_of
from pyharness.model.user_code import is_users_frame

if TYPE_CHECKING:
    from pyharness.model.frames import Frame

_OP = re.compile(r"at::_ops::(\w+)::(?:call|redispatch)")
_IN_PLACE = re.compile(r"(\w*?[^_]_)_(\w+)")


@frozen
class Overwritten:
    """One saved tensor, who saved it, and who wrote first."""

    node: str
    """The autograd node that takes it: ``MulBackward0``."""
    info: TensorInfo
    counted: bool
    """Whether the write counted up the tensor's version: then torch ends the backward with an error."""
    inside: bool
    """Whether the write began within the tensor; else a later one into the same memory may be what changed it."""
    saved: tuple[Call, ...]
    """Who called the op that saved it, innermost first."""
    run: tuple[Call, ...]
    """Who started the backward pass."""
    stack: tuple[Frame, ...]
    """Who wrote: the native frames from the instruction outward, then the Python frames that called.

    Of a thread without Python the latter are those of the thread that had saved the tensor, as they were then.
    """
    element: tuple[int, ...] | None
    """Index of the first element that is known to be another now."""
    was: complex | None
    """Value of that element when it was saved; ``None`` where ``element`` is."""
    now: complex | None
    thread: int
    """Kernel thread id of the writer."""
    thread_name: str
    waiting: str
    """Name and number of the thread whose Python frames these are; empty where it is the writer's own."""
    graph_task: int | None

    @property
    def writer(self) -> Frame | None:
        """The innermost frame of the user's."""
        return next(filter(is_users_frame, self.stack), None)

    @property
    def caller(self) -> Frame | None:
        """Where the writer is the user's native code: the line of Python that called it."""
        if self.writer is None or self.writer.language == "python":
            return None
        return next((each for each in self.stack if each.language == "python" and is_users_frame(each)), None)

    @property
    def op(self) -> str:
        """The innermost op that wrote, as ``aten::add_.Tensor``; empty where torch's dispatcher was not asked."""
        ops = (found[1] for frame in self.stack if (found := _OP.match(frame.function)))
        name = next(ops, "")
        overload = _IN_PLACE.fullmatch(name)
        return f"aten::{'.'.join(overload.groups()) if overload else name}" if name else ""

    @property
    def headline(self) -> str:
        """What was found, in one line."""
        at = origin_of(self.saved)
        where = f", saved at {at.file}:{at.line}," if at else ""
        return f"a tensor that {self.node} takes{where} was overwritten"

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            **vars(self),
            "info": self.info.to_json(),
            "was": _plain(self.was),
            "now": _plain(self.now),
            "saved": [call.to_json() for call in self.saved],
            "run": [call.to_json() for call in self.run],
            "stack": [frame.to_json() for frame in self.stack],
            "op": self.op,
        }


def _plain(value: complex | None) -> float | str | None:
    """A value as JSON has it: a text for what is no number there, such as NaN."""
    if value is None or (isinstance(value, (int, float)) and math.isfinite(value)):
        return value
    return str(value)

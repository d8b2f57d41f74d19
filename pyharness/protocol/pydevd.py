"""What the controller and the program say to one another through pydevd.

The controller's word stands where pydevd takes an expression of a person's. It begins with a comment, as no expression
does: pydevd passes it on unread, and the harness in the program answers. The program's word is the data of an output.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from pyharness.model.codec import decode, encode
from pyharness.model.frozen import frozen
from pyharness.model.text.json_lines import parsed
from pyharness.protocol.question import Answer, Question

_AT_LINE = "#pyharness line "
WHO = "#pyharness who"
"""In place of an expression to evaluate: the LWP of the thread that stands there, and the name of each thread."""
RETURNED, RETURNED_BY = "#pyharness returned", "#pyharness returned by"
"""Likewise: what the function has returned that this thread has stepped out of, and the function's name."""
ARGUMENTS = "#pyharness arguments"
"""Likewise: the names of the arguments of the function whose frame is asked about, in their order."""


@frozen
class Wanted:
    """One breakpoint or log point."""

    number: int = 0
    """The core's number of it."""
    condition: str = ""
    """A Python expression; empty for none."""
    hits: str = ""
    """Which hits count (``model/conditions/hits.py``); empty for all."""
    log: str = ""
    """What is printed instead of stopping, with expressions in braces; empty where it stops."""
    function: str = ""
    """The only function of the line that counts, by its bare name; empty for all."""
    frame: int = 0
    """debugpy's id of the only frame that counts: of one call, and none of those that it makes; 0 for all."""


@frozen
class AtLine:
    """All that is wanted at a line, or at a function, of which pydevd keeps one condition."""

    wanted: tuple[Wanted, ...]

    def to_condition(self) -> str:
        """The condition that pydevd is given; none where it stops always."""
        if self.wanted == (Wanted(self.wanted[0].number),):
            return ""
        return _AT_LINE + json.dumps(encode(self))

    @staticmethod
    @lru_cache(maxsize=256)
    def in_condition(condition: str) -> AtLine:
        """What a condition of pydevd's says; one from a client without the harness is the expression itself."""
        if condition.startswith(_AT_LINE):
            return decode(AtLine, parsed(condition.removeprefix(_AT_LINE)), "line")
        return AtLine((Wanted(condition=condition),))


class Data(Question[Answer]):
    """Data of an output of pydevd's, which no answer comes to."""

    def to_data(self) -> dict[str, Any]:
        """The data as pydevd sends them."""
        return {"type": self.tag, **self.to_json()}


@frozen
class PointLogged(Data[None], name="logged"):
    """The output is what a log point prints."""

    number: int
    """The core's number of it."""


@frozen
class ConditionFailed(Data[None], name="condition-failed"):
    """A condition could not be tested: the thread stops there, or the log point is none; told before the stop."""

    text: str
    """What a person is told."""
    thread: int
    """LWP."""
    line: int


@frozen
class Returns(Data[None], name="returns"):
    """The stop that comes next shows a thread in the caller of a function from which it still returns."""

    thread: int
    """LWP."""


def data_in(data: object) -> Data[Any] | None:
    """What data of an output say; ``None`` for debugpy's own."""
    if not isinstance(data, dict) or (kind := Data.known.get(str(data.get("type")))) is None:
        return None
    said: Data[Any] = kind.from_json({name: value for name, value in data.items() if name != "type"})
    return said

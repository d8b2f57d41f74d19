"""What the controller and the program say to one another through pydevd, where it takes an expression of a person's.

It begins with a comment, as no expression does: pydevd passes it on unread, and the harness in the program answers.
"""

from __future__ import annotations

import json
from functools import lru_cache

from pyharness.model.codec import decode, encode
from pyharness.model.frozen import frozen
from pyharness.model.text.json_lines import parsed

_AT_LINE = "#pyharness line "
WHO = "#pyharness who"
"""In place of an expression to evaluate: the LWP of the thread that stands there, and the name of each thread."""
RETURNED, RETURNED_BY = "#pyharness returned", "#pyharness returned by"
"""Likewise: what the function has returned that this thread has stepped out of, and the function's name."""
RETURNS = "returns"
"""Key of an output's data: the LWP of a thread that is shown in the caller of the function that it returns from."""
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

"""Native breakpoints that stop at some of their hits only, and log points: gdb decides, and goes on with its step."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import call_operators, terminal
from pyharness.ingdb.functions import asked_places
from pyharness.ingdb.passing import passes
from pyharness.ingdb.printers import values
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.stops.named_rank import with_rank
from pyharness.model.conditions import hits as hit_condition
from pyharness.model.conditions import log_message
from pyharness.model.errors import HarnessError
from pyharness.protocol.mi import Logged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.ingdb.stops.one_call import Calls
    from pyharness.protocol.mi import Break

_UNKNOWN = re.compile(r'No symbol "(\w+)" in current context')
_hits: Counter[int] = Counter()
"""By the core's number of the breakpoint, which gdb may have at several addresses."""


class CountedStop(gdb.Breakpoint):
    """gdb takes either a condition or ``stop``: the condition is tested here."""

    def __init__(self, spec: str, request: Break, call: Calls | None = None) -> None:
        self._asked = request
        self._call = call
        super().__init__(spec)

    def stop(self) -> bool:
        """Whether the thread is to stop."""
        if passes():
            return False
        with _where_it_stands():
            return self._wants()

    def _wants(self) -> bool:
        asked = self._asked
        try:
            if not self._counts():
                return False
        except gdb.error as error:
            if asked.log:
                return self._log(f"<the condition could not be tested: {error}>")
            terminal.complain(f"Error in testing condition for breakpoint {self.number}:\n{error}")
            return True
        _hits[asked.number] += 1
        if not hit_condition.holds(asked.hits, _hits[asked.number]):
            return False
        return self._log(_message(asked.log, asked.rank)) if asked.log else True

    def _counts(self) -> bool:
        """Whether this is a call that counts, and the condition holds, which is the faster to say of the two."""
        asked = self._asked
        if asked.condition and not bool(with_rank(asked.condition, asked.rank, call_operators.parsed)):
            return False
        return not (self._call and self._call.is_another())

    def _log(self, text: str) -> bool:
        terminal.write(Logged(self._asked.number, log_message.shortened(text)).to_line())
        return False


@contextmanager
def _where_it_stands() -> Iterator[None]:
    """Have the function of the line selected, where a function of another file is inlined that gdb would select."""
    found = asked_places.standing(gdb.newest_frame())
    if found is None:
        yield
        return
    found[0].select()
    try:
        yield
    finally:
        gdb.newest_frame().select()


def _message(message: str, rank: int | None) -> str:
    texts, values_ = log_message.parts(message)
    return texts[0] + "".join(_value(each, rank) + text for each, text in zip(values_, texts[1:], strict=True))


def _value(expression: str, rank: int | None) -> str:
    """The text of an expression, for which nothing may be called in the program: gdb is in the midst of a stop."""
    try:
        with temporarily("may-call-functions", "off"):
            return values.value_text(with_rank(expression.strip(), rank, call_operators.parsed))
    except (gdb.error, gdb.MemoryError, HarnessError) as error:
        return f"<{error}>"


def parses(spec: str, condition: str) -> None:
    """Raise gdb's error where a condition cannot be tested at a place."""
    probe = gdb.Breakpoint(spec, internal=True)
    try:
        probe.condition = condition
    except gdb.error as error:
        unknown = _UNKNOWN.match(str(error))
        if not unknown or not spec.startswith("*") or not _is_known_around(int(spec[1:], 16), unknown[1]):
            raise
    finally:
        probe.delete()


def _is_known_around(pc: int, name: str) -> bool:
    """Whether a variable is one of what the function at an address is inlined into: gdb looks no further than that."""
    block: gdb.Block | None = gdb.block_for_pc(pc)
    while block and not block.function:  # that one is where gdb has looked
        block = block.superblock
    while block and (block := block.superblock):
        if any(symbol.name in {name, "this"} for symbol in block):
            return True
    return False

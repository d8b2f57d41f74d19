"""ph-break: places in either language, and what became of them when the program ends."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass

import gdb

from pyharness.ingdb import console, terminal
from pyharness.ingdb.calls import agent
from pyharness.ingdb.prompt import trap
from pyharness.ingdb.prompt.arguments import scripts
from pyharness.ingdb.prompt.places_in_cxx import PlaceInCxx
from pyharness.ingdb.prompt.registry import command
from pyharness.ingdb.prompt.trap import PythonPlace, quietly
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.stops.counted_stops import CountedStop
from pyharness.model import where
from pyharness.model.errors import UsageError
from pyharness.protocol.agent import LinePlace, SetStops, op_place
from pyharness.protocol.mi import Break

ENVIRONMENT = "PYHARNESS_STOPS"
"""The variable with the places, which ``debuggee/lines/line_stops.py`` reads."""


class _Runs(gdb.Breakpoint):
    """Counts how often the code at a native place runs, and never stops there."""

    def __init__(self, location: str) -> None:
        self.count = 0
        super().__init__(location, internal=True)
        self.silent = True

    def stop(self) -> bool:
        """Count, whatever becomes of the place itself."""
        self.count += 1
        return False


@dataclass
class _Place:
    where: where.Where
    breakpoint: gdb.Breakpoint
    runs: _Runs | None = None
    """For a native place that stops at some of its hits only: gdb does not count the others."""
    in_cxx: PlaceInCxx | None = None
    """For a place in a graph."""


_places: dict[int, _Place] = {}
_numbers = itertools.count(1)
"""Numbers of those that count their hits here: no controller is there that numbers its own."""


@command("ph-break", gdb.COMMAND_BREAKPOINTS)
def ph_break(argument: str) -> None:
    """Stop at a place in either language; without one, list the places.

    ph-break fx:NODE | fx:MODULE.PATH | op:NAME | node:NAME | py:FILE:LINE | native:FUNCTION | native:FILE:LINE
             [if CONDITION | when CONDITION] [hits N | hits >= N | hits % N]

    The kind may be left out where only one can be meant: train.py:40, kernel.cpp:12, ns::function, blocks.0.norm.
    Code that is not there yet (a forward that torch.fx will generate, a library that will be loaded) is waited for.
    A condition is Python for fx, op and py, a gdb expression for native; `when` is for op and node, and is tested on
    their tensors: nan(out) or shape(in0)[0] == 1. `delete`, `disable` and `ignore` work as always.
    """
    if not argument:
        _list()
        return
    asked = where.parse(argument, where.folders_of(*scripts()))
    if asked.element is not None:
        raise UsageError(
            f"gdb alone does not find {asked}.", f"`pyharness debug` does; here name the node: {asked.name}."
        )
    trap.watch()
    number = _set_native(asked) if asked.kind == "native" else _set_python(asked)
    terminal.write(f"Breakpoint {number} at {asked}{_state(_places[number])}")


def set_places() -> None:
    """Make the places known to the program: now, or when it is started."""
    live = _live().items()
    stops = SetStops(tuple(_line_place(number, place.where) for number, place in live if place.where.kind != "native"))
    console.run(f"set environment {ENVIRONMENT} {json.dumps(stops.to_json())}")
    if not gdb.selected_inferior().pid or gdb.selected_thread() is None:
        return
    try:
        agent.call(stops)
    except agent.NoAgentError:
        if stops.stops:
            raise


def _line_place(number: int, asked: where.Where) -> LinePlace:
    return LinePlace(number, str(asked), asked.condition, op_place(asked, str(number)) if asked.is_native_op else None)


def unreached() -> list[str]:
    """A sentence for each place that was set and never reached, with the nearest names."""
    hints = trap.hints()
    return [
        _missed(place, hints.get(number, ""))
        for number, place in _live().items()
        if place.breakpoint.enabled and not _hits(place)
    ]


def _missed(place: _Place, hint: str) -> str:
    asked, counted = place.where, place.runs or place.breakpoint
    count = counted.count if isinstance(counted, (_Runs, PythonPlace)) else 0
    if count:
        times = "once" if count == 1 else f"{count} times"
        why = "it was to stop at other hits" if asked.hits else "its condition was never true"
        return f"{asked} never stopped. Its code ran {times}; {why}."
    if asked.kind == "native":
        hint = "No library that was loaded has it." if place.breakpoint.pending else "Its code never ran."
    return f"{asked} was never reached. {hint}".rstrip()


def _set_python(asked: where.Where) -> int:
    made = quietly(lambda: PythonPlace(asked.hits))
    place = _places[made.number] = _Place(asked, made, in_cxx=PlaceInCxx(asked) if asked.is_generated else None)
    try:
        if place.in_cxx and gdb.selected_inferior().pid:
            place.in_cxx.bind()
        set_places()
    except agent.NoAgentError:
        if not (place.in_cxx and place.in_cxx.is_set):  # in a program without Python there is no other code for it
            made.delete()
            raise
    except Exception:
        made.delete()
        raise
    return made.number


def _hits(place: _Place) -> int:
    return place.breakpoint.hit_count + (place.in_cxx.hits if place.in_cxx else 0)


def _set_native(asked: where.Where) -> int:
    condition = f" if {asked.condition}" if asked.condition else ""
    try:
        with temporarily("breakpoint pending", "on"):
            if asked.hits:
                quietly(lambda: CountedStop(asked.native_location, _counted(asked)))
            else:
                console.run(f"break {asked.native_location}{condition}")
    except gdb.error as error:
        raise UsageError(f"gdb does not take {asked}: {error}", where.FORMS) from error
    made = max(gdb.breakpoints(), key=lambda each: each.number)
    runs = None
    if asked.hits or asked.condition:
        with temporarily("breakpoint pending", "on"):
            runs = quietly(lambda: _Runs(asked.native_location))
    _places[made.number] = _Place(asked, made, runs)
    return made.number


def _counted(asked: where.Where) -> Break:
    return Break(condition=asked.condition, hits=asked.hits, number=next(_numbers))


def _live() -> dict[int, _Place]:
    """The places whose breakpoint the person has not deleted."""
    for number in [number for number, place in _places.items() if not place.breakpoint.is_valid()]:
        if (runs := _places.pop(number).runs) and runs.is_valid():
            runs.delete()
    return _places


def _list() -> None:
    if not _live():
        terminal.write(f"No places. {where.FORMS}")
    for number, place in _places.items():
        hits = _hits(place)
        reached = f"  reached {hits} time{'s' if hits != 1 else ''}" if hits else ""
        off = "" if place.breakpoint.enabled else "  (disabled)"
        terminal.write(f"{number}  {place.where.written}{reached}{off}")


def _state(place: _Place) -> str:
    waits = place.breakpoint.pending and not (place.in_cxx and place.in_cxx.is_set)
    return " (waiting for its code)" if waits else ""

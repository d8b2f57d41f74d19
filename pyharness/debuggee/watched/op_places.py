"""``op:`` and ``node:`` places of a debugger: native breakpoints, set as soon as torch is there.

Generated lines that call an op are the line breakpoints' business: where one of them stops, the op itself does not.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from pyharness.debuggee.agent import handles
from pyharness.debuggee.unpatched import threading
from pyharness.debuggee.watched import generated
from pyharness.debuggee.watched.imports import after_import
from pyharness.model import places, source_map
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import say
from pyharness.protocol.agent import SetOpPlaces
from pyharness.protocol.channel import OpReached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from pyharness.native.breakpoint_actions import Answer
    from pyharness.native.breakpoints import Breakpoint, Hit
    from pyharness.protocol.agent import OpPlace
    from pyharness.protocol.channel import Go

    Stops = Callable[[OpPlace | None, Hit], "Answer"]
    """Takes the place (``None`` for a breakpoint of the program's own) and the hit."""

_TORCH = "torch"


class OpPlaces:
    """Places of the debugger that is there; a process has at most one."""

    def __init__(self) -> None:
        self._wanted: tuple[OpPlace, ...] = ()
        self._set: dict[OpPlace, Breakpoint] = {}
        self._stops: Stops | None = None
        self.unwatched = ""
        """Why none of them is watched: the native half is not built, or for another torch."""

    def start(self, stops: Stops) -> None:
        """From now on a debugger is there that stops by ``stops``."""
        self._stops = stops
        after_import(_TORCH, self._open_door_of)

    def end(self) -> None:
        """The debugger is gone: nothing stops for it any more."""
        self._stops = None
        self.replace(())
        actions = sys.modules.get("pyharness.native.breakpoint_actions")
        if actions is not None:
            actions.DOOR.clear()

    def replace(self, asked: Iterable[OpPlace]) -> None:
        """Stop at exactly these."""
        self._wanted = tuple(asked)
        if "pyharness.native.breakpoints" in sys.modules or (self._wanted and _has_torch()):
            self._apply()

    def hints(self) -> dict[str, str]:
        """For each place that torch has no op and no node for: the nearest names."""
        if not _has_torch() or self.unwatched:
            return {}
        from pyharness.debuggee.watched.unknown_names import unknown

        # A node of the user's C++ may have come to a condition that did not hold: torch does not list those.
        asked = (place for place in self._wanted if place.kind == "op" or not place.when)
        hints = {place.known_as: unknown(place.kind, place.name) for place in asked}
        return {name: hint for name, hint in hints.items() if hint}

    def stop_by_channel(self, ask: Callable[[OpReached], Go | None]) -> Stops:
        """Stop where the controller, asked through its channel, has gdb ready for it."""

        def stop(place: OpPlace | None, hit: Hit) -> Answer:
            from pyharness import _trap
            from pyharness.native.breakpoint_actions import stop_with

            trap = _trap.addresses()["python_line"]
            answer = ask(OpReached(place.known_as if place else "", threading.get_native_id(), trap))
            if answer is None:
                self.end()
            return stop_with(hit) if answer and answer.stop else None

        return stop

    def _apply(self) -> None:
        for gone in self._set.keys() - set(self._wanted):
            self._set.pop(gone).remove()
        for place in self._wanted:
            if place not in self._set:
                self._set[place] = self._made(place)

    def _made(self, place: OpPlace) -> Breakpoint:
        from pyharness.native.breakpoints import at_place
        from pyharness.native.load import load

        load("_engine")  # the program does not wait until it is built: its debugger has seen to that, or says how
        return at_place(place.kind, place.name, place.when, lambda hit: self._hit(place, hit))

    def _hit(self, place: OpPlace | None, hit: Hit) -> Answer:
        if self._stops is None or (place and _is_line_too(place, hit)):
            return None
        return self._stops(place, hit)

    def _open_door_of(self, torch: ModuleType) -> None:
        """Once torch is there, but for one that another thread is still importing."""
        if hasattr(torch, "_C"):
            self._open_door()

    def _open_door(self) -> None:
        """Torch is there: set what waits for it, and let breakpoints of the program's own stop in the debugger."""
        try:
            from pyharness.native.breakpoint_actions import DOOR

            DOOR[:] = [lambda hit: self._hit(None, hit)]
            self._apply()
        except HarnessError as error:  # the module is not built: the program runs all the same
            if self._wanted:
                self.unwatched = str(error)
                say(f"no native breakpoints: {error}")


OP_PLACES = OpPlaces()


@handles(SetOpPlaces)
def set_op_places(request: SetOpPlaces) -> None:
    """Exactly these places from now on."""
    OP_PLACES.replace(request.places)


def replace_from(text: str) -> list[str]:
    """Do a ``SetOpPlaces`` that debugpy evaluates; the lines of the error where that cannot be."""
    try:
        set_op_places(SetOpPlaces.from_json(json.loads(text)))
    except HarnessError as error:
        return str(error).splitlines()
    return []


def _has_torch() -> bool:
    torch = sys.modules.get(_TORCH)
    return torch is not None and hasattr(torch, "autograd") and hasattr(torch, "_C")


def _is_line_too(place: OpPlace, hit: Hit) -> bool:
    """Whether the line that called is generated and has a line breakpoint for this op."""
    if place.kind != "op" or place.when or not place.at_lines or hit.file not in generated.known():
        return False
    found = source_map.map_of(hit.file)
    return found is not None and any(entry.line == hit.line for entry in places.calls_of(found, place.name))

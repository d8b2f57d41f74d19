"""Data breakpoints: a tensor's element, a small storage or any C++ value, watched by the hardware."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from pyharness.dap.registry import request
from pyharness.debugger.native.watch import NativeWatch
from pyharness.debugger.native.watchable import watchable
from pyharness.model.conditions import hits as hit_condition
from pyharness.model.errors import HarnessError
from pyharness.protocol.mi import WatchTarget

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.shell import Shell
    from pyharness.protocol.mi import Access, WatchHit

_ACCESS = ("write", "read", "readWrite")


@dataclass
class _Watched:
    """One that the client has set."""

    number: int
    """The client's."""
    target: WatchTarget
    hit_condition: str
    hits: int = 0


class DataBreakpoints:
    """The data breakpoints of one program."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self._watch: NativeWatch | None = None
        self._set: dict[int, _Watched] = {}
        """By gdb's number."""

    @property
    def watch(self) -> NativeWatch:
        """What gdb watches; attaches it."""
        if self.shell.immobile:
            raise HarnessError(self.shell.immobile)
        if self._watch is None:
            self._watch = NativeWatch(self.shell.attach())
        return self._watch

    def clear(self) -> None:
        """Remove all."""
        for number in list(self._set):
            del self._set[number]
            self.watch.unwatch(number)

    def add(self, number: int, thread: int, data: Message, asked: Arguments) -> Message:
        """Set one; the protocol's ``Breakpoint``."""
        condition_of_hits = hit_condition.checked(asked.text("hitCondition", ""))
        access = asked.text("accessType", _ACCESS[0])
        if access not in _ACCESS:
            raise HarnessError(f"There is no access {access!r}.", f"One of {', '.join(_ACCESS)}.")
        condition = asked.text("condition", "")
        target = self.watch.watch(thread, _target(data), access=cast("Access", access), condition=condition)
        self._set[target.number] = _Watched(number, target, condition_of_hits)
        return {"id": number, "verified": True, "message": data["description"]}

    def hits(self, thread: int) -> tuple[list[int], list[WatchHit]]:
        """The client's numbers of those hit that want a stop, and what happened at each."""
        numbers, wanted = [], []
        for hit in self.watch.hits(thread):
            each = self._set.get(hit.number)
            if each is None:
                continue
            each.hits += 1
            if hit_condition.holds(each.hit_condition, each.hits):
                numbers.append(each.number)
                wanted.append(hit)
        return numbers, wanted


def _target(data: Message) -> WatchTarget:
    return WatchTarget(data["address"], data["length"], data["description"], data["value"])


@request("dataBreakpointInfo", supportsDataBreakpoints=True)
def data_breakpoint_info(session: Session, arguments: Arguments) -> Message:
    """What could be watched under a name, or why nothing could."""
    name, reference = arguments.text("name"), arguments.integer("variablesReference", 0)
    try:
        target = _watchable(session, arguments, name, reference)
    except HarnessError as error:
        return {"dataId": None, "description": str(error)}
    data = json.dumps({key: value for key, value in asdict(target).items() if key != "number"})
    return {"dataId": data, "description": target.description, "accessTypes": list(_ACCESS), "canPersist": False}


def _watchable(session: Session, arguments: Arguments, name: str, reference: int) -> WatchTarget:
    shell = session.require_program()
    watch = session.data_breakpoints(shell).watch
    if not reference:
        shown = session.frames.get(arguments.integer("frameId", 0))
        return watchable(shell.python, watch, shown, name)
    container = session.variables.get(reference)
    if container.frame is None:
        raise HarnessError(
            f"{name!r} is nothing that the program has in memory.",
            "A tensor, or a variable of a C++ frame can be watched.",
        )
    return watchable(shell.python, watch, container.frame, session.variables.expression(reference, name))


@request("setDataBreakpoints", needs="program")
def set_data_breakpoints(session: Session, arguments: Arguments) -> Message:
    """All data breakpoints."""
    shell = session.require_program()
    wanted = arguments.objects("breakpoints")
    watched = session.data_breakpoints(shell)
    focus = shell.machine.focus
    thread = focus.thread if focus else shell.process.pid
    watched.clear()
    return {"breakpoints": [_set_one(session, watched, thread, each) for each in wanted]}


def _set_one(session: Session, watched: DataBreakpoints, thread: int, asked: Arguments) -> Message:
    try:
        data = _data(asked.text("dataId"))
        return watched.add(session.breakpoints.next_number(), thread, data, asked)
    except HarnessError as error:
        return {"verified": False, "message": str(error)}


def _data(text: str) -> dict[str, Any]:
    """A ``dataId`` of ours; an error for any other text."""
    try:
        data = dict(json.loads(text))
        sound = min(int(data["address"]), int(data["length"])) > 0 and _target(data).description
    except (ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise HarnessError("This dataId does not come from dataBreakpointInfo.", "Ask for it first.")
    return data

"""What the hooks noted, as records: which call of which path each was."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyharness.inspect.hooks import Begin, End
from pyharness.inspect.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.inspect.selection import Selection, Target


@dataclass(frozen=True)
class _Running:
    begin: Begin
    path: str


def replay(events: Iterable[Any], selection: Selection) -> list[Record]:
    """In the order in which the calls ended; those that raised too, where their beginning was noted."""
    running: dict[int, list[_Running]] = defaultdict(list)
    calls: Counter[str] = Counter()
    records = []
    for event in events:
        if isinstance(event, Begin):
            path = _path(selection.targets[event.target], running[event.thread])
            running[event.thread].append(_Running(event, path))
            continue
        end = event if isinstance(event, End) else _of_quick(event)
        target = selection.targets[end.target]
        own = _own(running[end.thread], end.target)
        if not target.wanted:
            continue
        path = own.path if own else _path(target, running[end.thread])
        records.append(_record(target, path, calls[path], end, own.begin if own else None))
        calls[path] += 1
    return records


def _own(running: list[_Running], target: int) -> _Running | None:
    """The beginning of what has ended; calls inside of it that never ended are dropped."""
    if not any(each.begin.target == target for each in running):
        return None
    while True:
        last = running.pop()
        if last.begin.target == target:
            return last


def _path(target: Target, running: list[_Running]) -> str:
    """The path of the call; for a shared module, the path below the innermost call that is around this one."""
    if target.shared:
        for around in reversed(running):
            prefix = f"{around.path}." if around.path else ""
            below = [path for path in target.paths if path.startswith(prefix) and path != around.path]
            if below:
                return min(below, key=lambda path: path.count("."))
    return target.paths[0]


def _of_quick(event: tuple[int, int, Any, int | tuple[int | None, ...] | None, int]) -> End:
    number, thread, output, noted, task = event
    each = {f"[{i}]": version for i, version in enumerate(noted)} if isinstance(noted, tuple) else {"": noted}
    versions = {path: version for path, version in each.items() if version is not None}
    return End(number, thread, output, versions=versions, recomputed=task != -1)


def _record(target: Target, path: str, call: int, end: End, begin: Begin | None) -> Record:
    raised = end.handled is not None and begin is not None and end.handled is not begin.handled
    return Record(
        path=path,
        paths=target.paths,
        call=call,
        module=type(target.module).__name__,
        output=end.output,
        inputs=begin.inputs if begin else None,
        gradients=end.gradients,
        thread=end.thread,
        finished=not raised,
        recomputed=end.recomputed,
        edges=end.edges,
        versions=end.versions,
    )

"""What a front end feels: launch, steps in both languages and between them, stacks and variables, over DAP.

``pyharness dap`` beside debugpy's adapter (Python) and gdb 16's own (native): each has a copy of one program, and they
take turns.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.dap_session.client import DapClient
from benchmarks.dap_session.endurance import endure
from benchmarks.dap_session.servers import (
    DEBUGPY,
    DEBUGPY_ALONE,
    GDB,
    OURS,
    PYHARNESS,
    SCRIPT,
    SOURCE,
    Place,
    Server,
    attach,
    extension,
    gdb_16,
    launch,
    mark,
    running_program,
)
from benchmarks.dap_session.stand import Stand
from benchmarks.table import Check, Row, Table, ratio, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

RUNS = 40
LAUNCHES = 5
RATIO, LAUNCH_S, MEDIAN_MS, P95_MS = 1.2, 0.5, 50.0, 150.0
DRIFT, GROWTH_MIB = 1.2, 8.0
INTO, OUT = "into (Python line → kernel)", "out (kernel → next Python line)"
Times = dict[str, dict[str, list[float]]]
"""Kind of step → subject → seconds."""
Parts = tuple[tuple[Row, ...], tuple[Check, ...]]


def run(runs: int = RUNS) -> Table:
    """Measure all of it."""
    library = extension()
    native = gdb_16()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PYHARNESS_HOME"] = home
        parts = list(_launches(library, min(runs, LAUNCHES)))
        with ExitStack() as open_clients:
            ours = _launched(open_clients, PYHARNESS, library)
            parts.append(_boundary(ours, runs))
            parts.append(_python(ours, _launched(open_clients, DEBUGPY_ALONE, library), runs))
            if isinstance(native, str):
                parts.append(((), (Check(f"native: next, {OURS} / {GDB}", None, RATIO),)))
            else:
                theirs = _attached(open_clients, native, library)
                parts.append(_native(ours, theirs, runs))
        with ExitStack() as open_clients:
            parts.append(_endurance(_launched(open_clients, PYHARNESS, library)))
    return Table(
        "dap", tuple(row for rows, _ in parts for row in rows), tuple(c for _, checks in parts for c in checks)
    )


# --- subjects ---------------------------------------------------------------------------------------------------------


def _launched(stack: ExitStack, server: Server, library: str) -> Stand:
    """The program under an adapter, at the line that calls the op, without breakpoints."""
    client = stack.enter_context(DapClient(server.name, server.command))
    stand = Stand(client, launch(client, server, SCRIPT, [library], [mark(SCRIPT, "op")]))
    client.request("setBreakpoints", {"source": {"path": str(SCRIPT)}, "breakpoints": []})
    return stand


def _attached(stack: ExitStack, server: Server, library: str) -> Stand:
    """A running program under gdb's adapter, in the kernel, without breakpoints."""
    pid = stack.enter_context(running_program(library))
    client = stack.enter_context(DapClient(server.name, server.command))
    stand = Stand(client, attach(client, pid, [mark(SOURCE, "call")]))
    client.request("setBreakpoints", {"source": {"path": str(SOURCE)}, "breakpoints": []})
    return stand


# --- questions --------------------------------------------------------------------------------------------------------


def _launches(library: str, runs: int) -> Iterator[Parts]:
    """From starting the adapter to the first stop, before and after the extension is loaded."""
    for name in ("first", "loaded"):
        place = mark(SCRIPT, name)
        seconds: dict[str, list[float]] = {OURS: [], DEBUGPY: []}
        for turn in range(-1, runs):
            for server in (PYHARNESS, DEBUGPY_ALONE):
                with DapClient(server.name, server.command) as client:
                    launch(client, server, SCRIPT, [library], [place])
                    if turn >= 0:
                        seconds[server.name].append(client.elapsed)
        more = statistics.median(ours - its for ours, its in zip(seconds[OURS], seconds[DEBUGPY], strict=True))
        what = f"launch to {_WHERE[name]}: seconds over debugpy alone"
        yield rows_of(f"launch to {_WHERE[name]}", seconds, "s"), (Check(what, more, LAUNCH_S),)


_WHERE = {"first": "a line before the extension", "loaded": "a line after it is loaded"}


def _boundary(ours: Stand, runs: int) -> Parts:
    """From a Python line into the kernel that it calls, and out to the next line."""
    op, after = mark(SCRIPT, "op"), mark(SCRIPT, "after")
    times: Times = {name: {OURS: []} for name in (INTO, OUT, "into, until shown", "out, until shown")}
    for turn in range(-2, 2 * runs):
        ours.go_on_to(op)
        into = ours.step("stepIn")
        into_shown = into + ours.shown()
        _require_function(ours, "scale_cpu")
        out = ours.step("stepOut")
        out_shown = out + ours.shown()
        ours.require(after)
        if turn >= 0:
            for name, value in zip(times, (into, out, into_shown, out_shown), strict=True):
                times[name][OURS].append(value)
    checks: list[Check] = []
    for name in (INTO, OUT):
        milliseconds = [1e3 * value for value in times[name][OURS]]
        checks.append(Check(f"median of {name}, ms", statistics.median(milliseconds), MEDIAN_MS))
        checks.append(Check(f"p95 of {name}, ms", statistics.quantiles(milliseconds, n=20)[-1], P95_MS))
    return _rows("boundary", times), tuple(checks)


def _python(ours: Stand, theirs: Stand, runs: int) -> Parts:
    """Steps within Python; gdb is attached to the program under ours by now."""
    op, call = mark(SCRIPT, "op"), mark(SCRIPT, "call")

    def turn(stand: Stand) -> Iterator[tuple[str, float]]:
        stand.go_on_to(op)
        yield from _step_and_look(stand, "next")
        stand.go_on_to(call)
        yield "stepIn", stand.step("stepIn")
        _require_function(stand, "half")
        yield "stepOut", stand.step("stepOut")
        yield from _look(stand)

    return _compared("Python", {OURS: ours, DEBUGPY: theirs}, turn, runs)


def _native(ours: Stand, theirs: Stand, runs: int) -> Parts:
    """Steps within the kernel."""
    call = mark(SOURCE, "call")
    ours.go_on_to(mark(SCRIPT, "op"))
    ours.step("stepIn")

    def turn(stand: Stand) -> Iterator[tuple[str, float]]:
        stand.go_on_to(call)
        yield "stepIn", stand.step("stepIn")
        _require_function(stand, "multiply")
        yield "stepOut", stand.step("stepOut")
        stand.go_on_to(call)
        yield "next after a stepIn", stand.step("next")
        stand.require(Place(SOURCE, call.line + 1))
        for _ in range(3):
            yield "next", stand.step("next")
        stand.require(Place(SOURCE, call.line + 1))
        yield from _step_and_look(stand, "next")
        yield from _look(stand)

    return _compared("native", {OURS: ours, GDB: theirs}, turn, runs)


def _endurance(ours: Stand) -> Parts:
    found = endure(ours, SCRIPT.name)
    rows = (
        Row("1,000 steps", "median of the first 100", 1e3 * found.first, "ms", len(found.seconds)),
        Row("1,000 steps", "median of the last 100", 1e3 * found.last, "ms", len(found.seconds)),
        Row("1,000 steps", "adapter and debuggers after 100", found.before.resident / 2**20, "MiB", 1),
        Row("1,000 steps", "adapter and debuggers at the end", found.after.resident / 2**20, "MiB", 1),
    )
    growth = (found.after.resident - found.before.resident) / 2**20
    checks = (
        Check("1,000 steps: last 100 / first 100", found.last / found.first, DRIFT),
        Check("1,000 steps: MiB more", growth, GROWTH_MIB),
        Check("1,000 steps: file descriptors more", found.after.descriptors - found.before.descriptors, 0),
        Check("1,000 steps: processes more", found.after.processes - found.before.processes, 0),
    )
    return rows, checks


# --- timing -----------------------------------------------------------------------------------------------------------


def _step_and_look(stand: Stand, command: str) -> Iterator[tuple[str, float]]:
    seconds = stand.step(command)
    yield command, seconds
    yield f"{command}, until shown", seconds + stand.shown()


def _look(stand: Stand) -> Iterator[tuple[str, float]]:
    """The times of a stop that nothing was asked of before: an adapter may keep what it has answered once."""
    stand.step("next")
    yield "stackTrace", stand.stack()
    yield "scopes and variables", stand.variables()


def _compared(
    language: str, stands: Mapping[str, Stand], turn: Callable[[Stand], Iterator[tuple[str, float]]], runs: int
) -> Parts:
    """Every subject takes a turn in each round, in an order that changes."""
    times: Times = {}
    for number in range(-2, runs):
        for subject in _rotated(list(stands), number):
            for kind, seconds in turn(stands[subject]):
                if number >= 0:
                    times.setdefault(kind, {name: [] for name in stands})[subject].append(seconds)
    ours, peer = stands
    checks = tuple(
        Check(f"{language}: {kind}, {ours} / {peer}", ratio(of_kind, ours, peer), RATIO)
        for kind, of_kind in times.items()
    )
    return _rows(language, times), checks


def _rotated(names: Sequence[str], turn: int) -> list[str]:
    first = turn % len(names)
    return [*names[first:], *names[:first]]


def _rows(language: str, times: Times) -> tuple[Row, ...]:
    return tuple(row for kind, of_kind in times.items() for row in rows_of(f"{language}: {kind}", of_kind))


def _require_function(stand: Stand, name: str) -> None:
    frame = stand.frames(1)[0]
    assert name in frame["name"], f"{stand.client.name}: a step ended in {frame['name']}, not in {name}"

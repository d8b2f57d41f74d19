"""Native breakpoints: at a place that the user names, and, for *into*, at every function of the user's own."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.functions import native_names
from pyharness.ingdb.functions.known_functions import known_functions
from pyharness.ingdb.functions.many_functions import Entries, has_many
from pyharness.ingdb.functions.user_functions import user_functions
from pyharness.ingdb.process import libraries
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops.counted_stops import CountedStop, parses
from pyharness.ingdb.stops.planted import Planted
from pyharness.model.errors import nearest
from pyharness.model.glue import glue_family
from pyharness.model.text.code_lines import line_count
from pyharness.model.user_code import is_user_python, is_user_source
from pyharness.protocol.mi import Armed, Bound, Break, TrapHit
from pyharness.reading.functions.function_name import matches
from pyharness.reading.functions.symbol_names import demangled

if TYPE_CHECKING:
    from pyharness.ingdb.functions.user_functions import UserFunction
    from pyharness.model.frames import Frame
    from pyharness.reading.binaries.elf import Elf

_SIGTRAP, _SI_KERNEL = 5, 0x80
_MAX_ARMED = 20_000
"""More functions than this make a step slower than a person waits; the rest is left out and counted."""


class _Arming:
    """What stops *into*: planted traps, or breakpoints, kept between steps because making them is the slow part."""

    def __init__(self) -> None:
        self.planted: Planted | None = None
        self.breakpoints: dict[int, gdb.Breakpoint] = {}
        self.enabled: list[gdb.Breakpoint] = []
        self.skipped = 0
        self.entries = Entries()
        self.standing = 0
        """Where the thread stood that steps; 0 where it was in Python."""


_arming = _Arming()
_bound: dict[int, set[str]] = {}
"""Where a breakpoint is set, by the core's number of it: a library that is loaded later may have the function, too."""


def arm(thread: gdb.InferiorThread) -> Armed:
    """Break at all of the user's functions on ``thread``; a later stop elsewhere needs ``disarm``."""
    functions = known_functions()
    _arming.skipped = max(0, len(functions) - _MAX_ARMED)
    for function in functions[:_MAX_ARMED]:
        stop = _arming.breakpoints.get(function.stop_address)
        if stop is None or not stop.is_valid():
            stop = gdb.Breakpoint(f"*{function.stop_address:#x}", internal=True)
            _arming.breakpoints[function.stop_address] = stop
        stop.thread = thread.global_num
        stop.enabled = True
        _arming.enabled.append(stop)
    return Armed(len(_arming.enabled), _arming.skipped, _changes(libraries.lost()))


def plant(standing: int | None = None) -> Armed:
    """Plant traps for all threads and without gdb's help, in a program that has a trap guard.

    ``standing`` is where the stepping thread stands, 0 where gdb does not hold it: a trap there would stop it before it
    has moved, or be taken by gdb for an instruction of one byte that it has stepped. Without it, as before.
    """
    planted = _planted()
    if standing is not None:
        planted.lift_one(standing)
        _arming.standing = standing
    return Armed(planted.plant(_traps() - {_arming.standing}), lost=_changes(libraries.lost()))


def _traps() -> set[int]:
    """Where to stop; in a library of very many functions, where those begin to which no thread has come yet."""
    found: set[int] = set()
    for library in libraries.user_libraries():
        if _begins_only(library.elf):
            found |= _arming.entries.traps(library.elf, library.bias)
        else:
            found |= {each.stop_address for each in user_functions(library.elf, library.bias)}
    return found


def _begins_only(elf: Elf) -> bool:
    """A step from a native line is one of gdb's, which must not be interrupted by what is not the user's."""
    return has_many(elf) and not _arming.standing and not _arming.entries.is_tired


def plant_at(address: int) -> None:
    """Plant a trap at one place: where a call returns to."""
    _planted().plant([address])


def _planted() -> Planted:
    """What is planted in the selected program."""
    pid = gdb.selected_inferior().pid
    if _arming.planted is None:
        gdb.events.stop.connect(_put_right)
    if _arming.planted is None or _arming.planted.pid != pid:
        _arming.planted, _arming.entries = Planted(pid), Entries()
    return _arming.planted


class _Return(gdb.Breakpoint):
    """Where one call returns to: in that frame, not in another run of the same code."""

    def __init__(self, frame: gdb.Frame, thread: gdb.InferiorThread) -> None:
        super().__init__(f"*{frame.pc():#x}", internal=True)
        self.thread = thread.global_num
        self._sp = int(frame.read_register("sp"))

    def stop(self) -> bool:
        return int(gdb.newest_frame().read_register("sp")) == self._sp


def arm_return(thread: gdb.InferiorThread, stdlib: str) -> bool:
    """Break where native code of the user's goes on, if that called the innermost Python function of theirs."""
    own = (frame for frame in backtrace.merged_stack(thread) if _is_own(frame, stdlib))
    callers = itertools.islice(itertools.dropwhile(lambda frame: frame.language == "native", own), 1, 2)
    caller = next(callers, None)
    frame: gdb.Frame | None = gdb.newest_frame()
    while caller and caller.language == "native" and frame:
        if frame.pc() == caller.address:
            _arming.enabled.append(_Return(frame, thread))
            return True
        frame = frame.older()
    return False


def _is_own(frame: Frame, stdlib: str) -> bool:
    if frame.language == "native":
        return is_user_source(frame.file) and not frame.plumbing
    return not frame.plumbing and is_user_python(frame.file, stdlib)


def _put_right(event: gdb.ThreadEvent) -> None:
    """Put the pc of a thread that hit a trap right at once: whoever lets it go next must find it so, the kernel too.

    gdb has no event of its own for SIGTRAP: a step that ends behind a trap is told apart by the signal's code.
    """
    if isinstance(event, gdb.BreakpointEvent) or not _arming.planted:
        return
    selected = gdb.selected_thread()
    if event.inferior_thread:
        event.inferior_thread.switch()
    address = _arming.planted.address_of(gdb.newest_frame().pc())
    if address is not None and _is_int3():
        console.run(f"set $pc = {address:#x}")
    if selected and selected.is_valid():
        selected.switch()


def is_sent_trap() -> bool:
    """Whether the selected thread was stopped by a SIGTRAP of ``kill``, ``raise`` or the like."""
    signal, code = _signal()
    return signal == _SIGTRAP and code <= 0


def _is_int3() -> bool:
    """Whether the selected thread was stopped by an ``int3``."""
    return _signal() == (_SIGTRAP, _SI_KERNEL)


def _signal() -> tuple[int, int]:
    """What stopped the selected thread, and why that came: ``si_signo`` and ``si_code``."""
    try:
        number, code = (int(gdb.parse_and_eval(f"$_siginfo.{name}")) for name in ("si_signo", "si_code"))
    except gdb.error:  # a core file, or a thread that is gone
        return 0, 0
    return number, code


def at_trap(*, lift: bool) -> TrapHit:
    """What the selected thread stands at; at a planted trap its pc is put on the instruction that is there."""
    planted = _arming.planted
    address = planted.address_of(gdb.newest_frame().pc()) if planted else None
    if planted is None or address is None:
        return "none"
    hit: TrapHit = "trap" if lift or not _enters(planted, address) else "beginning"
    if lift:
        planted.lift_one(address)
    console.run(f"set $pc = {address:#x}")
    return hit


def _enters(planted: Planted, address: int) -> bool:
    """Whether a function begins here that is not to be stopped at here: the trap goes to where it is, if anywhere."""
    library = libraries.library_at(address)
    if library is None or not has_many(library.elf) or not _begins_only(library.elf):
        return False
    if not _arming.entries.is_entry(library.elf, library.bias, address):
        return False
    stop = _arming.entries.enter(library.elf, library.bias, address)
    if stop == address:
        return False
    planted.lift_one(address)
    if _arming.entries.is_tired:
        planted.plant(_traps())
    elif stop is not None:
        planted.plant([stop])
    return True


def disarm() -> None:
    """Take what stops *into* out of the program again."""
    if _arming.planted:
        _arming.planted.lift()
    for stop in _arming.enabled:
        if isinstance(stop, _Return):
            stop.delete()
        elif stop.is_valid():
            stop.enabled = False
    _arming.enabled.clear()


def is_armed(number: int) -> bool:
    """Whether ``number`` is a breakpoint of *into*."""
    return any(stop.is_valid() and stop.number == number for stop in _arming.enabled)


def set_breakpoint(request: Break) -> Bound:
    """Set the user's breakpoint wherever what is loaded has its place, and it is not set yet."""
    known = _bound.setdefault(request.number, set()) if request.number else set()
    found = _specs(request)
    if not found:
        return Bound((), _hint(request))
    specs = [spec for spec in found if spec not in known]
    numbers: list[int] = []
    places: list[tuple[str, int]] = []
    refused: list[_ConditionError] = []
    for spec in specs:
        try:
            stop = _stop_at(spec, request)
        except _ConditionError as error:  # of overloads only some may have what it names
            refused.append(error)
            continue
        if stop.pending and request.line:
            stop.delete()
            stop = _through_links(request)
        known.add(spec)
        _leave_out_glue(stop)
        stop.ignore_count = request.ignore
        numbers.append(stop.number)
        places += _places(stop)
    if refused and not known:
        raise refused[0]
    return Bound(tuple(numbers), places=tuple(places))


class _ConditionError(gdb.GdbError):
    """A condition that gdb cannot parse at a place."""


def _stop_at(spec: str, request: Break) -> gdb.Breakpoint:
    """A breakpoint; one that stops at each of its hits is gdb's own, which tests its condition faster."""
    counted = bool(request.hits or request.log)
    stop = CountedStop(spec, request) if counted else gdb.Breakpoint(spec)
    if request.condition:
        try:
            if counted:
                parses(spec, request.condition)
            else:
                stop.condition = request.condition
        except gdb.error as error:
            stop.delete()
            raise _ConditionError(f"The condition {request.condition!r} does not parse: {error}") from error
    return stop


def _through_links(request: Break) -> gdb.Breakpoint:
    """A breakpoint at a line of a file that gdb, which compares the ends of paths, does not know by the name given."""
    real = os.path.realpath(request.file)
    if real.endswith(f"/{request.file}"):
        raise _no_such_line(request)
    stop = _stop_at(_line_spec(real, request.line), request)
    if stop.pending:
        stop.delete()
        raise _no_such_line(request)
    return stop


def _leave_out_glue(stop: gdb.Breakpoint) -> None:
    """A line of Cython's is also what the generated code behind another line counts as: do not stop there."""
    locations = getattr(stop, "locations", [])  # since gdb 13
    glue = [each for each in locations if glue_family(each.function or "")]
    for each in glue if len(glue) < len(locations) else ():
        each.enabled = False


def _places(stop: gdb.Breakpoint) -> list[tuple[str, int]]:
    """The source lines where a breakpoint lies; gdb tells them since version 13."""
    sources = [location.source for location in getattr(stop, "locations", []) if location.enabled]
    return [(source[0], source[1]) for source in sources if source]


def _specs(request: Break) -> list[str]:
    if request.address:
        return _by_address(request.address)
    return _by_line(request) if request.line else _by_function(request.function)


def _by_address(address: int) -> list[str]:
    try:
        gdb.selected_inferior().read_memory(address, 1)
    except gdb.MemoryError as error:
        raise gdb.GdbError(f"There is no code at {address:#x}.") from error
    return [f"*{address:#x}"]


def _by_line(request: Break) -> list[str]:
    """A line of a source file, if the user's code has that file: gdb slides to the next line with code."""
    return [_line_spec(request.file, request.line)] if _functions_of(request.file) else []


def _functions_of(file: str) -> list[UserFunction]:
    """The known functions of a file: two libraries may have files of one name, in folders of their own."""
    known = known_functions()
    files = {each for each in {function.file for function in known} if _is_meant(each, file)}
    return [function for function in known if function.file in files]


def _is_meant(file: str, by: str) -> bool:
    """Whether a path, its end or another way to it by links names ``file``, as gdb and ``_through_links`` find it."""
    if Path(file).name != Path(by).name:
        return False
    return f"/{file}".endswith(f"/{os.path.normpath(by)}") or os.path.realpath(file) == os.path.realpath(by)


def _line_spec(file: str, line: int) -> str:
    return f'-source "{file}" -line {line}'


def _no_such_line(request: Break) -> gdb.GdbError:
    """Why gdb finds no code at a line of a file that is known, and none behind it."""
    functions, line = _functions_of(request.file), request.line
    files = sorted({function.file for function in functions})
    counts = [f"{file} has {count} lines" for file in files if (count := line_count(file)) is not None and count < line]
    tables = (gdb.find_pc_line(function.stop_address).symtab for function in functions)
    last = max((entry.line for table in tables if table for entry in table.linetable()), default=0)
    behind = "; ".join(counts) or f"{files[0]} has no code behind line {last}"
    return gdb.GdbError(f"There is no line {line} with code: {behind}.\nName a line with code.")


def _by_function(name: str) -> list[str]:
    """Addresses (after the prologue) of each function of that name; qualified, or just its last part."""
    with_parameters = "(" in name
    matching = [
        entry
        for entry in known_functions()
        if matches(demangled(entry.linkage_name.encode()) if with_parameters else entry.name, name)
    ]
    if matching:
        return [f"*{entry.stop_address:#x}" for entry in matching]
    return [f"*{address:#x}" for address in native_names.address_of_function(name)]


def _is_inlined(name: str) -> bool:
    """Whether gdb knows a function, which has no code of its own, as a part of others."""
    try:
        return bool(gdb.decode_line(name)[1])
    except gdb.error:
        return False


def _hint(request: Break) -> str:
    if gone := libraries.lost():
        return f"{_changes(gone)}. Start it anew to stop there."
    if request.function and _is_inlined(request.function):
        return (
            f"The compiler has inlined {request.function} into what calls it and left no code of its own.\n"
            "Name a line of it, or build it with -fno-inline."
        )
    if lacking := ", ".join(Path(path).name for path in libraries.without_dwo()):
        return (
            f"{lacking}: the .dwo files of -gsplit-dwarf are not where they were written. {_nearest(request)}".rstrip()
        )
    return _nearest(request)


def _changes(lost: dict[str, str]) -> str:
    return "; ".join(f"{path} {became}" for path, became in lost.items())


def _nearest(request: Break) -> str:
    known = known_functions()
    if request.line:
        files = sorted({function.file for function in known})
        if namesakes := [file for file in files if Path(file).name == Path(request.file).name]:
            return f"Did you mean {' or '.join(namesakes)}?"
        return nearest(Path(request.file).name, [Path(file).name for file in files])
    names = [function.name for function in known]
    return nearest(request.function, names) or nearest(request.function, [name.split("::")[-1] for name in names])

"""Native breakpoints at a place that the user names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions import asked_places, inlined_copies, native_names, optimized_lines
from pyharness.ingdb.functions.around import symtab_of
from pyharness.ingdb.functions.known_functions import known_functions
from pyharness.ingdb.process import libraries
from pyharness.ingdb.stops.counted_stops import CountedStop, parses
from pyharness.ingdb.stops.debuggers_calls import CallsOfTheProgram
from pyharness.ingdb.stops.every_function import changes
from pyharness.ingdb.stops.named_rank import with_rank
from pyharness.model.errors import nearest
from pyharness.model.glue import glue_family
from pyharness.model.text.code_lines import line_count
from pyharness.model.user_code import is_user_source
from pyharness.protocol.mi import Bound, Break
from pyharness.reading.functions.function_name import matches
from pyharness.reading.functions.symbol_names import demangled
from pyharness.reading.process.file_changes import remedy

if TYPE_CHECKING:
    from pyharness.ingdb.functions.user_functions import UserFunction
    from pyharness.ingdb.stops.one_call import Calls

_bound: dict[int, dict[str, gdb.Breakpoint]] = {}
"""Where a breakpoint is set, by the core's number of it: a library that is loaded later may have the function, too."""
_asleep: set[int] = set()
"""gdb's numbers of those that are set in a library which has gone, and may come again."""


def set_breakpoint(request: Break, call: Calls | None = None) -> Bound:
    """Set the user's breakpoint wherever what is loaded has its place, and it is not set yet.

    Of the function of ``call`` no other call counts.
    """
    known = _bound.setdefault(request.number, {}) if request.number else {}
    found = _specs(request)
    if not found:
        return Bound((), _hint(request))
    _wake([known[spec] for spec in found if spec in known])
    of_line = _line_spec(request.file, request.line)
    for spec in [spec for spec in known if spec not in found and (_is_of_others(spec) or spec == of_line)]:
        known.pop(spec).delete()  # the user's own has come since, or a library in which gdb does not find the line
    specs = [spec for spec in found if spec not in known]
    numbers: list[int] = []
    places: list[tuple[str, int]] = []
    refused: list[_ConditionError] = []
    for spec in specs:
        try:
            stop = _stop_at(spec, request, call or (CallsOfTheProgram() if _is_of_others(spec) else None))
        except _ConditionError as error:  # of overloads only some may have what it names
            refused.append(error)
            continue
        if stop.pending and request.line:
            stop.delete()
            stop = _through_links(request, call)
        known[spec] = stop
        _leave_out_glue(stop)
        stop.ignore_count = request.ignore
        numbers.append(stop.number)
        places += _places(stop)
    if refused and not known:
        raise refused[0]
    return Bound(tuple(numbers), places=tuple(places))


def is_set(number: int) -> bool:
    """Whether the breakpoint of this number of the core's has a place in what is, or was, loaded."""
    return bool(_bound.get(number))


def _is_of_others(spec: str) -> bool:
    return spec.startswith("*") and not libraries.may_be_users(int(spec[1:], 16))


def _wake(stops: list[gdb.Breakpoint]) -> None:
    """Enable breakpoints in a library that is loaded again."""
    for stop in stops:
        if stop.is_valid() and stop.number in _asleep:
            _asleep.remove(stop.number)
            stop.enabled = True


def _on_free_objfile(_event: object) -> None:
    """A library went: gdb 18 would still insert what is set at an address of it, fail, and let no thread go on."""
    asked_places.forget(_is_there)
    for spec, stop in [each for bound in _bound.values() for each in bound.items()]:
        if spec.startswith("*") and stop.is_valid() and stop.enabled and not _is_there(int(spec[1:], 16)):
            _asleep.add(stop.number)
            stop.enabled = False


gdb.events.free_objfile.connect(_on_free_objfile)


class _ConditionError(gdb.GdbError):
    """A condition that gdb cannot parse at a place."""


def _stop_at(spec: str, request: Break, call: Calls | None) -> gdb.Breakpoint:
    """A breakpoint; one that stops at each of its hits is gdb's own, which tests its condition faster."""
    counted = bool(request.hits or request.log or call) or asked_places.is_asked(spec)
    stop = CountedStop(spec, request, call) if counted else gdb.Breakpoint(spec)
    if request.condition:
        try:
            if counted:
                with_rank(request.condition, request.rank, lambda condition: parses(spec, condition))
            else:
                with_rank(request.condition, request.rank, lambda condition: setattr(stop, "condition", condition))
        except gdb.error as error:
            stop.delete()
            raise _ConditionError(f"The condition {request.condition!r} does not parse: {error}") from error
    return stop


def _through_links(request: Break, call: Calls | None) -> gdb.Breakpoint:
    """A breakpoint at a line of a file that gdb, which compares the ends of paths, does not know by the name given."""
    real = os.path.realpath(request.file)
    if real.endswith(f"/{request.file}"):
        raise _no_such_line(request)
    stop = _stop_at(_line_spec(real, request.line), request, call)
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
    return _by_line(request) if request.line else _by_function(request.function, own=request.own)


def _by_address(address: int) -> list[str]:
    if not _is_there(address):
        raise gdb.GdbError(f"There is no code at {address:#x}.")
    return [f"*{address:#x}"]


def _is_there(address: int) -> bool:
    try:
        gdb.selected_inferior().read_memory(address, 1)
    except gdb.MemoryError:
        return False
    return True


def _by_line(request: Break) -> list[str]:
    """A line of a source file, if the user's code has that file: gdb slides to the next line with code."""
    functions = _functions_of(request.file)
    if not functions and not _lies_within_another(request):
        return []
    evaluates = bool(request.condition or request.log)
    found = optimized_lines.addresses(request.file, request.line, functions, evaluates=evaluates)
    return [f"*{address:#x}" for address in found] or [_line_spec(request.file, request.line)]


def _lies_within_another(request: Break) -> bool:
    """Whether a file has code in functions of other files alone: it is included in a body, or named by #line."""
    try:
        places = gdb.decode_line(f'"{request.file}":{request.line}')[1] or ()
    except gdb.error:
        return False
    files = {place.symtab.fullname() for place in places if place.symtab}
    return any(is_user_source(file) and _is_meant(file, request.file) for file in files)


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
    tables = filter(None, (symtab_of(function.entry) for function in functions))
    last = max((entry.line for table in tables for entry in table.linetable()), default=0)
    behind = "; ".join(counts) or f"{files[0]} has no code behind line {last}"
    return gdb.GdbError(f"There is no line {line} with code: {behind}.\nName a line with code.")


def _by_function(name: str, *, own: bool) -> list[str]:
    """Addresses (after the prologue) of each function of that name; of the user's any part of it will do."""
    with_parameters = "(" in name
    matching = [
        entry
        for entry in known_functions()
        if matches(demangled(entry.linkage_name.encode()) if with_parameters else entry.name, name)
    ]
    found = [entry.stop_address for entry in matching] or native_names.function_for_place(name, own=own)
    if not found or (matching and inlined_copies.may_be(matching)):
        found += [pc for pc in inlined_copies.addresses(name) if pc not in found]
    return [f"*{address:#x}" for address in found]


def _hint(request: Break) -> str:
    if gone := changes():
        return f"{gone}. {remedy(gone).capitalize()} to stop there."
    if lacking := ", ".join(Path(path).name for path in libraries.without_dwo()):
        return (
            f"{lacking}: the .dwo files of -gsplit-dwarf are not where they were written. {_nearest(request)}".rstrip()
        )
    return _nearest(request)


def _nearest(request: Break) -> str:
    known = known_functions()
    if request.line:
        files = sorted({function.file for function in known})
        if namesakes := [file for file in files if Path(file).name == Path(request.file).name]:
            return f"Did you mean {' or '.join(namesakes)}?"
        return nearest(Path(request.file).name, [Path(file).name for file in files])
    names = [function.name for function in known]
    return nearest(request.function, names) or nearest(request.function, [name.split("::")[-1] for name in names])

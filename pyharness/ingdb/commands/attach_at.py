"""ph-attach-at: attach and stop at the next call of one native function, before any symbols are read.

gdb needs about half a second to read one compilation unit that includes torch's headers, and it reads one before it
shows a stop in it. Function, file and line are known without gdb, so the stop is told at once and symbols come after.
"""

from __future__ import annotations

from functools import partial

import gdb

from pyharness.ingdb import console, terminal
from pyharness.ingdb.functions import native_names
from pyharness.ingdb.functions.known_functions import known_functions
from pyharness.ingdb.opening import attach
from pyharness.ingdb.process import processes
from pyharness.ingdb.prompt import library_watch, stops, trap
from pyharness.ingdb.prompt.registry import command
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.text.source_line import source_line
from pyharness.reading.functions.function_name import matches


def register() -> None:
    """Make the command known to gdb."""
    command("ph-attach-at")(_attach_at)


def _attach_at(argument: str) -> None:
    """Attach to a program and stop at the next call of a native function: ph-attach-at PID|NAME FUNCTION.

    FUNCTION is any part of the name of one of yours, or the full name of one in another library (at::native::relu).
    Where it stopped is told at once; the symbols of your libraries are read after that.
    """
    program, _, function = argument.partition(" ")
    function = function.strip()
    if not function:
        raise UsageError("Stop at what?", "Write ph-attach-at PID FUNCTION.")
    attach.attach(processes.find(program), non_stop=False, symbols=False)
    trap.watch()
    try:
        _run_to(places(function))
    finally:
        if gdb.selected_inferior().pid:
            library_watch.start()


def places(function: str) -> dict[int, str]:
    """The addresses to stop at in functions of that name, each with its place as text."""
    known = known_functions()
    own = [one for one in known if matches(one.name, function)]
    if own:
        return {one.stop_address: _text(one.name, one.file, one.stop_line) for one in own}
    found = native_names.function_for_place(function, own=False)
    if found:
        return dict.fromkeys(found, function)
    names = [one.name for one in known]
    hint = nearest(function, names) or nearest(function, [name.rsplit("::", 1)[-1] for name in names])
    if others := native_names.libraries_with(function):
        hint = f"{hint} Name one of another library in full: {others[0].example()}.".lstrip()
    raise UsageError(f"No function {function!r} in your libraries, and none of that full name in others.", hint)


def _text(name: str, file: str, line: int) -> str:
    source = source_line(file, line)
    return f"{name} () at {file}:{line}" + (f"\n{line}\t{source}" if source else "")


def _run_to(wanted: dict[int, str]) -> None:
    made = [trap.quietly(partial(gdb.Breakpoint, f"*{address:#x}", internal=True)) for address in wanted]
    try:
        stops.resume()
        pc = gdb.newest_frame().pc()
    finally:
        for breakpoint_ in made:
            if breakpoint_.is_valid():
                breakpoint_.delete()
    if pc not in wanted:
        raise HarnessError("The program stopped before it called that.", console.run("frame").strip())
    thread = gdb.selected_thread()
    terminal.write(f"Thread {thread.num if thread else 0} is at {wanted[pc]}")
    gdb.flush()

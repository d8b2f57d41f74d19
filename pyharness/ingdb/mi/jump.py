"""MI command that lets a thread go on at another line of its function, where that leaves every C++ object intact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.functions.known_functions import known_functions, stopping_at
from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.process import libraries
from pyharness.model.errors import HarnessError
from pyharness.protocol import mi
from pyharness.reading.functions.optimization import is_optimized

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLASSES = {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION}
_PLACE = "pyharness_jump"
_MAX_DEPTH = 8
_MANY = 6


@handles(mi.Jump)
def _jump(request: mi.Jump) -> int:
    if not select(request.thread).is_stopped():
        raise HarnessError(f"Thread {request.thread} is running.", "Pause it first.")
    frame = gdb.newest_frame()
    frame.select()
    address = _target(frame, request.file, request.line)
    if not request.check:
        console.run(f"set $pc = {address:#x}")
    return address


def _target(frame: gdb.Frame, file: str, line: int) -> int:
    """Address of the line; ``HarnessError`` says why the thread cannot go on there."""
    place, function = frame.find_sal(), frame.function()
    if function is None or place.symtab is None or frame.type() == gdb.INLINE_FRAME:
        raise HarnessError("The thread is stopped in code without debug information, or in inlined code.", _GOTO)
    _check_standing(frame, place)
    if file != place.symtab.fullname():
        raise HarnessError(f"{file} is not the file of {function.name}.", _GOTO)
    body = _function_block(frame.block())
    lines = _lines(place.symtab, body)
    if line not in lines:
        near = sorted(sorted(lines, key=lambda each: abs(each - line))[:_MANY])
        raise HarnessError(f"{function.name} has no code at line {line}.", f"Near it: {', '.join(map(str, near))}.")
    address = lines[line]
    _check_objects(frame, place.line, address, line)
    return address


_GOTO = "Only a line of the function that the thread stands in, in its newest frame, can be gone to."


def _check_standing(frame: gdb.Frame, place: gdb.Symtab_and_line) -> None:
    pc = frame.pc()
    library = libraries.library_at(pc)
    if library and is_optimized(library.elf, pc - library.bias):
        raise HarnessError("This library was compiled with optimization: lines share values.", "Compile it with -O0.")
    if place.pc != pc and not _after_prologue(frame):
        raise HarnessError(
            f"The thread is stopped in the middle of line {place.line}, whose temporary objects may be alive.",
            "Step to the beginning of a line first.",
        )


def _after_prologue(frame: gdb.Frame) -> bool:
    return stopping_at(frame.pc()) is not None


def _function_block(block: gdb.Block) -> gdb.Block:
    while block.function is None and block.superblock is not None:
        block = block.superblock
    return block


def _lines(symtab: gdb.Symtab, body: gdb.Block) -> dict[int, int]:
    """Lines of a function that have code after its prologue, with their first address."""
    start = next((one.stop_address for one in known_functions() if one.entry == body.start), body.start)
    found: dict[int, int] = {}
    for entry in symtab.linetable():
        if entry.line and start <= entry.pc < body.end:
            found[entry.line] = min(entry.pc, found.get(entry.line, entry.pc))
    return found


def _check_objects(frame: gdb.Frame, line: int, address: int, target: int) -> None:
    here, there = _alive(frame.block(), line), _alive(gdb.block_for_pc(address), target)
    for key in there - here:
        raise HarnessError(
            f"{key[0]} would not be made: line {key[1]}, where it is, would be jumped over.",
            f"Go to line {key[1]} or before it, outside of its block.",
        )
    for key in here - there:
        raise HarnessError(
            f"{key[0]} (line {key[1]}) is alive and would never be destroyed.", "Step out of its block first."
        )


def _alive(block: gdb.Block | None, line: int) -> set[tuple[str, int]]:
    """Objects with destructors that are alive where a line begins: name, and line of declaration."""
    return {
        (symbol.name, symbol.line)
        for symbol in _variables(block)
        if symbol.line < line and symbol.type and needs_destruction(symbol.type)
    }


def _variables(block: gdb.Block | None) -> Iterator[gdb.Symbol]:
    while block is not None:
        yield from (symbol for symbol in block if symbol.is_variable and not symbol.is_argument)
        if block.function:
            return
        block = block.superblock


def needs_destruction(kind: gdb.Type, depth: int = 0) -> bool:
    """Whether a type has a destructor, or holds something that has; one that is only declared is taken to."""
    kind = kind.strip_typedefs()
    while kind.code == gdb.TYPE_CODE_ARRAY:
        kind = kind.target().strip_typedefs()
    if kind.code not in _CLASSES:
        return False
    if depth > _MAX_DEPTH or (not kind.fields() and kind.sizeof > 1):
        return True
    if _declares_destructor(kind):
        return True
    return any(field.type is not None and needs_destruction(field.type, depth + 1) for field in kind.fields())


def _declares_destructor(kind: gdb.Type) -> bool:
    gdb.set_convenience_variable(_PLACE, gdb.Value(0).cast(kind.pointer()))
    return bool(re.search(r"^\s*(virtual )?~", console.run(f"ptype/rt *${_PLACE}"), re.MULTILINE))

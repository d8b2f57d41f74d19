"""Frames of inductor's kernels: the kernel's own name, and the node that a line works for."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_text
from pyharness.model.frozen import frozen
from pyharness.model.kernel_files import is_cxx, kept_at, kernels_in, wrappers_of
from pyharness.model.kernel_map import KernelMap, KernelMaps, KernelUse, digest_of
from pyharness.model.kernel_text import has_kernel, kernels_of, statement_end
from pyharness.model.wrapper_map import MOST, map_of_cxx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.frames import Frame, FxPlace
    from pyharness.model.kernel_map import KernelLine

_FUNCTION = re.compile(r"(kernel|cpp_\w+)(\._omp_fn\.\d+(\(void\))?)?$")
"""How torch names every kernel for Python, and those for C++; what OpenMP runs in parallel is a function of its own."""
_FUNCTION_WITHIN = "operator()"
"""How C++ names a function within a kernel, whatever each reader of debug information makes of it."""
_WRAPPER = re.compile(r"(inductor_entry_impl|(.*::)?AOTInductorModel\w*::run_impl)\b")
"""How torch names a wrapper in C++."""
_CALL = re.compile(r"\s*(\w+)\(")
_UNKNOWN = KernelUse((), ())
_NO_MAPS = KernelMaps("", "inference", (), ())
"""Stands for the maps of a kernel that was compiled without us: of it the name and the buffers are known."""


@frozen
class Standing:
    """A call of a kernel that runs, or may run."""

    maps: KernelMaps
    kernel: KernelMap
    use: KernelUse


def named(frames: Sequence[Frame]) -> list[Frame]:
    """``frames``, innermost first, in which kernels have their names, and their lines nodes."""
    found = list(frames)
    for index, frame in enumerate(found):
        if frame.language == "native" and frame.file and is_cxx(frame.file):
            caller = next((each for each in found[index + 1 :] if _may_call(each)), None)
            found[index] = _named(frame, _kernel_around(frames[index:]), caller)
    return found


def _kernel_around(frames: Sequence[Frame]) -> str:
    """The kernel's function that the first of ``frames`` is in; a masked load is a function of its own within it.

    So is what a template has run in parallel, which torch's own code calls. Empty for a frame that is in no kernel.
    """
    within = (each for each in frames if each.file == frames[0].file)
    return next((each.function for each in within if _FUNCTION.match(each.function)), "")


def _may_call(frame: Frame) -> bool:
    return frame.language == "python" or is_cxx_wrapper(frame.function, frame.file)


def is_cxx_wrapper(function: str, file: str | None) -> bool:
    """Whether a native function is a wrapper."""
    return bool(file and is_cxx(file) and _WRAPPER.match(function))


def is_kernel(file: str) -> bool:
    """Whether a file is a kernel, also one that there is no map of."""
    return is_cxx(file) and (has_map(file) or has_kernel(whole_text(file)))


def has_map(file: str) -> bool:
    """Whether a file is a kernel that there is a map of."""
    return is_cxx(file) and bool(_known(file) or map_of_cxx(file))


def mapped_lines(file: str) -> frozenset[int]:
    """The lines of a file that work for nodes, in any call: a kernel's, and those of a wrapper in C++ that call one.

    Empty for every other file.
    """
    if not is_cxx(file):
        return frozenset()
    wrapper = map_of_cxx(file)
    calls = (each.line for each in wrapper.lines) if wrapper else ()
    uses = (use for _, _, kernel in _known(file) for use in kernel.uses)
    return frozenset((*calls, *(line.line for use in uses for line in use.lines)))


def standing(file: str, function: str, caller: Frame | None) -> tuple[Standing, ...]:
    """The call of the kernel ``function`` that ``caller`` makes; all that may be, where it cannot be told which.

    ``caller`` is the frame of the wrapper.
    """
    found = _of_caller(file, function, caller)
    return tuple(Standing(maps, kernel, use) for maps, kernel in found for use in _uses(kernel, caller))


def calls_of(file: str, wrapper: str) -> tuple[Standing, ...]:
    """The calls that a wrapper makes of the kernels in a file."""
    digests = _digests(wrapper, (_changed(wrapper), kept_at()))
    own = [(maps, kernel) for digest, maps, kernel in _known(file) if digest in digests]
    return tuple(Standing(maps, kernel, use) for maps, kernel in own for use in kernel.uses)


def name_in_cxx(function: str) -> str:
    """What a kernel's file calls the kernel that a function is; empty for another function."""
    found = _FUNCTION.match(function)
    return found[1] if found else ""


def text_of(file: str) -> tuple[str, ...]:
    """The lines of a kernel's file or a wrapper's; none where it cannot be read."""
    return _text(file, _changed(file))


def whole_text(file: str) -> str:
    """The text of a kernel's file or a wrapper's; empty where it cannot be read."""
    return "\n".join(text_of(file))


@lru_cache(maxsize=64)
def _text(file: str, _modified: int) -> tuple[str, ...]:
    try:
        return tuple(read_text(file, MOST).split("\n"))
    except (OSError, ValueError):
        return ()


def _named(frame: Frame, kernel: str, caller: Frame | None) -> Frame:
    file = frame.file or ""
    if is_cxx_wrapper(frame.function, file):
        wrapper = map_of_cxx(file)
        call = wrapper.at(frame.line or 0) if wrapper else None
        return replace(frame, fx=call.place) if call else frame
    known = _of_caller(file, kernel, caller) if kernel else []
    if not known:
        return frame
    name = known[0][1].name
    if frame.function != kernel:  # one of a template's own has a name
        is_within = any(word in frame.function for word in (_FUNCTION_WITHIN, "lambda"))
        name = f"{name}::{_FUNCTION_WITHIN}" if is_within else frame.function
    places = {_place(maps, node) for maps, kernel in known for node in _nodes(kernel, frame, caller)}
    return replace(frame, function=name, fx=places.pop() if len(places) == 1 else None)


def _of_caller(file: str, function: str, caller: Frame | None) -> list[tuple[KernelMaps, KernelMap]]:
    """The maps of the wrapper that calls; all where no wrapper is on the stack, as in a thread of OpenMP's."""
    name = name_in_cxx(function)
    kernels = [each for each in _known(file) if not each[1].is_cxx or each[2].name == name]
    digests = _digests(caller.file, (_changed(caller.file), kept_at())) if caller and caller.file else ()
    own = [(maps, kernel) for wrapper, maps, kernel in kernels if wrapper in digests]
    if len(own) > 1 and caller:  # layers of equal shape, up to torch 2.9
        called = _name_called(caller)
        own = [each for each in own if each[1].name == called] or own
    found = own or [(maps, kernel) for _, maps, kernel in kernels]
    if not found and caller and caller.file and (name := _called(file, _changed(file), caller.file)):
        return [(_NO_MAPS, KernelMap(name, "", (_UNKNOWN,)))]
    return found


@lru_cache(maxsize=64)
def _called(file: str, _modified: int, wrapper: str) -> str:
    """What a wrapper calls a kernel of which there is no map; empty where it does not define it."""
    text = whole_text(file)
    return next((name for name, source in kernels_of(whole_text(wrapper)) if text.startswith(source)), "")


def _lines(kernel: KernelMap, frame: Frame, caller: Frame | None) -> list[KernelLine]:
    """What the frame's line is in the call that runs, in all calls where it cannot be told which.

    A line that no node is known of belongs to the statement around it.
    """
    every = [each for use in _uses(kernel, caller) for each in use.lines]
    here = frame.line or 0
    if own := [each for each in every if each.line == here]:
        return own
    text = text_of(frame.file or "")
    begins = sorted({each.line for each in every if each.line < here}, reverse=True)
    around = next((line for line in begins if statement_end(text, line) >= here), None)
    return [each for each in every if each.line == around]


def _uses(kernel: KernelMap, caller: Frame | None) -> tuple[KernelUse, ...]:
    uses = kernel.uses
    if len(uses) > 1 and caller and caller.file and caller.line:
        calls = _calls(caller.file, _changed(caller.file), kernel.name)
        if len(calls) == len(uses) and caller.line in calls:
            uses = (uses[calls.index(caller.line)],)
    return uses


def _nodes(kernel: KernelMap, frame: Frame, caller: Frame | None) -> set[str]:
    """What the frame's line works for: in a template the template's node, where nothing finer is known."""
    found = {line.node for line in _lines(kernel, frame, caller)}
    return found or {use.template for use in _uses(kernel, caller) if use.template}


def _place(maps: KernelMaps, name: str) -> FxPlace:
    return next(node.place for node in maps.nodes if node.name == name)


def _known(file: str) -> tuple[tuple[str, KernelMaps, KernelMap], ...]:
    return _kernels(file, (_changed(file), kept_at()))


@lru_cache(maxsize=64)
def _kernels(file: str, _modified: tuple[int, int]) -> tuple[tuple[str, KernelMaps, KernelMap], ...]:
    return tuple(kernels_in(file))


@lru_cache(maxsize=64)
def _digests(file: str, _modified: tuple[int, int]) -> tuple[str, ...]:
    """What the maps of a wrapper are kept under: one in C++ is a part of what torch wrote."""
    try:
        text = read_text(file, MOST)
    except (OSError, ValueError):
        return ()
    return tuple(digest for digest, _ in wrappers_of(text)) if is_cxx(file) else (digest_of(text),)


@lru_cache(maxsize=64)
def _calls(wrapper: str, _modified: int, name: str) -> tuple[int, ...]:
    """The lines of a wrapper that call a kernel, in order."""
    call = re.compile(rf"\s*{re.escape(name)}\(")
    return tuple(number for number, text in enumerate(text_of(wrapper), 1) if call.match(text))


def kernel_called(wrapper: Frame) -> str:
    """The kernel that a wrapper's line calls, by its name; empty where it calls none."""
    name = _name_called(wrapper)
    return name if name in dict(kernels_of(whole_text(wrapper.file or ""))) else ""


def _name_called(caller: Frame) -> str:
    """What a wrapper's line calls; empty where it is no call."""
    lines, number = text_of(caller.file or ""), caller.line or 0
    call = _CALL.match(lines[number - 1]) if 0 < number <= len(lines) else None
    return call[1] if call else ""


def _changed(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0

"""A report of a sanitizer as ours: the stack of both languages, where the memory came from, and which tensor it is."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.results.aftermath import History
from pyharness.model.user_code import is_users_frame
from pyharness.reading.live.stacks import opened
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.frames import Loop, PythonFrame
from pyharness.reading.sanitized.report import read_report
from pyharness.reading.sanitized.tensor_names import NamedTensor, tensor_at
from pyharness.reading.stack.merge import merge
from pyharness.reading.stack.naming import Naming
from pyharness.reading.stack.unwinding import NativeCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.model.frames import Frame
    from pyharness.reading.live.process import LiveProcess
    from pyharness.reading.python.threads import Python
    from pyharness.reading.sanitized.report import Report, Trace

_RUNTIME = re.compile(r"/(lib(a|t|ub)san[^/]*|libclang_rt\.[^/]*|_(sanitized|guard)\.abi3)\.so")
"""A library whose functions are no part of what the program did."""
_EVALUATES = "_PyEval_EvalFrameDefault"
_CALL = re.compile(r"^at::_ops::(\w+)::call\b")
_LOCAL = re.compile(r"\[(?P<start>\d+), (?P<end>\d+)\) '(?P<name>[^']+)'.* <== Memory access at offset (?P<at>\d+) ")
_GLOBAL = re.compile(
    r"is located (?P<count>\d+) bytes (?:to the )?(?P<side>right|left|inside|after|before)"
    r"(?: of)? global variable '(?P<name>[^']+)'"
)
_ADDRESS = re.compile(r"\b0x([0-9a-f]+)\b")
_OF_TORCH = re.compile(r"^c10::alloc_cpu\b|^c10::.*Allocator::allocate\b")
_TITLES = {
    "made": "The memory was allocated here",
    "freed": "It was freed here",
    "started": "The thread was started here",
}


def found_by_sanitizer(process: int, thread: int, address: int) -> tuple[str, str, tuple[History, ...]]:
    """What a report says in a sentence, what the runtime printed, and the stacks of before."""
    with opened(process) as live:
        report = _with_address(read_report(live.memory, address))
        python, _ = live.python()
        naming = _Stacks(live, python)
        histories = tuple(dict.fromkeys(naming.history(trace) for trace in report.traces))
        kept = naming.frames_of(report.trace("made")), naming.frames_of(report.trace("freed"))
        sentence = " ".join(_sentence(report, _tensor(live, python, thread, report), kept[0]))
        origins = " and ".join(filter(None, map(_origin, ("made", "freed"), kept)))
        naming.keep()
    what = f"{report.sanitizer}: {sentence}{', ' if origins else ''}{origins}"
    return what, report.text, tuple(one for one in histories if one.frames)


def without_runtime(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """A stack from the error on: the innermost functions are the runtime's, and ours that was told."""
    end = next((index for index, frame in enumerate(frames) if _is_runtime(frame)), 0)
    while end < len(frames) and _is_runtime(frames[end]):
        end += 1
    return frames[end:]


def _is_runtime(frame: Frame) -> bool:
    return _RUNTIME.search(frame.library or "") is not None


def _with_address(report: Report) -> Report:
    """UndefinedBehaviorSanitizer says it in its sentence alone."""
    said = _ADDRESS.search(report.message)
    return replace(report, address=int(said[1], 16)) if said and not report.address else report


class _Stacks:
    """Names the frames of kept stacks."""

    def __init__(self, process: LiveProcess, python: Python | None) -> None:
        self._process, self._python = process, python
        self._naming = Naming(process.program)

    def keep(self) -> None:
        self._naming.keep()

    def history(self, trace: Trace) -> History:
        """One of the stacks under its title; two threads that were started at one place have one."""
        title = _TITLES.get(trace.role) or f"The other access, which {'writes' if trace.is_write else 'reads'}"
        return History(title, self.frames_of(trace))

    def frames_of(self, trace: Trace | None) -> tuple[Frame, ...]:
        """Native frames up to the interpreter's loop, then the Python frames: the loop runs the innermost of them."""
        if trace is None:
            return ()
        native = self._naming.frames(self._calls(trace))
        native = [replace(frame, sp=index, cfa=index + 1) for index, frame in enumerate(native)]
        loop = next((index for index, frame in enumerate(native) if frame.function.startswith(_EVALUATES)), None)
        functions = tuple(self._functions(trace))
        if functions and loop is not None:
            native = native[: loop + 1]
        merged = merge(native, [Loop(loop, functions)] if functions else [])
        return without_runtime(tuple(merged))

    def _calls(self, trace: Trace) -> Iterator[NativeCall]:
        for index, (pc, _) in enumerate(groupby(trace.native)):  # TSan has it again for each inlined function
            library = self._process.library_at(pc)
            if library is None:  # guessed by frame pointers, where code has none
                return
            yield NativeCall(pc, index, index + 1, library, pc - library.bias - 1, {})

    def _functions(self, trace: Trace) -> Iterator[PythonFrame]:
        if self._python is not None:
            for code, instruction in trace.python:
                frame = self._python.frames.at_instruction(code, instruction)
                if frame is not None:
                    yield frame


def _tensor(process: LiveProcess, python: Python | None, thread: int, report: Report) -> NamedTensor | None:
    """The tensor whose storage the error is about; ``None`` for none that is known."""
    start, size = (report.region, report.region_size) if report.region else (report.address, report.size)
    layout = process.torch_layout
    if python is None or layout is None or not start:
        return None
    try:
        threads = sorted(python.threads(), key=lambda one: one.native_id != thread)
        frames = [frame for one in threads for loop in one.loops for frame in loop.frames]
        return tensor_at(python, frames, start, size, layout)
    except UnreadableError:
        return None


def _sentence(report: Report, tensor: NamedTensor | None, made: Sequence[Frame]) -> Iterator[str]:
    yield report.message or f"{report.what}{':' if report.size or report.address else ''}"
    if report.message and report.what:
        yield f"({report.what})"
    if report.size:
        yield f"{'writes' if report.is_write else 'reads'} {_bytes(report.size)}"
    variable = _variable(report)
    if variable:
        yield variable
    elif tensor or report.region:
        start, size = (tensor.stored.data, tensor.stored.size) if tensor else (report.region, report.region_size)
        yield f"{_where(report.address - start, size)} {_what_lies_there(report, tensor, made)}"
    elif report.address and not report.message:
        yield f"at {report.address:#x}"


def _where(offset: int, size: int) -> str:
    """An address in relation to the block of ``size`` bytes before whose ``offset`` it lies."""
    if offset < 0:
        return f"{_bytes(-offset)} before"
    if offset >= size:
        behind = offset - size
        return f"{_bytes(behind)} behind" if behind else "right behind"
    return f"{_bytes(offset)} into" if offset else "at the start of"


def _what_lies_there(report: Report, tensor: NamedTensor | None, made: Sequence[Frame]) -> str:
    if tensor:
        return f"the storage of {tensor.name} {tensor.stored}"
    if any(_OF_TORCH.search(frame.function) for frame in made):
        return f"a tensor's storage of {_bytes(report.region_size)}"
    return f"a block of {_bytes(report.region_size)}"


def _variable(report: Report) -> str:
    """A variable in or beside which the address lies, as AddressSanitizer prints it; empty for none."""
    local = _LOCAL.search(report.text)
    if local:
        start, end, at = int(local["start"]), int(local["end"]), int(local["at"])
        return f"{_where(at - start, end - start)} the local variable {local['name']}"
    beside = _GLOBAL.search(report.text)
    if beside:
        side = {"right": "behind", "after": "behind", "left": "before", "before": "before"}.get(beside["side"], "into")
        return f"{_bytes(int(beside['count']))} {side} the global variable {beside['name']}"
    return ""


def _origin(verb: str, frames: Sequence[Frame]) -> str:
    """Where in the user's program, and by which op of torch; empty where that is not known."""
    theirs = next((frame for frame in frames if is_users_frame(frame) and frame.file), None)
    if theirs is None or not theirs.file:
        return ""
    calls = [match[1] for frame in frames if (match := _CALL.match(frame.function))]
    by = f" by aten::{calls[-1]}" if calls and theirs.language == "python" else ""
    return f"{verb} at {Path(theirs.file).name}:{theirs.line}{by}"


def _bytes(count: int) -> str:
    return f"{count} byte{'s' if count != 1 else ''}"

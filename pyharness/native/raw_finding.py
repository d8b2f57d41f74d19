"""Decodes what the native half tells of a bad value (csrc/engine/nan/bind_nan.cpp)."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from pyharness.model.frames import Frame, FxPlace, Language
from pyharness.model.kernel_files import is_cxx
from pyharness.model.plumbing import native_family, python_family
from pyharness.model.results.finding import CheckedTensor, Finding, ValueKind, ValueStatistics
from pyharness.model.results.trace import TensorInfo
from pyharness.native.chains import ChainReader, calls_from
from pyharness.native.generated_line import with_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.model.results.trace import Call

    Answer = bool | type[Exception] | tuple[str, int, str, str]
    """Whether it is what is looked for; an error to raise where Python called; what gdb is to be told."""

BITS: dict[ValueKind, int] = {"nan": 1, "inf": 2, "large": 4, "denormal": 8}
"""``ValueKind`` of csrc/engine/values/values.h."""
_OURS = "/pyharness/native/"
_OUR_LIBRARY = "/_engine."
_UNKNOWN = "??"
_OF_THE_SEARCH = ("torch::unwind::", "at::RecordFunction::")
"""Functions through which torch calls us."""


def decode(fields: dict[str, Any], engine: Any) -> Finding:
    """The finding; on the thread that found it."""
    reader = ChainReader()
    calls = reader.calls(engine.chain_links(fields["chain"])) or _calls_here(fields["thread"])
    calls, made_from = with_nodes(calls) if fields["thread"] == threading.get_native_id() else (calls, None)
    return Finding(
        kind=fields["kind"],
        name=fields["name"],
        overload=fields["overload"],
        made=fields["made"],
        values=kinds_of(fields["kinds"]),
        within=tuple(fields["within"]),
        node=fields["node"] or None,
        why=fields["why"],
        calls=calls,
        forward=reader.calls(engine.chain_links(fields["origin"])),
        approximate=fields["approximate"],
        of_all_ranks=fields["of_all_ranks"],
        made_from=made_from,
        inputs=tuple(map(_tensor, fields["inputs"])),
        outputs=tuple(map(_tensor, fields["outputs"])),
        stack=(*_native_frames(engine.native_frames(fields["native"])), *python_frames(calls)),
        graph_task=fields["graph_task"] if fields["graph_task"] >= 0 else None,
        thread=fields["thread"],
        thread_name=_thread_name(fields["thread"]),
        number=fields["number"],
    )


def addresses(fields: dict[str, Any]) -> dict[str, int]:
    """The address of each tensor's ``c10::TensorImpl``, by the names that conditions use: ``in0``, ``out0``."""
    found: dict[str, int] = {}
    for side, tensors in (("in", fields["inputs"]), ("out", fields["outputs"])):
        for tensor in tensors:  # of a list that is an argument, its first
            found.setdefault(f"{side}{tensor['position']}", tensor["address"])
    return found


def kinds_of(bits: int) -> tuple[ValueKind, ...]:
    """The names of the kinds."""
    return tuple(kind for kind, bit in BITS.items() if bits & bit)


def _calls_here(thread: int) -> tuple[Call, ...]:
    """The calls of this thread, where the native half cannot read frames (a newer Python than it knows)."""
    if thread != threading.get_native_id():
        return ()
    return tuple(call for call in calls_from(sys._getframe()) if _OURS not in call.file)  # noqa: SLF001


def _tensor(fields: dict[str, Any]) -> CheckedTensor:
    statistics = {key: value for key, value in fields["statistics"].items() if key != "finite"}
    info = TensorInfo(fields["shape"], str(fields["dtype"]).removeprefix("torch."), fields["device"])
    return CheckedTensor(fields["name"], info, kinds_of(fields["kinds"]), ValueStatistics(**statistics))


def _native_frames(frames: Sequence[tuple[str, str, int]]) -> Iterable[Frame]:
    """From the op or the node outward, up to where Python called; what no symbol names does not come first."""
    named = False
    for function, library, address in frames:
        if _OUR_LIBRARY in library or function.startswith(_OF_THE_SEARCH):
            continue
        if native_family(function, library, None) == "interpreter":
            return
        named = named or function != _UNKNOWN
        if not named:
            continue
        plumbing = function == _UNKNOWN or bool(native_family(function, library, None))
        yield Frame("native", function, library=library, address=address, plumbing=plumbing)


def python_frames(calls: Iterable[Call]) -> Iterable[Frame]:
    """The frames of a stack that these calls are."""
    for call in calls:
        fx = FxPlace(call.node, call.module, None) if call.node else None
        plumbing = bool(python_family(call.function, call.file))
        language: Language = "native" if is_cxx(call.file) else "python"  # as a wrapper of inductor's may be
        yield Frame(language, call.function, call.file, call.line, fx=fx, plumbing=plumbing)


def _thread_name(thread: int) -> str:
    return next((each.name for each in threading.enumerate() if each.native_id == thread), "")

"""What torch.compile did in this process, as one object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pyharness.model.results.compiled import CompileReport, NotCompiled, Place
from pyharness.model.text.source_line import known_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOST = "Guards of {}: torch dropped them before they were read (torch.compiler.reset)."


def compile_report() -> CompileReport:
    """Graphs, graph breaks, guards and recompilations of this process so far, with the user's lines.

    Compilations are those that went to the backend ``pyharness``, and the frames of which Dynamo made no graph; what it
    gave up on is listed whatever the backend. Empty where nothing has used the backend yet; torch is not imported for
    it.
    """
    captures: Any = sys.modules.get("pyharness.fx.backend.captures")
    if captures is None:
        return CompileReport()
    compilations = captures.compilations()
    lost = [f"{each.name} {each.id}" for each in compilations if each.guards is None]
    notes = (_LOST.format(", ".join(lost)),) if lost else ()
    return CompileReport(compilations, tuple(_not_compiled()), notes)


def _not_compiled() -> Iterator[NotCompiled]:
    """Torch keeps the last 64 compilations, failed or not."""
    from torch._dynamo.utils import get_compilation_metrics

    for each in get_compilation_metrics():
        if not each.fail_type or not each.co_filename:
            continue
        detail = str(each.fail_reason or "").strip()
        at = _place(each.fail_user_frame_filename, each.fail_user_frame_lineno)
        defined = Place(each.co_filename, each.co_firstlineno or 0)
        reason = detail.partition("\n")[0].strip() or each.fail_type
        yield NotCompiled(each.compile_id or "", each.co_name or "", defined, reason, detail, at)


def _place(file: str | None, line: int | None) -> Place | None:
    return Place(file, line, known_line(file, line)) if file and line else None

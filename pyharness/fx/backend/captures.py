"""What torch.compile captured in this process so far: noted as Dynamo calls the backend and makes its bytecode."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch._dynamo.convert_frame import register_bytecode_hook
from torch._dynamo.utils import graph_break_reasons, guard_failures
from torch._guards import CompileContext, TracingContext

from pyharness.fx.backend import guards
from pyharness.fx.files import MaterializeError
from pyharness.fx.materializing import materialize
from pyharness.model.compiled import Break, Compilation, CompiledGraph, Place
from pyharness.model.places import OPS
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from types import CodeType

    from torch.fx import GraphModule

    from pyharness.model.compiled import FailedGuard, Guard, Kind

_RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)$")
_COMPILED = "__compiled_fn"
"""How the names begin under which Dynamo's bytecode calls graphs."""

_LONGEST = 36
_DYNAMO = "/torch/_dynamo/"
_JUMP = "generic_jump"
"""Dynamo's short word for a branch that it cannot decide while it traces."""

_captures: list[Capture] = []
_read_failures: dict[CodeType, int] = {}


@dataclass
class Capture:
    """One compilation, while Dynamo is at it and after."""

    id: str
    attempt: int
    code: CodeType | None
    """The code that Dynamo's cache belongs to."""
    shown: CodeType | None
    """The code that the user wrote, or the nearest to it: Dynamo puts a function of its own around library modules."""
    files: tuple[str, ...]
    """Where the code that was traced lies, the function's own first."""
    ended_by: Break | None
    graphs: list[CompiledGraph] = field(default_factory=list)
    guards: tuple[Guard, ...] | None = None
    failed: tuple[FailedGuard, ...] = ()
    done: bool = False

    @property
    def function(self) -> tuple[str, int | None]:
        """The function's qualified name, and the line that it goes on from after a graph break."""
        return function_of(self.shown) if self.shown else ("", None)

    def materialize(self, module: GraphModule, kind: Kind, folder: str) -> None:
        """Give ``module`` a file that is named after the function, the compilation and ``kind``."""
        name, line = self.function
        short = ".".join(name.rsplit(".", 2)[-2:])[-_LONGEST:]  # file names are cut, and the rest tells graphs apart
        title = " ".join(filter(None, [f"{short}:{line}" if line else short, self.id, kind]))
        try:
            made = materialize(module, folder or None, name=title)
        except MaterializeError as error:  # the program can do without
            print(f"pyharness: {error}", file=sys.stderr)
            return
        count = sum(node.op in OPS for node in module.graph.nodes)
        self.graphs.append(CompiledGraph(kind, str(made.file), count))

    def look_up_guards(self) -> None:
        """Read them while Dynamo has them; a later compilation of the same name would be taken for this one."""
        if self.code is not None and self.guards is None and self.done:
            self.guards = guards.guards_of(self.code, self.id, self.files)

    def compilation(self) -> Compilation:
        """For the report."""
        name, line = self.function
        place = Place(self.shown.co_filename, self.shown.co_firstlineno) if self.shown else Place("", 0)
        return Compilation(self.id, name, place, line, tuple(self.graphs), self.ended_by, self.guards, self.failed)


def function_of(code: CodeType) -> tuple[str, int | None]:
    """The qualified name that the user knows, and the line that the rest of a broken function goes on from."""
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    match = _RESUMED.search(name)
    return (name, None) if match is None else (name[: match.start()] + match["name"], int(match["line"]))


def begin(module: GraphModule) -> Capture:
    """Dynamo has captured ``module`` and asks for what is to run in its place."""
    look_up_guards()
    context = CompileContext.try_get()
    compile_id = str(context.compile_id) if context and context.compile_id else ""
    attempt = context.attempt if context else 0
    last = _captures[-1] if _captures else None
    if last and not last.done and last.id == compile_id and compile_id:
        if last.attempt == attempt:  # one function, several graphs
            return last
        _captures.pop()  # Dynamo starts over
    traced = list(TracingContext.get_traced_code() or [])
    files = tuple(dict.fromkeys(code.co_filename for code in traced))
    reason = _break_of(getattr(module, "compile_subgraph_reason", None))
    code = traced[0] if traced else None
    shown = _forward_of(module, code) if code and _DYNAMO in code.co_filename else code
    _captures.append(Capture(compile_id, attempt, code, shown, files, reason))
    return _captures[-1]


def _forward_of(module: GraphModule, otherwise: CodeType) -> CodeType:
    """The ``forward`` of the outermost module that ``module`` was captured from."""
    stacks = (node.meta.get("nn_module_stack") for node in module.graph.nodes)
    outermost = next((entry for stack in stacks if stack for entry in stack.values()), None)
    forward = getattr(outermost[1], "forward", None) if outermost else None
    return getattr(forward, "__code__", otherwise)


def look_up_guards() -> None:
    """Read the guards of all compilations that are still without."""
    for capture in reversed(_captures):
        if capture.guards is not None:
            break
        capture.look_up_guards()


def compilations() -> tuple[Compilation, ...]:
    """All of this process, in order."""
    look_up_guards()
    return tuple(capture.compilation() for capture in _captures)


def _made_bytecode(code: CodeType, new_code: CodeType) -> None:
    """A compilation is over; frames of which no graph was made come here too."""
    compile_id = str(CompileContext.current_compile_id())
    last = _captures[-1] if _captures else None
    if last is None or last.done or last.id != compile_id:
        if any(name.startswith(_COMPILED) for name in new_code.co_names):
            return  # another backend's
        reason = _break_of(graph_break_reasons[-1]) if graph_break_reasons else None
        last = Capture(compile_id, 0, code, code, (code.co_filename,), reason)
        _captures.append(last)
    last.code = code
    last.failed = _failures_of(code, last.files)
    last.done = True


def _failures_of(code: CodeType, files: tuple[str, ...]) -> tuple[FailedGuard, ...]:
    """What failed since the last compilation of ``code``."""
    noted = list(guard_failures.get(code, ()))
    seen = _read_failures.get(code, 0)
    _read_failures[code] = len(noted)
    fresh = noted[seen:] if seen <= len(noted) else noted
    return tuple(filter(None, (guards.read_failure(text, files) for text in fresh)))


def _break_of(reason: Any) -> Break | None:
    if reason is None or not reason.graph_break:
        return None
    text = str(reason.reason).strip()
    if text.startswith(_JUMP):
        text = f"A branch depends on the value of a tensor ({text})"
    stack = [frame for frame in reason.user_stack if is_user_python(frame.filename)] or list(reason.user_stack)
    place = Place(stack[-1].filename, stack[-1].lineno or 0, (stack[-1].line or "").strip()) if stack else None
    return Break(text.partition("\n")[0].strip(), text, place)


register_bytecode_hook(_made_bytecode)

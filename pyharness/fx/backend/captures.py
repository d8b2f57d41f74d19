"""What torch.compile captured in this process so far: noted as Dynamo calls the backend and makes its bytecode."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch._dynamo.convert_frame import register_bytecode_hook
from torch._dynamo.utils import graph_break_reasons, guard_failures
from torch._guards import CompileContext, TracingContext

from pyharness.fx.backend import guards
from pyharness.fx.backend.naming import function_of
from pyharness.fx.code.files import MaterializeError
from pyharness.fx.code.materializing import materialize
from pyharness.model.places import OPS
from pyharness.model.results.compiled import Break, Compilation, CompiledGraph, Place
from pyharness.model.text.visible import say
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from types import CodeType

    from torch.fx import GraphModule

    from pyharness.fx.backend.naming import Function
    from pyharness.model.results.compiled import FailedGuard, Guard, Kind

_COMPILED = "__compiled_fn"
"""How the names begin under which Dynamo's bytecode calls graphs."""

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
    function: Function
    files: tuple[str, ...]
    """Where the code that was traced lies, the function's own first."""
    ended_by: Break | None
    graphs: list[CompiledGraph] = field(default_factory=list)
    guards: tuple[Guard, ...] | None = None
    failed: tuple[FailedGuard, ...] = ()
    done: bool = False
    ran: bool = False

    def note_run(self) -> None:
        """One of the graphs is about to run: by the first time Dynamo has the guards in its cache."""
        if not self.ran:
            self.ran = True
            self.look_up_guards()

    def materialize(self, module: GraphModule, kind: Kind, folder: str) -> None:
        """Give ``module`` a file that is named after the function, the compilation and ``kind``."""
        title = " ".join(filter(None, [self.function.short, self.id, kind]))
        try:
            made = materialize(module, folder or None, name=title)
        except MaterializeError as error:  # the program can do without
            say(str(error))
            return
        count = sum(node.op in OPS for node in module.graph.nodes)
        self.graphs.append(CompiledGraph(kind, str(made.file), count))

    def look_up_guards(self) -> None:
        """Read them while Dynamo has them; a later compilation of the same name would be taken for this one."""
        if self.code is not None and self.guards is None and self.done:
            self.guards = guards.guards_of(self.code, self.id, self.files)

    def compilation(self) -> Compilation:
        """For the report."""
        name, line, place = self.function.name, self.function.resumed_at, self.function.place
        return Compilation(self.id, name, place, line, tuple(self.graphs), self.ended_by, self.guards, self.failed)


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
    _captures.append(Capture(compile_id, attempt, code, function_of(code, module), files, reason))
    return _captures[-1]


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
        last = Capture(compile_id, 0, code, function_of(code), (code.co_filename,), reason)
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

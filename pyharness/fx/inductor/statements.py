"""Runs a wrapper statement by statement, and tells of each that computes something, before and after it."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

OF_TORCH = ("extern_kernels.", "torch.ops.", "aten.", "inductor_ops.", "_quantized.")
"""How a call of torch's own functions begins in a wrapper."""


@dataclass(frozen=True)
class Statement:
    """A statement of a wrapper that calls a kernel, or a function of torch's."""

    line: int
    callee: str
    """``cpp_fused_add_0``, ``extern_kernels.mm``."""
    names: tuple[str, ...]
    """All variables that it reads or writes."""
    kernel: bool = False
    """Whether the callee is a kernel that the wrapper defines."""
    arguments: tuple[ast.expr, ...] = ()
    """What a kernel is given; of other calls nothing is kept."""


def statements_of(wrapper: str, kernels: set[str]) -> dict[int, Statement]:
    """All that a wrapper's functions have, by their line."""
    found = {}
    for function in ast.walk(ast.parse(wrapper)):
        if isinstance(function, ast.FunctionDef):
            for node in function.body:
                statement = _statement(node, kernels)
                if statement is not None:
                    found[statement.line] = statement
    return found


def last_uses(wrapper: str) -> dict[str, int]:
    """By each variable of a wrapper: the line that reads it last."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(wrapper)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id] = max(node.lineno, found.get(node.id, 0))
    return found


def reuses(wrapper: str) -> dict[str, str]:
    """By each variable of a wrapper that takes over another one's memory, as ``buf4 = buf2`` says: that one."""
    names = [node for node in ast.walk(ast.parse(wrapper)) if isinstance(node, ast.Assign)]
    return {
        target.id: node.value.id
        for node in names
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Name)
    }


def _statement(node: ast.stmt, kernels: set[str]) -> Statement | None:
    value = getattr(node, "value", None)
    if not isinstance(node, (ast.Expr, ast.Assign)) or value is None:
        return None
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):  # buf6 = buf5[0]
        return Statement(node.lineno, "getitem", _names(node))
    if not isinstance(value, ast.Call):
        return None
    callee = ast.unparse(value.func)
    if callee in kernels:
        return Statement(node.lineno, callee, _names(node), kernel=True, arguments=tuple(value.args))
    if callee.startswith(OF_TORCH) and not callee.endswith("_tensor"):
        return Statement(node.lineno, callee, _names(node))
    return None


def _names(node: ast.AST) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.id for each in ast.walk(node) if isinstance(each, ast.Name)))


def run(
    call: Callable[[Any], Any],
    args: Any,
    file: str,
    statements: Mapping[int, Statement],
    tell: Callable[[str, Statement, Mapping[str, Any]], None],
) -> Any:
    """``call(args)``, with ``tell("before" or "after", statement, variables)`` for each of ``statements`` of ``file``.

    Who traces this thread meanwhile is put back at the end.
    """
    pending: list[tuple[FrameType, Statement]] = []

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if pending and pending[-1][0] is frame and event in {"line", "return"}:
            tell("after", pending.pop()[1], frame.f_locals)
        if event == "line" and (statement := statements.get(frame.f_lineno)):
            tell("before", statement, frame.f_locals)
            pending.append((frame, statement))
        return local

    def entered(frame: FrameType, _event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename == file else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        return call(args)
    finally:
        sys.settrace(before)

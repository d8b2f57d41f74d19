"""What is told of a node that compiled code computes wrongly: its kernel, its line, its element, and why."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.fx.inductor.graphs import described
from pyharness.fx.verifying.differences import measured
from pyharness.model.results.compiled_verdict import REASONS, KernelFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from pyharness.fx.inductor.statements import Statement
    from pyharness.fx.inductor.watching import Lowered
    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.fx.verifying.kernels.inside import Wrong
    from pyharness.model.kernel_files import Kernel
    from pyharness.model.kernel_map import KernelUse
    from pyharness.model.results.compiled_verdict import KernelFaultKind

_POINTER = re.compile(r"\b(?:in_ptr|out_ptr)\d+\b")
_PARAMETER = re.compile(r"\b(?:in_out_ptr|in_ptr|out_ptr|ks)\d+\b")
_SIGNATURE = re.compile(r'extern "C"[^(]*\(([^)]*)\)', re.DOTALL)


@dataclass(frozen=True)
class Place:
    """Where a node is computed: a call of the wrapper, or ``None`` for what the graph gives back."""

    lowered: Lowered
    statement: Statement | None
    kernel: Kernel | None = None
    use: KernelUse | None = None


def fault(
    place: Place, wrong: Wrong, tolerance: Tolerance, stale: Mapping[str, str], names: Mapping[str, str]
) -> KernelFault:
    """All that can be told of ``wrong``.

    ``stale`` has the nodes whose memory is not as the call needs it, each with the reason, ``names`` the nodes whose
    values the variables of the call are.
    """
    lowered, statement, node = place.lowered, place.statement, described(wrong.node)
    file, lines = lowered.module.__file__, lowered.text.split("\n")
    wrapper_line = statement.line if statement else _return_line(lines)
    wrapper_text = lines[wrapper_line - 1].strip()
    line, text = wrapper_line, wrapper_text
    if place.kernel and place.kernel.file:
        file, line = place.kernel.file, wrong.line or _first_line(place.kernel.source)
        text = place.kernel.source.split("\n")[line - 1].strip()
    kind, reason = _kind(place, wrong, stale, names)
    wide = wrong.expected.wide if wrong.actual.is_floating_point() else wrong.expected.eager.to(wrong.actual.dtype)
    first = tuple(int(each) for each in wrong.where.nonzero()[0]) if wrong.where.dim() else ()
    difference = measured("", wide, wrong.actual, ~wrong.where, tolerance.of(wrong.expected.dtype))
    return KernelFault(
        graph=lowered.kind,
        graph_id=lowered.id,
        kernel=statement.callee if statement else "the graph's result",
        file=file,
        line=line,
        text=text,
        wrapper=lowered.module.__file__,
        wrapper_line=wrapper_line,
        wrapper_text=wrapper_text,
        node=node.name,
        target=node.target,
        captured=node.captured,
        module=node.module,
        origin_file=node.origin_file,
        origin_line=node.origin_line,
        kind=kind,
        reason=reason,
        element=first,
        expected=_number(wide, first),
        actual=_number(wrong.actual, first),
        difference=difference,
        through=wrong.through,
    )


def _kind(
    place: Place, wrong: Wrong, stale: Mapping[str, str], names: Mapping[str, str]
) -> tuple[KernelFaultKind, str]:
    if place.statement is None:
        return "output", REASONS["output"]
    if wrong.kind is not None:
        return wrong.kind, REASONS[wrong.kind]
    for node, reason in stale.items():
        if _uses(wrong, node):
            return "stale", reason
    for pointer, name, wanted in _exchanged(place, wrong, names):
        what = name if names[name] == name else f"{name}, which is {names[name]}"
        return "buffer", f"it reads {wanted} from {pointer}, and the wrapper passes {what}"
    return "value", REASONS["value"]


def _uses(wrong: Wrong, name: str) -> bool:
    """Whether the node is computed from that one, also through others of the same call."""
    seen, open_nodes = set(), list(wrong.node.all_input_nodes)
    while open_nodes:
        each = open_nodes.pop()
        if each.name == name:
            return True
        if each not in seen:
            seen.add(each)
            open_nodes.extend(each.all_input_nodes)
    return False


def _exchanged(place: Place, wrong: Wrong, names: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Loads for the node through a pointer to another node's value: pointer, variable of the wrapper, node wanted."""
    if place.kernel is None or place.use is None or place.statement is None:
        return []
    signature = _SIGNATURE.search(place.kernel.source)
    parameters = _PARAMETER.findall(signature[1]) if signature else []
    given = [ast.unparse(each) for each in place.statement.arguments]
    pointed = dict(zip(parameters, given))  # noqa: B905  (CPython 3.9)
    lines = place.kernel.source.split("\n")
    found = []
    for row in place.use.lines:
        if row.node != wrong.node.name or row.reads is None:
            continue
        for pointer in _POINTER.findall(lines[row.line - 1]):
            name = pointed.get(pointer, "")
            if name in names and names[name] != row.reads and row.reads in names.values():
                found.append((pointer, name, row.reads))
    return found


def _first_line(source: str) -> int:
    """Where the kernel begins."""
    return next((number for number, text in enumerate(source.split("\n"), 1) if 'extern "C"' in text), 1)


def _return_line(lines: list[str]) -> int:
    return max((number for number, text in enumerate(lines, 1) if text.startswith("        return (")), default=1)


def _number(tensor: torch.Tensor, index: tuple[int, ...]) -> complex:
    value: complex = tensor[index].item()
    return value

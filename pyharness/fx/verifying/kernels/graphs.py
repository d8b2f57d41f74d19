"""Compares each run of a graph that inductor compiled with what the graph says, call by call of its wrapper."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.inductor.statements import Statement, last_uses, reuses, run, statements_of
from pyharness.fx.verifying.differences import is_same
from pyharness.fx.verifying.kernels.faults import Place, fault
from pyharness.fx.verifying.kernels.inside import Called, Inside, Wrong, line_of
from pyharness.fx.verifying.kernels.judging import Expected, Judge
from pyharness.fx.verifying.kernels.reference import is_random, name_of
from pyharness.fx.verifying.values import copied
from pyharness.model.kernel_map import digest_of
from pyharness.model.kernel_text import kernels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.fx import Node

    from pyharness.fx.inductor.watching import Lowered
    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.model.kernel_files import Kernel
    from pyharness.model.kernel_map import KernelUse
    from pyharness.model.results.compiled_verdict import KernelFault


@dataclass
class Findings:
    """What came out of all graphs that ran."""

    graphs: int = 0
    kernels: int = 0
    nodes: int = 0
    faults: list[KernelFault] = field(default_factory=list)
    turned: KernelFault | None = None
    """The first comparison that rounding turns."""
    notes: dict[str, None] = field(default_factory=dict)
    failing: tuple[Lowered, Sequence[Any]] | None = None
    """The graph with the first fault, and what it was called with."""


class GraphRun:
    """One run of a graph."""

    def __init__(self, lowered: Lowered, args: Sequence[Any], tolerance: Tolerance, findings: Findings) -> None:
        self._lowered = lowered
        self._tolerance = tolerance
        self._findings = findings
        self._given = copied(list(args))
        graph = lowered.graph.graph
        self._nodes = {node.name: node for node in graph.nodes}
        inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self._known: dict[Node, Any] = dict(zip(inputs, copied(list(args))))  # noqa: B905  (CPython 3.9)
        self._inputs = dict(zip(inputs, args))  # noqa: B905
        self._written = {
            node.args[0]: node for node in graph.nodes if name_of(node.target) == "copy_" and node.args[0] in inputs
        }
        """Inputs that the graph changes, and by which node."""
        kernels = {name for name, _ in kernels_of(lowered.text)}
        self._statements = statements_of(lowered.text, kernels)
        self._used = last_uses(lowered.text)
        self._reused = reuses(lowered.text)
        self._before: dict[str, Any] = {}
        self._stale: dict[str, str] = {}
        """By a node that the statement reads: what is wrong with its memory."""
        self._failing: list[Node] = []

    def run(self, call: Callable[[Any], Any], args: Any) -> Any:
        """Call the wrapper as torch does, and look at what it computes."""
        self._findings.graphs += 1
        faults = len(self._findings.faults)
        result = run(call, args, self._lowered.module.__file__, self._statements, self._tell)
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            self._check_results(result)
        if len(self._findings.faults) > faults and self._findings.failing is None:
            self._findings.failing = self._lowered, self._given
        return result

    def _tell(self, when: str, statement: Statement, variables: Mapping[str, Any]) -> None:
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            if when == "before":
                self._remember(statement, variables)
            else:
                self._check(statement, variables)

    def _remember(self, statement: Statement, variables: Mapping[str, Any]) -> None:
        self._before = copied({name: variables[name] for name in statement.names if name in variables})
        self._stale = {}
        for variable, value in self._before.items():
            name, node = variable, self._node_of(variable)
            if node is not None and node not in self._known and name in self._reused:  # it computes in place
                name = self._reused[name]
                node = self._node_of(name)
            if node is None or node in self._written or not isinstance(value, torch.Tensor):
                continue
            if node in self._known and isinstance(self._known[node], torch.Tensor):
                known = self._known[node]
                if known.shape == value.shape and not is_same(known, value):
                    why = f"it reads {name}, which no longer holds {node.name}: it was overwritten before"
                    self._stale[node.name] = why
                elif name in self._before and (other := self._over(name, value)):
                    self._stale[node.name] = f"it writes {other} where {name} is, which it reads"

    def _over(self, name: str, value: torch.Tensor) -> str | None:
        """A variable of the statement that gets its value now, and lies where ``name`` does."""
        for other, each in self._before.items():
            node = self._node_of(other)
            made = other != name and node is not None and node not in self._known
            if made and isinstance(each, torch.Tensor) and each.numel() and each.data_ptr() == value.data_ptr():
                return other
        return None

    def _node_of(self, name: str) -> Node | None:
        return self._nodes.get(self._lowered.values.get(name, name))

    def _check(self, statement: Statement, variables: Mapping[str, Any]) -> None:
        """Compare what the statement has computed."""
        self._findings.kernels += statement.kernel
        judge = Judge(self._lowered.graph, dict(self._known))
        made: dict[Node, torch.Tensor] = {}
        wrong: list[Wrong] = []
        for name in statement.names:
            node, value = self._node_of(name), variables.get(name)
            if node is None or node in self._known or not isinstance(value, torch.Tensor):
                continue
            if self._used.get(name, 0) <= statement.line and node.name not in self._stored(statement):
                continue  # nobody reads it, so it need not have been stored
            made[node] = value.detach().clone()
            expected = None if is_random(node) else judge.expected(node)
            if expected is None or expected.wide.shape != value.shape:
                continue
            self._findings.nodes += 1
            where = expected.wrong(made[node], self._tolerance)
            if bool(where.any()):
                wrong.append(Wrong(node, expected, made[node], where, None))
        if wrong:
            self._explain(statement, made, wrong)
        self._note_turned(statement, judge, made)
        self._known.update(made)

    def _stored(self, statement: Statement) -> set[str]:
        """The nodes whose values a kernel stores, also those that it alone reads again."""
        _, use = self._kernel(statement) if statement.kernel else (None, None)
        return {row.node for row in use.lines if row.kind == "store"} if use else set()

    def _note_turned(self, statement: Statement, judge: Judge, made: Mapping[Node, torch.Tensor]) -> None:
        """Keep the first comparison that rounding turns: results may differ by it although no kernel is wrong."""
        for node, eager, other in judge.turned(made) if self._findings.turned is None else ():
            kernel, use = self._kernel(statement) if statement.kernel else (None, None)
            expected = Expected(eager, eager, (), eager.dtype)
            wrong = Wrong(node, expected, other, eager != other, line_of(use, node) if use else None, kind="rounding")
            place = Place(self._lowered, statement, kernel, use)
            self._findings.turned = fault(place, wrong, self._tolerance, {}, {})
            return

    def _explain(self, statement: Statement, made: Mapping[Node, torch.Tensor], wrong: list[Wrong]) -> None:
        order = {node: position for position, node in enumerate(self._nodes.values())}
        wrong.sort(key=lambda each: order[each.node])
        place = Place(self._lowered, statement)
        if statement.kernel and self._findings.failing is None and not self._findings.faults:
            kernel, use = self._kernel(statement)
            if kernel is not None and use is not None:
                found = self._inside(statement, kernel, use, made)
                if found is not None:
                    wrong = found
                place = Place(self._lowered, statement, kernel, use)
        names = {name: node.name for name in self._before if (node := self._node_of(name)) is not None}
        for each in wrong[:1] if statement.kernel else wrong:
            self._findings.faults.append(fault(place, each, self._tolerance, self._stale, names))

    def _inside(
        self, statement: Statement, kernel: Kernel, use: KernelUse, made: Mapping[Node, torch.Tensor]
    ) -> list[Wrong] | None:
        """The nodes of the kernel that are wrong by themselves; ``None`` where that cannot be told."""
        namespace = vars(self._lowered.module)
        before = copied(self._before)
        args = tuple(
            eval(compile(ast.Expression(each), "<wrapper>", "eval"), namespace, before)  # noqa: S307  (torch's code)
            for each in statement.arguments
        )
        inside = Inside(
            self._lowered.graph,
            Called(kernel, use, self._lowered.text, args, dict(self._known), made),
            self._tolerance,
        )
        try:
            found = inside.wrong()
        except Exception as error:  # noqa: BLE001  (the copy may not compile; the fault is there in any case)
            self._findings.notes[f"the lines of {kernel.name} could not be compared: {type(error).__name__}"] = None
            return None
        for said in inside.flips:
            self._findings.notes[said] = None
        return found

    def _kernel(self, statement: Statement) -> tuple[Kernel | None, KernelUse | None]:
        """The kernel that is called, and the part of its map that is of this call."""
        wrapper, maps = self._lowered.wrapper, self._lowered.maps
        kernel = next((each for each in wrapper.kernels if each.name == statement.callee), None) if wrapper else None
        if kernel is None:
            return None, None
        digest = digest_of(kernel.source)
        known = maps.kernels if maps else ()
        uses = next((each.uses for each in known if (each.name, each.digest) == (kernel.name, digest)), ())
        lines = sorted(line for line, each in self._statements.items() if each.callee == statement.callee)
        call = lines.index(statement.line)
        if call >= len(uses):
            self._findings.notes[f"{kernel.name} has no map that fits its text: its lines were not compared"] = None
            return kernel, None
        return kernel, uses[call]

    def _check_results(self, result: Any) -> None:
        """What the graph gives back, and inputs that it changes: where no statement was found to be wrong."""
        if self._findings.faults:
            return
        output = next(node for node in reversed(self._nodes.values()) if node.op == "output")
        given = output.args[0] if isinstance(output.args[0], (tuple, list)) else (output.args[0],)
        pairs = list(zip(given, result)) if isinstance(result, (tuple, list)) else []  # noqa: B905
        pairs += [(writer, self._inputs[node]) for node, writer in self._written.items()]
        judge = Judge(self._lowered.graph, dict(self._known))
        for node, value in pairs:
            if not isinstance(node, torch.fx.Node) or not isinstance(value, torch.Tensor) or is_random(node):
                continue
            if node.op != "call_function":
                continue
            known = self._known.get(node)
            if isinstance(known, torch.Tensor) and is_same(known, value):
                continue
            expected = judge.expected(node)
            if expected is None or expected.wide.shape != value.shape:
                continue
            where = expected.wrong(value.detach(), self._tolerance)
            if bool(where.any()):
                wrong = Wrong(node, expected, value.detach().clone(), where, None)
                self._findings.faults.append(fault(Place(self._lowered, None), wrong, self._tolerance, {}, {}))
                return

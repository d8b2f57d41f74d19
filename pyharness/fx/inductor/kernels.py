"""From the marked text of a kernel to its map."""

from __future__ import annotations

import re
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor import marks
from pyharness.fx.inductor.graphs import buffers_of, bytes_of, described, kind_of, nodes_of, template_of
from pyharness.fx.inductor.loading import lowered as tell
from pyharness.fx.inductor.loops import loops_around, shown, vector_lanes
from pyharness.fx.inductor.private import replaced
from pyharness.fx.inductor.wrappers import calls_in
from pyharness.model.kernel_map import (
    GraphKind,
    Held,
    KernelLine,
    KernelMap,
    KernelMaps,
    KernelUse,
    LineKind,
    digest_of,
)
from pyharness.model.kernel_text import cxx_sources, defined_in, kernels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch.fx import Node

    from pyharness.fx.inductor.bodies import Bodies
    from pyharness.fx.inductor.lines import Lines, Written
    from pyharness.fx.inductor.lowering import Lowering
    from pyharness.fx.inductor.private import Private

    Contexts = Sequence[tuple[int, Node]]
    """Lines of a wrapper, each with the node that torch was about to write when it came there."""

_WHOLE = "_compile_to_module_lines"
"""What takes a wrapper's text since torch 2.8. Before, ``codegen`` gives it to who writes it to a file."""
_AHEAD_OF_TIME = "codegen_with_cpp_wrapper"
_VARIABLE = re.compile(r"\s*(?:const )?auto (\w+) =")
_KINDS: dict[str, LineKind] = {
    "load": "load",
    "load_seed": "load",
    "store": "store",
    "store_reduction": "store",
    "index_expr": "index",
    "value_expr": "index",
    "check_bounds": "check",
}


@dataclass
class _Graph:
    """What has been seen of a graph that becomes code."""

    nodes: dict[str, Node] = field(default_factory=dict)
    kind: GraphKind = "inference"
    uses: dict[str, list[tuple[str, KernelUse]]] = field(default_factory=dict)
    """Text and use of each kernel, by its name."""

    def computed(self) -> set[str]:
        """The nodes of the kernels so far."""
        return {node for uses in self.uses.values() for _, use in uses for node in use.nodes}


class Kernels:
    """Follows kernels until their graph is code."""

    def __init__(
        self,
        private: Private,
        bodies: Bodies,
        lines: Lines,
        made: Callable[[str, KernelMaps], None],
        ahead_of_time: Callable[[str, str], None],
        lost: Callable[[str], None],
    ) -> None:
        self._private = private
        self._bodies = bodies
        self._lines = lines
        self._made = made
        self._ahead_of_time = ahead_of_time
        self._lost = lost
        self._graphs: weakref.WeakKeyDictionary[Any, _Graph] = weakref.WeakKeyDictionary()

    def install(self, lowering: Lowering) -> None:
        """Wrap the functions of torch's that name kernels and finish a graph's code."""
        self._maker_of = lowering.maker_of
        replaced(self._private.cpp.CppScheduling, "define_kernel", self._define)
        lowering_of_graphs = self._private.graph.GraphLowering
        if not hasattr(lowering_of_graphs, _WHOLE):
            replaced(lowering_of_graphs, "codegen", self._finish_older)
            return
        replaced(lowering_of_graphs, _WHOLE, self._finish)
        if hasattr(lowering_of_graphs, _AHEAD_OF_TIME):
            replaced(lowering_of_graphs, _AHEAD_OF_TIME, self._finish_cxx)

    def _define(
        self, original: Callable[..., str], scheduling: Any, text: str, nodes: Any, *args: Any, **named: Any
    ) -> str:
        plain = marks.clean(text)
        name = original(scheduling, plain, nodes, *args, **named)
        graph = self._graphs.setdefault(self._private.virtualized.V.graph, _Graph())
        with self._safely(f"the kernel {name}"):
            rows = tuple(self._rows(graph, text, plain))
            lowered = self._private.virtualized.V.graph
            earlier, parts = graph.computed(), tuple(nodes)
            computed = nodes_of(parts, lowered, earlier)
            graph.nodes.update({node.name: node for node in computed})
            given = named.get("kernel_args") or (args[0] if args else scheduling.kernel_group.args)
            names = tuple(node.name for node in computed)
            buffers, template = tuple(buffers_of(given, lowered)), template_of(parts, lowered, earlier)
            use = KernelUse(names, rows, bytes_of(given, lowered), buffers, template)
            graph.uses.setdefault(name, []).append((plain, use))
        return name

    @contextmanager
    def _safely(self, what: str) -> Iterator[None]:
        """A map that cannot be made is lost, and the program compiles."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  (torch's parts may be other than we know them)
            self._lost(f"The map of {what} is lost: {type(error).__name__}: {error}")

    def _rows(self, graph: _Graph, text: str, plain: str) -> Iterator[KernelLine]:
        lines = plain.split("\n")
        loops = loops_around(lines)
        for position, number in marks.read(text).items():
            if not lines[position].strip(" {}()[]&;"):  # what only holds code together
                continue
            row = self._row(graph, self._lines.why(number), lines[position], position + 1, loops[position])
            if row is not None:
                yield row

    def _row(self, graph: _Graph, why: Written, text: str, line: int, loops: tuple[str, ...]) -> KernelLine | None:
        note = self._bodies.note(why.operation)
        if note is None:
            return None
        node = note.maker.node
        graph.nodes.setdefault(node.name, node)
        found = _VARIABLE.match(text)
        name = found[1] if found else None
        known = self._lines.variable(why.kernel, name)
        holds: tuple[Held, ...] = ()
        lanes: tuple[tuple[str, str], ...] = ()
        reads = None
        if known is not None:
            held = (
                Held(each, shown(index, why.kernel, loops)) for maker, index in known.yields for each in maker.whole
            )
            holds = tuple(dict.fromkeys(held))
            lanes = vector_lanes(why.kernel) if known.vector else ()
            reads = self._read(graph, known.buffer) if known.buffer and why.operation.target == "load" else None
        return KernelLine(line, node.name, _kind(why), name, holds, lanes, reads, why.mask)

    def _read(self, graph: _Graph, buffer: str) -> str | None:
        """The node whose value a buffer is."""
        lowered = self._private.virtualized.V.graph
        if buffer in lowered.mutated_buffers:
            return None
        if buffer in lowered.graph_inputs:
            return buffer
        maker = self._maker_of(lowered.name_to_buffer.get(buffer))
        if maker is None or not maker.whole:
            return None
        graph.nodes.setdefault(maker.node.name, maker.node)
        return maker.whole[0]

    def _finish(self, original: Callable[..., Any], lowered: Any, code: Any) -> Any:
        code.value = self._whole(lowered, code.value, code.line_map)
        return original(lowered, code)

    def _finish_older(self, original: Callable[..., Any], lowered: Any) -> Any:
        text, contexts, *more = original(lowered)
        return (self._whole(lowered, text, contexts), contexts, *more)

    def _whole(self, lowered: Any, marked: str, contexts: Contexts) -> str:
        """The text of a module that is whole, without marks."""
        graph = self._graphs.pop(lowered, _Graph())
        self._lines.forget()
        text = marks.clean(marked)
        if graph.uses:
            graph.kind = kind_of(lowered)
            with self._safely("a graph's kernels"):
                self._made(text, _of_module(graph, text, contexts))
                tell(text, lowered.module)
        return text

    def _finish_cxx(self, original: Callable[..., Any], lowered: Any) -> Any:
        """Take the two files of C++ of a graph that is compiled ahead of time; it has no module of Python."""
        wrapper, kernels = made = original(lowered)
        if lowered.aot_mode:
            graph = self._graphs.pop(lowered, _Graph())
            self._lines.forget()
            wrapper.value, kernels.value = (marks.clean(each.value) for each in made)
            if graph.uses:
                graph.kind = kind_of(lowered)
                with self._safely("a graph's kernels"):
                    texts = (wrapper.value, kernels.value)
                    self._made(wrapper.value, _of_cxx(graph, texts, wrapper.line_map))
                    self._ahead_of_time(*texts)
        return made


def _of_module(graph: _Graph, module: str, contexts: Contexts) -> KernelMaps:
    """The maps of a module of Python, which is a wrapper or has one in C++."""
    if sources := cxx_sources(module):
        before = sources[0][0]
        return _of_cxx(graph, [text for _, text in sources], [(line - before, node) for line, node in contexts])
    kernels = []
    for name, text in kernels_of(module):
        uses = tuple(_moved(use, text, plain) for plain, use in graph.uses.get(name, ()))
        kernels.append(KernelMap(name, digest_of(text), uses))
    return _maps(graph, module, kernels, contexts)


def _of_cxx(graph: _Graph, texts: Sequence[str], contexts: Contexts) -> KernelMaps:
    """The maps of a wrapper in C++, which is the first of ``texts``."""
    kernels = []
    for found in (each for text in texts for each in defined_in(text)):
        uses = tuple(_from_definition(use, plain) for plain, use in graph.uses.get(found.name, ()))
        kernels.append(KernelMap(found.name, digest_of(found.text), uses))
    return replace(_maps(graph, texts[0], kernels, contexts), is_cxx=True)


def _maps(graph: _Graph, wrapper: str, kernels: list[KernelMap], contexts: Contexts) -> KernelMaps:
    import torch

    graph.nodes.update({node.name: node for _, node in contexts if node.op == "call_function"})
    own = _of_torch(wrapper, contexts)
    kernels = [replace(each, uses=tuple(_without(own, use) for use in each.uses)) for each in kernels]
    calls = tuple(calls_in(wrapper, kernels, [(line, node.name) for line, node in contexts]))
    nodes = tuple(described(node) for node in graph.nodes.values())
    return KernelMaps(torch.__version__, graph.kind, nodes, tuple(kernels), calls)


def _of_torch(wrapper: str, contexts: Contexts) -> set[str]:
    """The nodes that torch's own functions compute."""
    calls = calls_in(wrapper, (), [(line, node.name) for line, node in contexts])
    return {name for call in calls for name in call.nodes}


def _without(others: set[str], use: KernelUse) -> KernelUse:
    """A kernel that only lays out what a function of torch's is given has that one's node among its own."""
    return replace(use, nodes=tuple(name for name in use.nodes if name not in others))


def _kind(why: Written) -> LineKind:
    if why.phase is not None:
        return why.phase
    target = str(why.operation.target)
    if target.startswith("masked_subblock"):
        return "mask"
    return "index" if target.startswith("set_") else _KINDS.get(target, "value")


def _moved(use: KernelUse, text: str, plain: str) -> KernelUse:
    """The lines as the kernel's file counts them, which begins with other empty lines than the generated text."""
    return _shifted(use, _empty_lines(text) - _empty_lines(plain))


def _from_definition(use: KernelUse, plain: str) -> KernelUse:
    """The lines as they are counted from the one that defines the kernel."""
    return _shifted(use, -plain.count("\n", 0, plain.rfind('extern "C"')))


def _shifted(use: KernelUse, more: int) -> KernelUse:
    return replace(use, lines=tuple(replace(each, line=each.line + more) for each in use.lines))


def _empty_lines(text: str) -> int:
    """Before the first that is not."""
    return text.count("\n", 0, len(text) - len(text.lstrip()))

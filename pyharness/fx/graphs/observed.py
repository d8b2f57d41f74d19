"""The shapes of a graph's values, read from the variables of its generated ``forward`` while that runs.

Nothing is run twice and nothing in the module changes: Python's trace function looks at that one frame, line by line.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from pyharness.fx.graphs.values import described

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

    from torch.fx import GraphModule

    from pyharness.model.graph import Graph


_MOST = 4000
"""Nodes of a graph; its 4,000 variables, looked at on 4,000 lines, take some seconds."""


@contextlib.contextmanager
def observed(module: GraphModule, graph: Graph, shapes: dict[str, str]) -> Iterator[None]:
    """Put into ``shapes`` what each node of ``graph``, which is of ``module``, has as its value in the next call.

    Only this thread is looked at; nothing is noted while somebody else traces it (a debugger, coverage), nor of a graph
    so large that looking at all its variables on each line would take long.
    """
    if sys.gettrace() is not None or len(graph.nodes) > _MOST:
        yield
        return
    watch = _Watch(type(module).forward.__code__, graph, shapes)
    sys.settrace(watch.called)
    try:
        yield
    finally:
        sys.settrace(None)


class _Watch:
    """The trace function of one call."""

    def __init__(self, code: CodeType, graph: Graph, shapes: dict[str, str]) -> None:
        self._code = code
        self._shapes = shapes
        self._at: dict[int, list[str]] = {}
        for node in graph.nodes:
            if node.op not in {"placeholder", "output"} and node.line:
                self._at.setdefault(node.line, []).append(node.name)
        self._inputs = [node.name for node in graph.nodes if node.op == "placeholder"]
        self._output = next((node.name for node in graph.nodes if node.op == "output"), None)
        self._open: list[str] = []

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A function is called: only our ``forward`` is looked at."""
        del argument
        if event != "call" or frame.f_code is not self._code:
            return None
        self._open = list(self._inputs)
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._note(frame.f_locals)
        if event == "line":
            self._open += self._at.get(frame.f_lineno, [])
        elif event == "return" and self._output and argument is not None:
            self._shapes.setdefault(self._output, described(argument))
        return self._line

    def _note(self, values: dict[str, Any]) -> None:
        """The statements begun so far are done, but for those whose variable is not there yet.

        ``None`` says nothing: a value that nobody uses is freed by its own statement.
        """
        for name in self._open:
            if values.get(name) is not None:
                self._shapes.setdefault(name, described(values[name]))
        self._open = [name for name in self._open if name not in values]

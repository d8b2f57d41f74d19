"""The public names of the Python API: what each module offers, and the objects that these return."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Page:
    """One page of the reference."""

    file: str
    module: str
    """The module; the page has the names of its ``__all__``."""
    guide: str
    """Markdown that says where they are explained."""
    returned: tuple[str, ...] = ()
    """``MODULE:NAME`` of classes that a user gets, and does not make."""

    def names(self) -> dict[str, Any]:
        """Name → object, the module's own first."""
        module = importlib.import_module(self.module)
        own = [name for name in module.__all__ if not name.startswith("__")]
        return {name: getattr(module, name) for name in own} | dict(map(_loaded, self.returned))


@cache
def with_a_place() -> frozenset[type]:
    """The classes that have an entry: what derives from one does not repeat its members."""
    return frozenset(value for page in PAGES for value in page.names().values() if isinstance(value, type))


def _loaded(reference: str) -> tuple[str, Any]:
    module, _, name = reference.partition(":")
    return name, getattr(importlib.import_module(module), name)


PAGES = (
    Page(
        "python",
        "pyharness",
        "[In CI](../guides/ci.md#in-python), [Inside the autograd engine](../engine.md)",
        (
            "pyharness.debugger.api.program:Program",
            "pyharness.model.where:Where",
            "pyharness.model.stops:Stop",
            "pyharness.model.frames:Frame",
            "pyharness.model.frames:FxPlace",
            "pyharness.model.frames:AutogradNode",
            "pyharness.native.recording:Recording",
            "pyharness.model.results.trace:Trace",
            "pyharness.model.results.trace:Event",
            "pyharness.model.results.trace:Call",
            "pyharness.model.results.trace:TensorInfo",
            "pyharness.model.results.trace:GraphTask",
            "pyharness.native.find_nan:NanSearch",
            "pyharness.model.results.finding:Finding",
            "pyharness.model.results.finding:CheckedTensor",
            "pyharness.model.results.finding:ValueStatistics",
            "pyharness.model.results.finding:NonFiniteError",
            "pyharness.model.errors:HarnessError",
            "pyharness.model.errors:UsageError",
            "pyharness.model.errors:DebuggerLostError",
        ),
    ),
    Page(
        "python-fx",
        "pyharness.fx",
        "[The FX workbench](../fx.md), [Compiled code](../compile.md)",
        (
            "pyharness.model.source_map:SourceMap",
            "pyharness.model.source_map:MappedLine",
            "pyharness.fx.provenance:Provenance",
            "pyharness.model.results.verdict:Verdict",
            "pyharness.model.results.verdict:Fault",
            "pyharness.model.results.verdict:Difference",
            "pyharness.model.results.verdict:Sizes",
            "pyharness.model.results.verdict:Around",
            "pyharness.model.results.verdict:DifferenceError",
            "pyharness.model.results.bad_pass:BadPass",
            "pyharness.model.results.bad_pass:Shrunk",
            "pyharness.model.results.bad_pass:Script",
            "pyharness.model.results.determinism:Determinism",
            "pyharness.model.results.determinism:LineDifference",
            "pyharness.model.results.determinism:SetIteration",
            "pyharness.model.results.compiled:CompileReport",
            "pyharness.model.results.compiled:Compilation",
            "pyharness.model.results.compiled:CompiledGraph",
            "pyharness.model.results.compiled:Place",
            "pyharness.model.results.compiled:Break",
            "pyharness.model.results.compiled:Guard",
            "pyharness.model.results.compiled:FailedGuard",
            "pyharness.model.results.compiled:NotCompiled",
        ),
    ),
    Page("python-inspect", "pyharness.inspect", "[Inside the modules](../inspect.md)"),
    Page("python-native", "pyharness.native", "[Native breakpoints](../engine.md#native-breakpoints)"),
    Page(
        "python-views",
        "pyharness.views",
        "[Views of graphs](../fx.md#in-python)",
        (
            "pyharness.model.graph:Graph",
            "pyharness.model.graph:GraphNode",
            "pyharness.model.results.graph_diff:GraphDiff",
            "pyharness.model.results.graph_diff:Row",
        ),
    ),
)

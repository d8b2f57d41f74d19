"""The passes that a user lists: their names, what they take, and how one is run."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from torch.fx import Graph, GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from pyharness.fx.theirs import theirs
from pyharness.host.running_now import running
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import torch

Takes = Literal["graph", "module"]
_TRACED = (
    "Give a GraphModule in its place, on the command line a function that gives one:"
    " pyharness.fx.trace(module, leaves=..., concrete_args=...) makes it."
)
_GRAPH_NAMES = {"graph", "g", "fx_graph"}


class BisectError(HarnessError):
    """The list of passes, the check or the module does not allow a search."""


class AllGoodError(BisectError):
    """The check found nothing, neither after all passes nor after any number of them."""


@dataclass(frozen=True)
class Pass:
    """One pass of the list."""

    name: str
    call: Callable[..., Any]
    takes: Takes

    @property
    def origin(self) -> str | None:
        """``FILE:LINE`` where the function, or the class of the object, is defined."""
        call: Any = self.call
        while isinstance(call, functools.partial):
            call = call.func
        call = inspect.unwrap(getattr(call, "__func__", call))
        if not hasattr(call, "__code__"):
            call = getattr(type(call), "call", None) or type(call).__call__
        code = getattr(inspect.unwrap(call), "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else None

    def __call__(self, module: GraphModule) -> GraphModule:
        """The module after the pass: changed in place or made anew, its code that of its graph.

        A GraphModule pass that forgets to ``recompile()`` is helped: what it did to the graph would otherwise be seen
        only after the next pass that does, which would be blamed for it.
        """
        try:
            with running(f"The pass {self.name}"):
                result = self.call(module.graph if self.takes == "graph" else module)
        except AttributeError as error:
            if self.takes != "graph" or error.obj is not module.graph:
                raise
            raise BisectError(
                f"The pass {self.name} got a Graph, for the name or the type of its parameter: {error}.",
                "Say in its signature that it takes a GraphModule: def a_pass(module: torch.fx.GraphModule).",
            ) from error
        return self._module(module, result)

    def _module(self, module: GraphModule, result: Any) -> GraphModule:
        if isinstance(result, PassResult):
            result = result.graph_module
        if isinstance(result, GraphModule):
            module = result
        elif isinstance(result, Graph):
            if result is not module.graph:
                module.graph = result
        elif result is not None and not isinstance(result, bool):  # a bool says whether it changed anything
            raise BisectError(
                f"The pass {self.name} returned a {type(result).__name__}.",
                "A pass returns a GraphModule, a Graph, a PassResult or None.",
            )
        module.recompile()
        return module


def passes_of(given: Any) -> tuple[Pass, ...]:
    """The passes of a sequence, of a mapping from names, or of a torch ``PassManager``.

    Names come from the functions; equal ones are told apart by ``#2``, ``#3``.
    """
    given = getattr(given, "passes", given)
    if isinstance(given, Mapping):
        named = [(str(name), call) for name, call in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = [(_name(call), call) for call in given]
    else:
        raise UsageError(
            f"A {type(given).__name__} is not a list of passes.", "Give a list, or a dict of name and pass."
        )
    if not named:
        raise UsageError("There are no passes to look through.", "Give a list with at least one.")
    return tuple(Pass(name, call, _takes(name, call)) for name, call in _apart(named))


def _apart(named: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    seen: dict[str, int] = {}
    for name, call in named:
        seen[name] = seen.get(name, 0) + 1
        yield (f"{name}#{seen[name]}" if seen[name] > 1 else name), call


def unwrapped(call: Any) -> Any:
    """The user's function or object inside of ``functools.partial`` and wrappers that say what they wrap."""
    while True:
        if isinstance(call, functools.partial):
            call = call.func
        elif hasattr(call, "__wrapped__"):
            call = call.__wrapped__
        else:
            return call


def _name(call: Any) -> str:
    inner = unwrapped(call)
    name = getattr(inner, "__name__", None) or type(inner).__name__
    if name != "<lambda>":
        return str(name)
    return f"lambda at line {inner.__code__.co_firstlineno}"


def _takes(name: str, call: Any) -> Takes:
    """By the annotation of the first parameter, else by its name; a GraphModule where neither says it."""
    if not callable(call):
        raise UsageError(
            f"The pass {name} is a {type(call).__name__}, which cannot be called.",
            "A pass is a function of a GraphModule.",
        )
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return "module"
    if not parameters:
        raise UsageError(f"The pass {name} takes no argument.", "A pass takes a GraphModule or a Graph.")
    annotation = parameters[0].annotation
    said = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    if said and annotation is not inspect.Parameter.empty:
        return "graph" if said.rpartition(".")[2] == "Graph" else "module"
    return "graph" if parameters[0].name in _GRAPH_NAMES else "module"


def graph_module(module: torch.nn.Module) -> GraphModule:
    """A deep copy of ``module`` to work on, traced if it is not a GraphModule."""
    with theirs(module):
        module = copy.deepcopy(module)
    if isinstance(module, GraphModule):
        return module
    from pyharness.fx.tracing.tracer import CannotTraceError, Tracer

    try:
        with theirs(module):
            graph = Tracer().trace(module)
    except CannotTraceError as error:
        raise CannotTraceError(error.message, _TRACED) from error
    return GraphModule(module, graph, type(module).__name__)

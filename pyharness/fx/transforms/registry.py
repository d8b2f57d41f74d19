"""What a transform is: a named function from graph to graph that leaves what it was given as it was, and lints."""

from __future__ import annotations

import copy
import functools
import inspect
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from torch import nn
from torch.fx import Graph, GraphModule

from pyharness.fx.tracing import tags
from pyharness.fx.tracing.remembered import remember
from pyharness.fx.transforms.heirs import replacements, settle
from pyharness.model.errors import HarnessError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

Options = ParamSpec("Options")
Given = TypeVar("Given", GraphModule, Graph)

TRANSFORMS: dict[str, Transform[...]] = {}
"""Every transform that is loaded, by name."""

TAG = "transform"
"""``tags_of(node)[TAG]`` names the transform that made a node."""


class TransformError(HarnessError):
    """A graph that a transform cannot work on, or a transform that left a graph that cannot run."""


class Transform(Generic[Options]):
    """A registered transform: called with a GraphModule it returns a new one, with a Graph a new Graph.

    The new graph shares parameters and submodules with the given one, whose nodes and attributes stay as they are.
    Nodes that it made carry its name as a tag, the tags of ``tagged`` blocks that are open, and the provenance of those
    that they replace.
    """

    def __init__(self, name: str, function: Callable[Concatenate[GraphModule, Options], GraphModule | None]) -> None:
        self.name = name
        self._function = function
        functools.update_wrapper(cast("Any", self), function)

    def __call__(self, given: Given, *args: Options.args, **kwargs: Options.kwargs) -> Given:
        """Raises ``TransformError`` where the graph cannot be transformed, or the result does not lint."""
        module = self._module(given)
        work = _copied(module)
        before = set(work.graph.nodes)
        with replacements(work) as replaced:
            result = self._function(work, *args, **kwargs) or work
        made = [
            node for node in result.graph.nodes if node not in before and (result is work or not tags.is_known(node))
        ]
        settle(made, replaced)
        for node in made:
            tags.tag(node, **tags.active(), **{TAG: self.name})
        finished = self._finished(result, module)
        return finished if isinstance(given, GraphModule) else finished.graph

    def __repr__(self) -> str:
        return f"<transform {self.name}>"

    def _module(self, given: object) -> GraphModule:
        if isinstance(given, GraphModule):
            return given
        if isinstance(given, Graph):
            return given.owning_module or GraphModule(nn.Module(), given)
        remedy = "Trace it first: pyharness.fx.trace(model)." if callable(given) else ""
        raise UsageError(f"{self.name} takes a torch.fx.GraphModule or Graph, not {type(given).__name__}.", remedy)

    def _finished(self, result: GraphModule, module: GraphModule) -> GraphModule:
        """A GraphModule of what ``result`` uses: torch's own clean-up would take submodules from shared parents."""
        try:
            result.graph.lint()
            finished = GraphModule(result, result.graph, type(module).__name__)
        except (RuntimeError, AttributeError) as error:
            raise TransformError(
                f"{self.name} left a graph that cannot run: {error}",
                f"Look at what {self._function.__qualname__} does to the nodes that it names.",
            ) from error
        finished.meta = dict(module.meta)
        return remember(finished)


def transform(
    name: str,
) -> Callable[[Callable[Concatenate[GraphModule, Options], GraphModule | None]], Transform[Options]]:
    """Register a function as the transform ``name``; a second one of that name fails.

    The function gets a GraphModule of its own to edit (a copy of the graph, with the given one's parameters) and its
    options; it returns another one in its place, or nothing.
    """

    def register(function: Callable[Concatenate[GraphModule, Options], GraphModule | None]) -> Transform[Options]:
        known = TRANSFORMS.get(name)
        if known is not None and _home(known) != _home(function):
            raise ValueError(f"there are two transforms {name!r}: {_home(known)} and {_home(function)}")
        TRANSFORMS[name] = made = Transform(name, function)
        return made

    return register


def named(name: str) -> Transform[...]:
    """The transform of that name; ``UsageError`` with the nearest ones where there is none."""
    import pyharness.fx.transforms as _loads  # noqa: F401  (so that ours are there)

    if name not in TRANSFORMS:
        remedy = nearest(name, TRANSFORMS) or f"There are {', '.join(sorted(TRANSFORMS))}."
        raise UsageError(f"There is no transform {name!r}.", remedy)
    return TRANSFORMS[name]


def _home(function: Any) -> tuple[str, str]:
    """Where it was written: a module that is loaded again registers the same ones again."""
    return inspect.unwrap(function).__module__, function.__qualname__


def _copied(module: GraphModule) -> GraphModule:
    copied = GraphModule(module, copy.deepcopy(module.graph), type(module).__name__)
    copied.meta = dict(module.meta)
    return copied

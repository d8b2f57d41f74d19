"""What a compiled function is called, in the user's terms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyharness.model.results.compiled import Place
from pyharness.model.source_map import map_of

if TYPE_CHECKING:
    from types import CodeType

    from torch.fx import GraphModule

_RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)$")
_DYNAMO = "/torch/_dynamo/"
_LONGEST = 36
NOWHERE = Place("", 0)


@dataclass(frozen=True)
class Function:
    """A function of the user's, or the rest of one."""

    name: str
    """Qualified, without ``<locals>``."""
    resumed_at: int | None = None
    """The line that it goes on from after a graph break."""
    place: Place = NOWHERE

    @property
    def short(self) -> str:
        """At most a class and a method, so that what else a file is named after stays in its name."""
        name = ".".join(self.name.rsplit(".", 2)[-2:])[-_LONGEST:]
        return f"{name}:{self.resumed_at}" if self.resumed_at else name


def function_of(code: CodeType | None, module: GraphModule | None = None) -> Function:
    """The function that ``code`` is of, of which ``module`` was captured."""
    if code is None:
        return Function("")
    outermost = _outermost(module) if module is not None else None
    if outermost and _DYNAMO in code.co_filename:  # Dynamo puts a function of its own around modules of libraries
        return _forward_of(outermost, code)
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    match = _RESUMED.search(name)
    line = int(match["line"]) if match else None
    name = name[: match.start()] + match["name"] if match else name
    if generated := map_of(code.co_filename):
        name = f"{generated.graph}.{name}"
    return Function(name, line, Place(code.co_filename, code.co_firstlineno))


def _outermost(module: GraphModule) -> Any:
    """The class of the outermost module that Dynamo entered, ``None`` where it entered none."""
    stacks = (node.meta.get("nn_module_stack") for node in module.graph.nodes)
    entry = next((entry for stack in stacks if stack for entry in stack.values()), None)
    return entry[1] if entry and isinstance(entry[1], type) else None


def _forward_of(cls: Any, otherwise: CodeType) -> Function:
    code = getattr(getattr(cls, "forward", None), "__code__", otherwise)
    return Function(f"{cls.__name__}.{code.co_name}", None, Place(code.co_filename, code.co_firstlineno))

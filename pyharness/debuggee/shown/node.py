"""How an autograd node is shown at a Python stop: inputs, saved tensors, next functions, the line that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debuggee.shown.items import Child, Group, Line, line_of
from pyharness.debuggee.shown.tensor_reading import node_of, undisturbed
from pyharness.model.node_variables import created_variable, input_variable, origin_in, sequence_variable
from pyharness.model.tensors.text import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAVED = "_saved_"
_MAX = 1000


def is_node(kind: type) -> bool:
    """Whether objects of a type are autograd nodes, of torch, C++ or Python."""
    return hasattr(kind, "next_functions") and hasattr(kind, "_sequence_nr")


def text(node: Any) -> str:
    """The text of an autograd node, such as ``<MulBackward0>``."""
    found = node_of(node)
    return name_of(found) if found else "None"


def children(node: Any) -> Iterator[Child]:
    """In the order in which gdb's side lists them."""
    found = node_of(node)
    yield line_of(sequence_variable(found.sequence_number if found else None))
    yield line_of(created_variable(origin_in(node.metadata.get("traceback_", ()))))
    inputs = list(_inputs(node))
    yield Child("inputs", Group(str(len(inputs)), lambda: inputs))
    yield _saved_group(node)
    following = list(_next(node))
    yield Child("next_functions", Group(str(len(following)), lambda: following), ".next_functions")
    own = {name: value for name, value in getattr(node, "__dict__", {}).items() if not name.startswith("__")}
    if own:
        members = [Child(name, value, f".{name}") for name, value in own.items()]
        yield Child("members", Group("", lambda: members), "")


def _inputs(node: Any) -> Iterator[Child]:
    with undisturbed():
        for index, entry in enumerate((getattr(node, "_input_metadata", None) or ())[:_MAX]):
            yield line_of(input_variable(index, str(entry.dtype).removeprefix("torch."), list(entry.shape)))


def _saved_group(node: Any) -> Child:
    if type(node).__name__ == "CppFunction":  # torch has no accessor for what these save
        return Child("saved", Line("<not visible from Python> (stop in native code to see them)"))
    saved = list(_saved(node))
    return Child("saved", Group(str(len(saved)), lambda: saved), "")


def _saved(node: Any) -> Iterator[Child]:
    """Saved tensors, by torch's names, or by their number where a Function has saved them."""
    is_function = hasattr(type(node), "saved_tensors")
    raw = sorted(name for name in dir(type(node)) if name.startswith("_raw_saved_") and not is_function)
    for short in (name.removeprefix("_raw_saved_") for name in raw):
        yield Child(short, _read(node, f"{_SAVED}{short}"), f".{_SAVED}{short}")
    if is_function:
        tensors = _read(node, "saved_tensors")
        if not isinstance(tensors, tuple):
            yield Child("saved_tensors", tensors)
            return
        for index, tensor in enumerate(tensors[:_MAX]):
            yield Child(f"[{index}]", Line("None") if tensor is None else tensor, f".saved_tensors[{index}]")


def _read(node: Any, name: str) -> Any:
    """An attribute; what a backward has released says so."""
    try:
        value = getattr(node, name)
    except (RuntimeError, AttributeError) as error:
        return Line(f"<{str(error).partition('.')[0]}>")
    return Line("None") if value is None else value


def _next(node: Any) -> Iterator[Child]:
    for index, (following, number) in enumerate(node.next_functions[:_MAX]):
        suffix = f"[{index}][0]"
        if following is None:
            yield Child(f"[{index}]", Line("None"))
        elif number:
            yield Child(f"[{index}]", Group(f"{text(following)} input {number}", _children_of(following)), suffix)
        else:
            yield Child(f"[{index}]", following, suffix)


def _children_of(node: Any) -> Any:
    return lambda: children(node)

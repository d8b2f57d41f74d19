"""Which tensor of the program has a block of memory as its storage, and by what name its functions know it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.attributes import MAX_ATTRIBUTES, attributes, string_items
from pyharness.reading.tensors.storage import TENSOR_BASE, stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python
    from pyharness.reading.tensors.layout import TensorLayout
    from pyharness.reading.tensors.storage import Stored

    Variable = tuple[str, int]
    """A name and the address of an object."""

_HEAD = 16
"""Bytes before what a Python tensor adds to an object."""
_MOST_OBJECTS = 20_000
_MOST_ITEMS = 200
_DEEPEST = 12
"""Attributes and items from a variable on: a model has modules in modules."""
_OF_MODULES = frozenset({"_parameters", "_buffers", "_modules"})
_NO_PARTS = frozenset(
    {"str", "int", "float", "bool", "bytes", "NoneType", "module", "function", "type", "code", "cell"}
)


@frozen
class NamedTensor:
    """A tensor and the name of the variable, attribute or item that holds it."""

    name: str
    stored: Stored


def tensor_at(
    python: Python, frames: Iterable[PythonFrame], address: int, size: int, layout: TensorLayout
) -> NamedTensor | None:
    """The nearest tensor whose storage shares a byte with a block of memory, in what these functions can name."""
    return _Search(python, layout, address, address + max(size, 1)).first(frames)


class _Search:
    """Looks at what variables hold, what that holds, and so on."""

    def __init__(self, python: Python, layout: TensorLayout, start: int, end: int) -> None:
        self._python, self._values, self._layout = python, python.values, layout
        self._start, self._end = start, end
        self._seen: set[int] = set()

    def first(self, frames: Iterable[PythonFrame]) -> NamedTensor | None:
        waiting = deque((name, address, 0) for frame in frames for name, address in self._variables(frame))
        while waiting and len(self._seen) < _MOST_OBJECTS:
            name, address, depth = waiting.popleft()
            if not address or address in self._seen:
                continue
            self._seen.add(address)
            try:
                kinds = self._values.type_of(address)[1]
                if not kinds or kinds[0] in _NO_PARTS:
                    continue
                if not set(TENSOR_BASE).isdisjoint(kinds):
                    if found := self._tensor(name, self._impl(address)):
                        return found
                elif depth < _DEEPEST:
                    waiting.extend((*part, depth + 1) for part in self._parts(name, address, kinds))
            except UnreadableError:
                continue
        return None

    def _tensor(self, name: str, impl: int) -> NamedTensor | None:
        """The tensor, or its gradient."""
        found = stored(self._python.memory, impl, self._layout)
        if found.data < self._end and self._start < found.data + found.size:
            return NamedTensor(name, found)
        meta = self._python.memory.pointer(impl + self._layout.autograd_meta)
        gradient = self._python.memory.pointer(meta + self._layout.grad) if meta else 0
        return self._tensor(f"{name}.grad", gradient) if gradient else None

    def _impl(self, address: int) -> int:
        return self._python.memory.pointer(address + _HEAD + self._layout.python_tensor)

    def _variables(self, frame: PythonFrame) -> list[Variable]:
        try:
            if frame.function == "<module>" and frame.address:
                held = self._python.memory.pointer(frame.address + self._python.layout["frame.globals"])
                return string_items(self._values, held)
            return list(self._python.local_addresses(frame))
        except UnreadableError:
            return []

    def _parts(self, name: str, address: int, kinds: tuple[str, ...]) -> Iterator[Variable]:
        if {"list", "tuple"}.intersection(kinds):
            kind = "list" if "list" in kinds else "tuple"
            _, items = self._values.sequence(address, _MOST_ITEMS, kind=kind)
            yield from ((f"{name}[{index}]", item) for index, item in enumerate(items))
        elif "dict" in kinds:
            texts = {value: key for key, value in string_items(self._values, address)}
            for _key, value in self._values.dict_items(address, MAX_ATTRIBUTES)[1]:  # an optimizer's state is by tensor
                yield f"{name}[{texts[value]!r}]" if value in texts else f"{name}[...]", value
        else:
            for attribute, value in attributes(self._values, address):
                yield from self._attribute(name, attribute, value)

    def _attribute(self, name: str, attribute: str, value: int) -> Iterator[Variable]:
        """What a module keeps in dictionaries is an attribute of the module."""
        if attribute in _OF_MODULES and "dict" in self._values.type_of(value)[1]:
            yield from ((f"{name}.{key}", held) for key, held in string_items(self._values, value))
        else:
            yield f"{name}.{attribute}", value

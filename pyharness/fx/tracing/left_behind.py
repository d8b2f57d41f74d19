"""Symbolic values that a ``forward`` leaves in its modules while it is traced: nobody could compute with them later."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from torch.fx import Proxy

from pyharness.fx import provenance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn
    from torch.fx import Node

_DICTS = (dict, OrderedDict, defaultdict)
_LISTS = (list, deque, set)
_KINDS = frozenset((*_DICTS, *_LISTS))
"""Classes that are looked into, and none that is derived from one: it may run code of the user's."""
_DEPTH = 3
"""How deep containers in the attributes of a module are looked into."""


class Assigned(NamedTuple):
    """An assignment of a symbolic value that no node makes: a graph would compute without it, from old values."""

    module: str
    """Path of the module."""
    target: str
    """What is assigned, as its ``forward`` may write it: ``self.count``."""
    node: Node
    """What computes the value."""


class ModuleState:
    """The attributes of the modules below ``root`` as they are now, and the containers in these."""

    def __init__(self, root: nn.Module) -> None:
        self._modules = dict(root.named_modules())
        self._before: dict[int, tuple[Any, Any]] = {}
        for module in self._modules.values():
            self._note(vars(module), _DEPTH)

    def put_back(self) -> list[Assigned]:
        """Undo each assignment of a symbolic value; those to buffers are told."""
        told = list(self._assigned_buffers())
        for container, before in self._before.values():
            if isinstance(container, dict):
                _restore(container, before)
            elif any(map(_is_symbolic, container)):
                container.clear()
                (container.update if isinstance(container, set) else container.extend)(before)
        return told

    def _assigned_buffers(self) -> Iterator[Assigned]:
        for path, module in self._modules.items():
            buffers = vars(module).get("_buffers") or {}
            _, before = self._before.get(id(buffers), (None, {}))
            for name, value in buffers.items():
                if isinstance(value, Proxy) and value is not before.get(name):
                    yield Assigned(path, f"self.{name}", value.node)

    def _note(self, container: Any, depth: int) -> None:
        if id(container) in self._before:
            return
        self._before[id(container)] = (container, container.copy())
        for value in container.values() if isinstance(container, dict) else container:
            if depth and type(value) in _KINDS:
                self._note(value, depth - 1)


def assigned_data(proxies: list[Proxy]) -> Iterator[Assigned]:
    """Assignments to ``.data`` of symbolic values, for which these are plain objects with any attributes."""
    for proxy in proxies:
        value = vars(proxy).get("data")
        if value is not None:
            module, node = provenance.of(proxy.node).module or "", proxy.node
            own = str(node.target).removeprefix(f"{module}.")
            name = f"self.{own}" if node.op == "get_attr" else node.name
            yield Assigned(module, f"{name}.data", value.node if isinstance(value, Proxy) else node)


def _restore(now: dict[Any, Any], before: dict[Any, Any]) -> None:
    """Item by item: constants that tracing has found, and what a ``forward`` computes once, belong to the graph."""
    for key, value in list(now.items()):
        if not _is_symbolic(value) or value is before.get(key):  # the same container has been seen to by itself
            continue
        if key in before:
            now[key] = before[key]
        else:
            del now[key]


def _is_symbolic(value: Any, depth: int = _DEPTH) -> bool:
    if isinstance(value, Proxy) or not depth:
        return isinstance(value, Proxy)
    if type(value) in _DICTS:
        value = value.values()
    elif not isinstance(value, tuple) and type(value) not in _LISTS:
        return False
    return any(_is_symbolic(each, depth - 1) for each in list(value))

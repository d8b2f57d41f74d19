"""Nested values as their leaves, and copies of them that share memory where the originals do."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Leaf(NamedTuple):
    """One tensor, scalar or other object, and where it is in the value that holds it."""

    path: str
    value: Any


def leaves(value: Any, path: str = "") -> Iterator[Leaf]:
    """The leaves of tuples, lists, mappings and dataclasses in order; ``None`` is one too."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from leaves(each, f"{path}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for index, each in enumerate(value):
            yield from leaves(each, f"{path}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), f"{path}.{field.name}")
    else:
        yield Leaf(path, value)


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors among the leaves."""
    return [leaf.value for leaf in leaves(value) if isinstance(leaf.value, torch.Tensor)]


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A copy of the nesting with ``function`` of each leaf."""
    if isinstance(value, Mapping):
        return _like(value, {key: mapped(each, function) for key, each in value.items()})
    if isinstance(value, (tuple, list)):
        return _like(value, [mapped(each, function) for each in value])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field for field in dataclasses.fields(value) if field.init]
        return dataclasses.replace(value, **{each.name: mapped(getattr(value, each.name), function) for each in fields})
    return function(value)


def _like(value: Any, made: Any) -> Any:
    """``made`` in a container of the same type; a plain one where the type cannot be built from it."""
    if hasattr(value, "_fields"):
        return type(value)(*made)
    try:
        return type(value)(made)
    except TypeError:
        return made


def copied(value: Any) -> Any:
    """A copy of all tensors; those that share memory, or are one, do so in the copy."""
    return mapped(value, Copier())


class Copier:
    """Copies tensors one by one, and remembers which memory it copied to where."""

    def __init__(self) -> None:
        self._tensors: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._storages: dict[int, tuple[torch.Tensor, torch.UntypedStorage]] = {}

    def __call__(self, leaf: Any) -> Any:
        """The copy of ``leaf``, itself where it is no tensor."""
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) not in self._tensors:  # the original is held: its id must not be given to another
            self._tensors[id(leaf)] = (leaf, self._copy(leaf).requires_grad_(leaf.requires_grad))
        return self._tensors[id(leaf)][1]

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.detach()
        storage = storage_of(tensor)
        if storage is None or type(tensor) is not torch.Tensor or tensor.is_quantized:
            return tensor.clone()
        if storage not in self._storages:
            self._storages[storage] = (tensor, tensor.untyped_storage().clone())  # type: ignore[no-untyped-call]
        empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        made = empty.set_(self._storages[storage][1], tensor.storage_offset(), tensor.size(), tensor.stride())
        return torch._neg_view(made) if tensor.is_neg() else made.conj() if tensor.is_conj() else made  # noqa: SLF001


def storage_of(tensor: torch.Tensor) -> int | None:
    """The address of its memory, by which tensors that share it are known; ``None`` where it has none of its own."""
    if tensor.layout is not torch.strided or tensor.is_nested:
        return None
    try:
        storage = tensor.untyped_storage()
        return None if storage.device.type == "meta" else storage.data_ptr() or None  # a FakeTensor's is meta, too
    except (RuntimeError, NotImplementedError):  # a subclass that wraps others
        return None


def changes_of(tensor: torch.Tensor) -> int:
    """Torch's count of changes in place; always 0 for an inference tensor, of which it keeps none."""
    return 0 if tensor.is_inference() else tensor._version  # noqa: SLF001


def snapshot(value: Any) -> tuple[Leaf, ...]:
    """The leaves as they are now."""
    return tuple(
        Leaf(path, each.detach().clone() if isinstance(each, torch.Tensor) else each) for path, each in leaves(value)
    )

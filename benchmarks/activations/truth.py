"""What the modules of a model really return: seen from outside of every hook, and copied at once."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from pyharness.inspect.nesting import leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def returned(model: nn.Module, x: Tensor) -> list[tuple[str, Tensor]]:
    """Class of the module and value of each tensor of each call."""
    seen: list[tuple[str, Tensor]] = []
    with _watching(seen), suppress(RuntimeError):
        model(x)
    return seen


def found(truth: list[tuple[str, Tensor]], model: nn.Module, kept: Mapping[tuple[str, int, str], Tensor]) -> int:
    """How many of these values a library has, each of its tensors counting for one."""
    classes = {path: type(module).__name__ for path, module in model.named_modules(remove_duplicate=False)}
    left = set(range(len(truth)))
    count = 0
    for (path, _, _), tensor in kept.items():
        for number, (name, value) in enumerate(truth):
            if number in left and name == classes[path] and torch.equal(value, tensor.detach()):
                left.remove(number)
                count += 1
                break
    return count


@contextmanager
def _watching(seen: list[tuple[str, Tensor]]) -> Iterator[None]:
    original = nn.Module.__call__

    def call(self: nn.Module, *arguments: Any, **keywords: Any) -> Any:
        output = original(self, *arguments, **keywords)
        seen.extend((type(self).__name__, tensor.detach().clone()) for _, tensor in leaves(output))
        return output

    nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__call__ = original  # type: ignore[method-assign]

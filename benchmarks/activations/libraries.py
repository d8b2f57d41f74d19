"""Every way to the outputs of a model's modules: ours, hooks written by hand, and published libraries."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from pyharness.inspect import capture
from pyharness.inspect.nesting import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Outputs = Mapping[tuple[str, int], Any]
    """By path and number of the call."""
    Library = Callable[[nn.Module, Tensor], Outputs]

OURS = "pyharness.inspect.capture"
COPIES = f"{OURS}(copy=True)"
STATISTICS = f"{OURS}(statistics=True)"
BARE = "bare hooks"
EXTRACTOR = "torchextractor"
LENS = "torchlens"


def ours(model: nn.Module, x: Tensor, **options: Any) -> Outputs:
    """The outputs by ``capture``, as our documentation shows it."""
    captured = capture(model, **options)
    try:
        with captured:
            model(x)
    except RuntimeError:
        pass
    return {(record.path, record.call): record.output for record in captured.records if record.finished}


def ours_unread(model: nn.Module, x: Tensor, **options: Any) -> Outputs:
    """Captured only, as the others do in the same time."""
    with capture(model, **options):
        model(x)
    return {}


def bare(model: nn.Module, x: Tensor) -> Outputs:
    """The usual recipe: a hook for each module that keeps its detached output by name."""
    kept: dict[tuple[str, int], Any] = {}

    def hook_for(name: str) -> Callable[..., None]:
        def hook(_module: nn.Module, _inputs: Any, output: Any) -> None:
            kept[name, 0] = output.detach() if isinstance(output, Tensor) else output

        return hook

    handles = [module.register_forward_hook(hook_for(name)) for name, module in model.named_modules()]
    try:
        model(x)
    except RuntimeError:
        pass
    finally:
        for handle in handles:
            handle.remove()
    return kept


def extractor(model: nn.Module, x: Tensor) -> Outputs:
    """torchextractor with every module."""
    made: Any = importlib.import_module("torchextractor").Extractor(model, module_filter_fn=lambda _module, _name: True)
    try:
        made(x)
    except RuntimeError:
        pass
    finally:
        for handle in made.hook_handles:
            handle.remove()
    return {(name, 0): output for name, output in made.collect().items()}


def lens(model: nn.Module, x: Tensor) -> Outputs:
    """torchlens, which keeps every op."""
    importlib.import_module("torchlens").trace(model, x)
    return {}


def tensors(outputs: Outputs) -> Mapping[tuple[str, int, str], Tensor]:
    """Each tensor of each output."""
    return {(path, call, where): each for (path, call), output in outputs.items() for where, each in leaves(output)}

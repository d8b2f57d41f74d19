"""The programs that are watched: each a forward pass to a loss; the examples' own models, and one of tiny ops."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Forward = Callable[[], Tensor]

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
LAYERS, WIDTH, BATCH = 20, 32, 4


def small_ops() -> Forward:
    """Layers so small that a step is mostly the cost of calling ops: the worst that can be watched."""
    layers = [layer for _ in range(LAYERS) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    model, images = nn.Sequential(*layers), torch.randn(BATCH, WIDTH)

    def forward() -> Tensor:
        model.zero_grad()
        loss: Tensor = model(images).sum()
        return loss

    return forward


def resnet18() -> Forward:
    """``examples/resnet18.py``, as it is before tracing."""
    example = _example("resnet18")
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randn(example.CLASSES, 3, example.SIZE, example.SIZE, generator=generator)
    images, labels = example.batch(generator, patterns)
    model = example.ResNet18()

    def forward() -> Tensor:
        model.zero_grad()
        loss: Tensor = nn.functional.cross_entropy(model(images), labels)
        return loss

    return forward


def transformer() -> Forward:
    """``examples/transformer.py``, as it is before tracing."""
    example = _example("transformer")
    tokens, targets = example.batch(torch.Generator().manual_seed(0))
    model = example.Transformer()

    def forward() -> Tensor:
        model.zero_grad()
        loss: Tensor = model(tokens, targets)
        return loss

    return forward


MODELS: dict[str, Callable[[], Forward]] = {"small ops": small_ops, "ResNet-18": resnet18, "transformer": transformer}


def _example(name: str) -> Any:
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))
    return importlib.import_module(name)

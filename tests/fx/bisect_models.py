"""The examples' models, traced, with inputs; the convolutional one narrower, so that a search takes no time."""

import importlib.util
import sys
from pathlib import Path

import torch
from torch import fx, nn

# Not from the kit: the script that reproduces a fault imports this module in a process that knows nothing of tests.
ROOT = Path(__file__).parents[2]


def example(name):
    """The module of an example; ``bisect_example_NAME`` in ``sys.modules``."""
    full = f"bisect_example_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, ROOT / "examples" / f"{name}.py")
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


def resnet():
    resnet18 = example("resnet18")
    model = resnet18.ResNet18()
    widths = [8, 8, 12, 16, 20]
    model.stem[0] = nn.Conv2d(3, widths[0], 7, stride=2, padding=3, bias=False)
    model.stem[1] = nn.BatchNorm2d(widths[0])
    for layer in range(1, 5):
        narrow, wide = widths[layer - 1 : layer + 1]
        blocks = [resnet18.BasicBlock(narrow, wide, 1 + (layer > 1)), resnet18.BasicBlock(wide, wide, 1)]
        setattr(model, f"layer{layer}", nn.Sequential(*blocks))
    model.head = nn.Linear(widths[-1], 4)
    return fx.symbolic_trace(model.eval()), (torch.randn(2, 3, 32, 32),)


def transformer():
    source = example("transformer")
    return fx.symbolic_trace(source.Transformer().eval()), source.batch(torch.Generator().manual_seed(0))


MODELS = {"resnet": resnet, "transformer": transformer}

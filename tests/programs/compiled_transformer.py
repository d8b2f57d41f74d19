"""One step of training of the example's transformer, compiled as a whole with the backend ``pyharness``."""

import sys
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parents[2] / "examples"))

from transformer import Transformer, batch

torch.manual_seed(0)
model = torch.compile(Transformer(), backend="pyharness", fullgraph=True)
loss = model(*batch(torch.Generator().manual_seed(0)))
loss.backward()

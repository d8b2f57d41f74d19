"""A model on an extension that is not ours (its path is the first argument); a second argument looks for a NaN."""

import importlib.util
import sys

import torch
from torch import nn

spec = importlib.util.spec_from_file_location("survey", sys.argv[1])
survey = importlib.util.module_from_spec(spec)
spec.loader.exec_module(survey)
torch.set_num_threads(1)
torch.manual_seed(0)


class Anchor(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, points):
        return survey.distance(points, self.place)  # @direct


class Map(nn.Module):
    def __init__(self):
        super().__init__()
        self.anchor = Anchor()
        self.other = nn.Parameter(torch.tensor([7.0, 7.0]))
        self.scale = nn.Linear(4, 1)

    def forward(self, points):
        far = torch.ops.survey.distance(points, self.other)  # @op
        return self.scale(self.anchor(points) + far)


def step(model, points):
    loss = model(points).square().mean()
    loss.backward()  # @backward
    return loss  # @after


if len(sys.argv) > 2:
    import pyharness

    with pyharness.find_nan(action=sys.argv[2]):
        step(Map(), torch.tensor([[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
else:
    step(Map(), torch.tensor([[0.0, 1.0], [1.5, 2.5], [3.0, 4.0], [5.0, 6.0]]))
print("done", flush=True)

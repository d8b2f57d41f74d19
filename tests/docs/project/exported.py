"""An exported program with one of our ops in it: what docs/compile.md calls exported.py."""

import torch
from model import Model

program = torch.export.export(Model(), (torch.randn(4, 16),))
program.module()(torch.randn(4, 16)).sum().backward()

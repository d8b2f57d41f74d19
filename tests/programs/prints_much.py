"""Makes a graph, and prints more than an answer takes."""

import os
import sys

import torch

traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()))
traced(torch.ones(1, 4))
for step in range(400):
    print(f"step {step} loss 0.1234 lr 0.001 throughput 1234.5 samples/s")
print("the last line", "PYHARNESS_OUTPUT_APART" in os.environ)
sys.stderr.write("x" * 100_000 + "\n")

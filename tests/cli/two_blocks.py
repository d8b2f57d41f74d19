"""The text of a model that several programs compile: two blocks of linear, gelu and a residual."""

MODEL = """
import sys, torch

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        hidden = self.linear(x)
        return x + torch.nn.functional.gelu(hidden)  # @residual

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(20) for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""

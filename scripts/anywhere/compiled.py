"""Two blocks that torch.compile's default backend compiles, forward and backward."""

import torch


class Block(torch.nn.Module):
    """Linear, gelu, residual."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """``[rows, 16]``, the same size."""
        return values + torch.nn.functional.gelu(self.linear(values))


class Model(torch.nn.Module):
    """Both, one behind the other."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """``[rows, 16]``, the same size."""
        for block in self.blocks:
            values = block(values)
        return values


torch.compile(Model())(torch.ones(4, 16)).sum().backward()

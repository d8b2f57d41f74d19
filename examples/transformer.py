"""A small decoder-only transformer on our C++ ops, traced by torch.fx and trained a few steps on sequences it makes.

Run it: ``python examples/transformer.py``. In each block one normalization feeds the mixer over time and the MLP side
by side; the mixer of the last block is a gated linear scan instead of attention.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, fx, nn

from pyharness import ops

VOCABULARY = 32
LENGTH = 24
BATCH = 16
WIDTH = 64
HEADS = 4
BLOCKS = 3


class RMSNorm(nn.Module):
    """``ops.rms_norm`` with its weight: (..., WIDTH), the same shape out."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last dimension."""
        return ops.rms_norm(x, self.weight)


class SwiGLU(nn.Module):
    """Gated MLP: (..., WIDTH), the same shape out."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Widen, gate, narrow."""
        return self.down(ops.swiglu(self.gate(x), self.up(x)))


class Attention(nn.Module):
    """Causal attention: (B, T, WIDTH), the same shape out."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Each position looks at those before it."""
        query, key, value = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(seen.transpose(1, 2).flatten(2))


def heads(x: Tensor) -> Tensor:
    """(B, T, WIDTH) to (B, HEADS, T, WIDTH / HEADS)."""
    return x.unflatten(2, (HEADS, WIDTH // HEADS)).transpose(1, 2)


class Scan(nn.Module):
    """A recurrence with learned gates: (B, T, WIDTH), the same shape out."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, WIDTH)
        self.input = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Keep as much of the state as the gate says."""
        gate = torch.sigmoid(self.gate(x))
        return ops.gated_scan(gate, (1 - gate) * self.input(x), torch.zeros_like(x[:, 0]))


class Block(nn.Module):
    """Mixer and MLP on the same normalized input: (B, T, WIDTH), the same shape out."""

    def __init__(self, mixer: nn.Module) -> None:
        super().__init__()
        self.norm = RMSNorm()
        self.mixer = mixer
        self.mlp = SwiGLU()

    def forward(self, x: Tensor) -> Tensor:
        """Add what both found to what came in."""
        normal = self.norm(x)
        return x + self.mixer(normal) + self.mlp(normal)


class Loss(nn.Module):
    """Logits (B, T, VOCABULARY) and targets (B, T) to a scalar."""

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Smoothed cross entropy."""
        return ops.softmax_cross_entropy(logits, targets, label_smoothing=0.05)


class Transformer(nn.Module):
    """Tokens (B, LENGTH) and the tokens that follow them to the loss, a scalar."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block(Attention() if index < BLOCKS - 1 else Scan()) for index in range(BLOCKS))
        self.norm = RMSNorm()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.loss = Loss()

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """The loss of predicting ``targets``."""
        x = self.embedding(tokens) + self.position
        for block in self.blocks:
            x = block(x)
        return self.loss(self.head(self.norm(x)), targets)


def batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sequences that count up by a step of their own: tokens and the tokens that follow, both (BATCH, LENGTH)."""
    start = torch.randint(VOCABULARY, (BATCH, 1), generator=generator)
    step = torch.randint(1, 4, (BATCH, 1), generator=generator)
    sequence = (start + step * torch.arange(LENGTH + 1)) % VOCABULARY
    return sequence[:, :-1], sequence[:, 1:]


def train(steps: int) -> None:
    """Trace, then train."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = fx.symbolic_trace(Transformer())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(steps):
        tokens, targets = batch(generator)
        loss = model(tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    train(parser.parse_args().steps)

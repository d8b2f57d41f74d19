"""ResNet-18, traced by torch.fx and trained a few steps on images that it makes: ``python examples/resnet18.py``.

Architecture: He et al., "Deep Residual Learning for Image Recognition", 2016, table 1.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, fx, nn

CLASSES = 4
BATCH = 8
SIZE = 32


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and the way around them: (B, C, H, W) to (B, C', H / stride, W / stride)."""

    def __init__(self, channels: int, wider: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, wider, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(wider)
        self.conv2 = nn.Conv2d(wider, wider, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(wider)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != wider:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, wider, 1, stride, bias=False), nn.BatchNorm2d(wider))

    def forward(self, x: Tensor) -> Tensor:
        """Add what the convolutions found to what came in."""
        out = torch.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return torch.relu(out + self.shortcut(x))


class ResNet18(nn.Module):
    """Images (B, 3, H, W) to logits (B, CLASSES)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        self.layer1 = nn.Sequential(BasicBlock(64, 64, 1), BasicBlock(64, 64, 1))
        self.layer2 = nn.Sequential(BasicBlock(64, 128, 2), BasicBlock(128, 128, 1))
        self.layer3 = nn.Sequential(BasicBlock(128, 256, 2), BasicBlock(256, 256, 1))
        self.layer4 = nn.Sequential(BasicBlock(256, 512, 2), BasicBlock(512, 512, 1))
        self.head = nn.Linear(512, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        """Logits of ``images``."""
        x = self.stem(images)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.head(x.mean((2, 3)))


def batch(generator: torch.Generator, patterns: Tensor) -> tuple[Tensor, Tensor]:
    """Noisy copies of a pattern for each class: images (BATCH, 3, SIZE, SIZE) and labels (BATCH,)."""
    labels = torch.randint(CLASSES, (BATCH,), generator=generator)
    return patterns[labels] + 0.3 * torch.randn(BATCH, 3, SIZE, SIZE, generator=generator), labels


def train(steps: int) -> None:
    """Trace, then train."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = fx.symbolic_trace(ResNet18())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    patterns = torch.randn(CLASSES, 3, SIZE, SIZE, generator=generator)
    for step in range(steps):
        images, labels = batch(generator, patterns)
        logits = model(images)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    train(parser.parse_args().steps)

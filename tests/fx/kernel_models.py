"""Models of the usual kinds, small: what inductor's kernels of whole models are compared by."""

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Linear, gelu, residual."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        hidden = self.linear(self.norm(x))
        return x + functional.gelu(hidden)  # mark: residual


class Blocks(nn.Module):
    def __init__(self, width=20, count=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(count))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.softmax(-1)


class Residual(nn.Module):
    """The block of a ResNet-18."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        same = stride == 1 and before == after
        down = (nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
        self.downsample = nn.Identity() if same else nn.Sequential(*down)

    def forward(self, x):
        hidden = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(hidden + self.downsample(x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for after, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(before, after, stride), Residual(after, after, 1)]
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


class Attention(nn.Module):
    """GPT-2's block: causal attention in plain operations, and a perceptron with the gelu by tanh."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        split = (batch, length, self.heads, width // self.heads)
        query, key, value = (each.view(split).transpose(1, 2) for each in self.attn(self.ln_1(x)).chunk(3, -1))
        scores = query @ key.transpose(-1, -2) / split[-1] ** 0.5
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        weights = scores.masked_fill(~causal, torch.finfo(x.dtype).min).softmax(-1)
        x = x + self.proj((weights @ value).transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, words=101, width=36, heads=2, layers=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(64, width)
        self.h = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.t()


class UNetBlock(nn.Module):
    """A diffusion model's block: group norms, convolutions, the step in time, attention over the image, upsampling."""

    def __init__(self, width=32, time=16):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.GroupNorm(8, width) for _ in range(3))
        self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.time, self.qkv, self.out = nn.Linear(time, width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, time):
        hidden = self.conv1(functional.silu(self.norm1(x))) + self.time(functional.silu(time))[:, :, None, None]
        x = x + self.conv2(functional.silu(self.norm2(hidden)))
        batch, width, height, _ = x.shape
        query, key, value = self.qkv(self.norm3(x).flatten(2).transpose(1, 2)).chunk(3, -1)
        attended = (query @ key.transpose(1, 2) / width**0.5).softmax(-1) @ value
        x = x + self.out(attended).transpose(1, 2).reshape(batch, width, height, -1)
        return functional.interpolate(x, scale_factor=2)


MODELS = {
    "blocks": lambda: (Blocks(), torch.randn(5, 20)),
    "resnet18": lambda: (resnet18(), torch.randn(2, 3, 40, 40)),
    "gpt2": lambda: (Gpt2(), torch.randint(0, 101, (2, 19))),
    "unet": lambda: (UNetBlock(), torch.randn(2, 32, 9, 11), torch.randn(2, 16)),
}
"""Each with inputs that leave tails."""

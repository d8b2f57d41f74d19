"""What flows through a model, level by level: ``python examples/inspect/hierarchical_activations.py``.

The usual recipe registers a forward hook on each module, stores outputs in a dictionary by name and must not forget to
remove the hooks; here it is one ``with``. The encoder is torch's own, so what is shown is not made for the occasion.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pyharness.inspect import capture


class Classifier(nn.Module):
    """Points (B, 10, 16) to logits (B, 3); the same norm is used in two places."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Sequential(nn.Linear(16, 16), nn.ReLU(inplace=True), self.norm, nn.Linear(16, 3))

    def forward(self, points: Tensor) -> dict[str, Tensor]:
        """Logits, and what they are made of."""
        pooled = self.norm(self.encoder(points)).mean(1)
        return {"logits": self.head(pooled), "pooled": pooled}


def show(title: str, text: object) -> None:
    """A part of the output."""
    print(f"# {title}\n{text}\n")


def main() -> None:
    """Four ways to look."""
    torch.manual_seed(0)
    model, points = Classifier().eval(), torch.randn(4, 10, 16)

    with capture(model, depth=2) as captured:
        model(points)
    show("two levels down, as they are nested", captured)

    with capture(model, pattern="encoder.layers.*.linear2", statistics=True) as captured:
        model(points)
    for record in captured.values():
        show(f"statistics only: {record.name}", record.tensor)

    with capture(model, pattern=["head.*", "norm"], copy=True, gradients=True) as captured:
        model(points)["logits"].square().sum().backward()
    show(
        "a shared module, by the path of each call",
        [record.name for record in captured.values() if record.module == "LayerNorm"],
    )
    show("the gradient of a hidden layer", captured["head.0"].gradient.norm())

    try:
        with capture(model, depth=1) as captured:
            model(points[..., :15])
    except (RuntimeError, AssertionError):
        show("what was captured until it failed, and where it did", captured)


if __name__ == "__main__":
    main()

"""A model that torch.compile's default backend makes one kernel of."""

import torch


def model(x):
    """One loop over the elements."""
    return torch.nn.functional.gelu(x) + 1


def main():
    """Compile and run it."""
    compiled = torch.compile(model)
    with torch.no_grad():
        compiled(torch.arange(60.0).reshape(3, 20))


main()

"""Rules in terms of ordinary code, applied by running a graph on proxies: ``python examples/fx/proxy_retracing.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx

from pyharness.fx import trace, transform

if TYPE_CHECKING:
    from collections.abc import Callable


def relu(x: Any) -> Any:
    """What torch.relu computes, in simpler ops."""
    return (x > 0) * x


def silu(x: Any) -> Any:
    """What torch's silu computes."""
    return x / (1 + torch.exp(-x))


RULES: dict[Any, Callable[..., Any]] = {torch.relu: relu, torch.nn.functional.silu: silu}


class Decomposer(fx.Transformer):
    """Runs a rule on proxies where there is one: what the rule does becomes nodes."""

    def call_function(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The rule's result in place of the call's."""
        if target in RULES:
            return RULES[target](*args, **{name: value for name, value in kwargs.items() if name != "inplace"})
        return super().call_function(target, args, kwargs)


@transform("decompose")
def decompose(module: fx.GraphModule) -> fx.GraphModule:
    """Replace every call that has a rule."""
    return Decomposer(module).transform()


def model(x: Tensor) -> Tensor:
    """Two ops that have rules."""
    return torch.relu(x) + torch.nn.functional.silu(x)


def main() -> None:
    """Print the code before and after."""
    module = trace(model)
    simpler = decompose(module)
    print(module.code.strip(), simpler.code.strip(), sep="\n\n")
    x = torch.randn(5)
    print("\nequal:", torch.allclose(simpler(x), model(x)))


if __name__ == "__main__":
    main()

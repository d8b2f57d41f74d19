"""A batch norm's statistics go into the convolution before it: ``python examples/fx/conv_bn_fusion.py``.

In eval mode both are affine in the convolution's output, so one convolution with other weights computes both.
"""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pyharness.fx import trace, transform


@transform("fuse_conv_bn")
def fuse_conv_bn(module: fx.GraphModule) -> None:
    """Fuse each BatchNorm2d with the Conv2d whose output only it reads; for a module in eval mode."""
    for node in module.graph.find_nodes(op="call_module"):
        norm = module.get_submodule(node.target)
        before = node.args[0]
        if not isinstance(norm, nn.BatchNorm2d) or before.op != "call_module" or len(before.users) > 1:
            continue
        conv = module.get_submodule(before.target)
        if isinstance(conv, nn.Conv2d):
            fused = f"{before.name}_fused"  # the given module keeps its own convolution
            module.add_submodule(fused, fuse_conv_bn_eval(conv, norm))
            before.target = fused
            node.replace_all_uses_with(before)
            module.graph.erase_node(node)


def main() -> None:
    """Fuse two of three pairs: the output of the second convolution is used twice."""
    torch.manual_seed(0)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convs = nn.ModuleList([nn.Conv2d(3, 3, 3, padding=1) for _ in range(3)])
            self.norms = nn.ModuleList([nn.BatchNorm2d(3) for _ in range(3)])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = torch.relu(self.norms[0](self.convs[0](x)))
            y = self.convs[1](x)
            return self.norms[2](self.convs[2](self.norms[1](y) + y))

    net = Net()
    x = torch.randn(8, 3, 16, 16)
    net(x)  # statistics
    net.eval()
    module = trace(net)
    fused = fuse_conv_bn(module)
    print("before:", " ".join(node.name for node in module.graph.nodes))
    print("after: ", " ".join(node.name for node in fused.graph.nodes))
    print("equal: ", torch.allclose(fused(x), net(x), atol=1e-5))


if __name__ == "__main__":
    main()

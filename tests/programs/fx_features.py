"""What of torch.fx and torch.compile must work alike with and without the harness; a line for each that does."""

import copy
import operator
import pickle
import sys

import torch
from torch import fx, nn


@fx.wrap
def wrapped(x):
    return x if x.sum() > 0 else -x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2)))

    def forward(self, x):
        return wrapped(torch.sin(self.layers(x)))


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x):
        x = self.net(x)
        torch._dynamo.graph_break()
        return self.net(x) * 2


def same(name, got, expected):
    assert torch.equal(got, expected), name
    print(name, flush=True)


torch.manual_seed(0)
net, twice, x = Net(), Twice(), torch.randn(3, 4)
expected = net(x)
module = fx.symbolic_trace(net)
same("trace", module(x), expected)
print("file", type(module).forward.__code__.co_filename)

for backend in ("eager", "aot_eager"):
    torch._dynamo.reset()
    compiled = torch.compile(twice, backend=backend)(x)
    compiled.sum().backward()
    same(backend, compiled, twice(x))
torch._dynamo.reset()
same("compiled graph module", torch.compile(module, backend="eager")(x), expected)

same("deepcopy", copy.deepcopy(module)(x), expected)
same("copy", copy.copy(module)(x), expected)
same("pickle", pickle.loads(pickle.dumps(module))(x), expected)
same("interpreter", fx.Interpreter(module).run(x), expected)

transformed = fx.Transformer(module).transform()
same("transformer", transformed(x), expected)
print("transformed", type(transformed).forward.__code__.co_filename)

plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
same("export", torch.export.export(plain, (x,)).module()(x), plain(x))

from torch.fx.experimental.proxy_tensor import make_fx

same("make_fx", make_fx(lambda a: torch.cos(a) + 1)(x)(x), torch.cos(x) + 1)

pair = fx.symbolic_trace(lambda p: p[0] + p[1], concrete_args={"p": (fx.PH, fx.PH)})
same("pytree", pair((x, x)), x + x)

found = fx.replace_pattern(module, lambda a: torch.sin(a), lambda a: torch.cos(a))
same("replace_pattern", module(x), wrapped(torch.cos(net.layers(x))))

scripted = torch.jit.script(fx.symbolic_trace(plain))
same("torchscript", scripted(x), plain(x))

try:
    fx.symbolic_trace(plain)(torch.ones(2, 9))
except RuntimeError as error:
    names = [frame.f_code.co_filename for frame, _ in __import__("traceback").walk_tb(error.__traceback__)]
    print("traceback", names[-4:] != [], "mat1" in str(error))

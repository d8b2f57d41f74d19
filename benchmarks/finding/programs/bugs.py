"""``bugs.py NAME``: one bug of each name; ``$BUGS_LIBRARY`` is what bugs.c compiles to."""

import ctypes
import os
import sys
from typing import Any

import torch
from torch import Tensor, fx, nn

C = ctypes.PyDLL(os.environ["BUGS_LIBRARY"])
FREE = ctypes.CDLL(C._name)  # noqa: SLF001
C.keep.argtypes = [ctypes.py_object]
C.column_sum.restype = ctypes.c_float


def pointer(tensor: Tensor) -> ctypes.c_void_p:
    """The address of its first element."""
    return ctypes.c_void_p(tensor.data_ptr())


class Cube(torch.autograd.Function):
    """The third power, with a backward of C."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """(n) float64."""
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """The gradient of x."""
        (x,) = ctx.saved_tensors
        out = torch.empty_like(x)
        FREE.cubes_backward(pointer(gradient.contiguous()), pointer(x), pointer(out), ctypes.c_long(x.numel()))
        return out


@fx.wrap
def cube(x: Tensor) -> Tensor:
    """By ``Cube``."""
    found: Tensor = Cube.apply(x)  # type: ignore[no-untyped-call]
    return found


@fx.wrap
def doubled(x: Tensor) -> Tensor:
    """By a kernel of C."""
    out = torch.zeros_like(x)
    FREE.doubled(pointer(x.contiguous()), pointer(out), ctypes.c_long(x.numel()))
    return out


class Cubes(nn.Module):
    """A layer, and its cube."""

    def __init__(self) -> None:
        super().__init__()
        self.weigh = nn.Linear(3, 3).double()

    def forward(self, x: Tensor) -> Tensor:
        """(2, 3) float64."""
        return cube(torch.tanh(self.weigh(x)))


class Doubles(nn.Module):
    """A layer, twice."""

    def __init__(self) -> None:
        super().__init__()
        self.weigh = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        """(2, 3) float32."""
        return doubled(torch.tanh(self.weigh(x)))


def in_torch(graph: fx.Graph) -> None:
    """Replace what is in C by plain torch."""
    for node in graph.nodes:
        if node.op == "call_function" and node.target is cube:
            node.target, node.args = torch.pow, (node.args[0], 3)
        elif node.op == "call_function" and node.target is doubled:
            node.target, node.args = torch.mul, (node.args[0], 2)


def of_cubes() -> Tensor:
    """Two rows."""
    return torch.linspace(-1, 1, 6, dtype=torch.double).reshape(2, 3).requires_grad_()


def of_doubles() -> Tensor:
    """Two rows."""
    return torch.linspace(-1, 1, 6).reshape(2, 3)


def fold(graph: fx.Graph) -> None:
    """Nothing to fold."""


def swap(graph: fx.Graph) -> None:  # planted: pass
    """Put a constant first, also where the order matters."""
    for node in graph.find_nodes(op="call_function", target=torch.sub):
        node.args = node.args[::-1]


PASSES = [fold, swap, fold]


class Difference(nn.Module):
    """x less its mean."""

    def forward(self, x: Tensor) -> Tensor:
        """(2, 3)."""
        return torch.sub(x, x.mean())


class Items(torch.utils.data.Dataset[int]):
    """The third has no parts."""

    def __len__(self) -> int:
        """Six."""
        return 6

    def __getitem__(self, index: int) -> int:
        """A share."""
        return int(FREE.share(100, 2 - index))


def null() -> None:
    """No values."""
    FREE.first(None)


def stride() -> None:
    """A matrix of two rows and three columns."""
    values = torch.arange(6.0)
    print(C.column_sum(pointer(values), 2, 3, 1))


def race() -> None:
    """Both count."""
    print(FREE.count_in_two_threads(ctypes.c_long(50)))


def deadlock() -> None:
    """Two locks, in two orders."""
    print("now", flush=True)
    FREE.insert()


def nan() -> None:
    """A logarithm of what may be negative."""
    x = torch.linspace(-1, 1, 5)
    shifted = x + 0.5
    logs = torch.log(shifted)  # planted: nan
    print(logs.sum())


def gradient() -> None:
    """A step of backward."""
    torch.manual_seed(0)
    Cubes()(of_cubes()).sum().backward()


def kernel() -> None:
    """Six elements."""
    print(doubled(torch.ones(6)))


def recompilations() -> None:
    """A number that is another one in each step."""

    @torch.compile(backend="pyharness", dynamic=False)
    def scaled(x: Tensor, step: int) -> Tensor:
        return x * step  # planted: recompilations

    for step in range(5):
        scaled(torch.ones(3), step)


def worker() -> None:
    """A loader with a worker."""
    for batch in torch.utils.data.DataLoader(Items(), num_workers=1):
        print(batch)


def leak() -> None:
    """A tensor that nobody needs any more."""
    for _ in range(3):
        value = torch.ones(4)
        C.keep(value)


def rank() -> None:
    """The last rank never comes."""
    import torch.distributed as dist

    dist.init_process_group("gloo")
    print("now", flush=True)
    if dist.get_rank() == dist.get_world_size() - 1:
        FREE.wait_for_ever()
    dist.all_reduce(torch.ones(3))


if __name__ == "__main__":
    globals()[sys.argv[1]]()

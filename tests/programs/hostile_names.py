"""Everything that a program can name has escapes in its name; ``stop`` is called with all of it at hand."""

import sys
import threading

import torch
from torch import nn

EVIL = "\x1b]0;owned\x07\x9b31m\x7f\u202e\r\udcff"


class Value:
    def __repr__(self):
        return f"<{EVIL}>"


def renamed(function):
    function.__code__ = function.__code__.replace(co_name=f"f{EVIL[:-1]}", co_qualname=f"f{EVIL[:-1]}")
    return function


class Block(nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module(f"b{EVIL[:-1]}", Block())

    def forward(self, x):
        for block in self.children():
            x = block(x)
        return x * 2


Block.__name__ = Net.__name__ = f"N{EVIL[:-1]}"
Block.__qualname__ = Net.__qualname__ = Net.__name__


def fail():
    raise ValueError(EVIL)


@renamed
def stop(text, value, tensor, names):
    here = len(text)  # @RAW@ @stop
    return here


@renamed
def wait(text, value, tensor, names):
    print("waiting", flush=True)
    sys.stdin.read()


def main():
    threading.current_thread().name = EVIL[:-1]
    model = torch.fx.symbolic_trace(Net())
    model(torch.ones(2, requires_grad=True)).sum().backward()
    stop(EVIL, Value(), torch.ones(2), {EVIL: [EVIL]})
    if "wait" in sys.argv:
        wait(EVIL, Value(), torch.ones(2), {EVIL: [EVIL]})


if __name__ == "__main__":
    main()

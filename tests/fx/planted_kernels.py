"""Miscompilations for tests of ``verify_compiled``: torch's code generator, patched to generate wrong code.

None knows a program: each changes what the generator writes for one kind of thing, in graphs of one kind.
"""

import inspect

import torch
from torch._inductor.codegen import cpp
from torch._inductor.codegen.wrapper import PythonWrapperCodegen
from torch._inductor.virtualized import V

SCALAR, VECTOR = cpp.CppOverrides, cpp.CppVecOverrides


def patched(monkeypatch, owner, name, instead, kind):
    """Have ``instead(original, *args)`` in place of a function, in graphs that are ``kind``."""
    given = vars(owner)[name]
    original = given.__func__ if isinstance(given, staticmethod) else given

    def function(*args, **named):
        if (kind == "backward") != V.graph.is_backward:
            return original(*args, **named)
        return instead(original, *args, **named)

    monkeypatch.setattr(owner, name, staticmethod(function) if isinstance(given, staticmethod) else function)


def constant(monkeypatch, kind):
    def instead(original, value, dtype):
        return original(value * 1.25 if isinstance(value, float) else value, dtype)

    patched(monkeypatch, SCALAR, "constant", instead, kind)


def operands(monkeypatch, kind):
    for owner in (SCALAR, VECTOR):
        patched(monkeypatch, owner, "sub", lambda original, a, b: original(b, a), kind)


def mask(monkeypatch, kind):
    for owner in (SCALAR, VECTOR):
        patched(monkeypatch, owner, "where", lambda original, a, b, _: original(a, b, b), kind)


def tail(monkeypatch, kind):
    def instead(original, kernel, *args, **named):
        original(kernel, *args, **named)
        if kernel.tail_size:
            kernel.tail_size = kernel.num_elems = kernel.tail_size - 1

    patched(monkeypatch, cpp.CppVecKernel, "__init__", instead, kind)


def stale(monkeypatch, kind):
    """A buffer is put where another of its size still lives."""
    before = {}

    def instead(original, wrapper, buffer):
        line, name = original(wrapper, buffer), buffer.get_name()
        size = (tuple(map(str, buffer.get_size())), tuple(map(str, buffer.get_stride())))
        other, before[id(V.graph), size] = before.get((id(V.graph), size)), name
        return f"{line}; {name} = locals().get('{other}', {name})" if other else line

    patched(monkeypatch, PythonWrapperCodegen, "make_buffer_allocation", instead, kind)


def index(monkeypatch, kind):
    def instead(original, kernel, name, where):
        return original(kernel, name, where + 1 if where.free_symbols else where)

    for owner in (cpp.CppKernel, cpp.CppVecKernel):
        patched(monkeypatch, owner, "load", instead, kind)


def accumulation(monkeypatch, kind):
    def instead(original, *args, **named):
        given = inspect.signature(original).bind(*args, **named).arguments
        return f"{given['next_value']}" if given["reduction_type"] == "sum" else original(*args, **named)

    patched(monkeypatch, cpp, "reduction_combine", instead, kind)
    patched(monkeypatch, cpp.CppVecKernel, "reduction_combine_vec", instead, kind)


def init(monkeypatch, kind):
    def instead(original, reduction, dtype):
        return 1 if reduction == "sum" else original(reduction, dtype)

    patched(monkeypatch, cpp, "reduction_init", instead, kind)


def conversion(monkeypatch, kind):
    def scalar(original, x, dtype, *args, **named):
        return V.kernel.cse.generate(V.kernel.compute, f"std::trunc({original(x, dtype, *args, **named)})", dtype=dtype)

    def vector(original, x, dtype, *args, **named):
        made = original(x, dtype, *args, **named)
        found = V.kernel.cse.generate(V.kernel.compute, f"{made}.trunc()", dtype=dtype)
        found.update_on_args("to_dtype", (x, dtype), {"src_dtype": x.dtype})
        return found

    patched(monkeypatch, SCALAR, "to_dtype", scalar, kind)
    patched(monkeypatch, VECTOR, "to_dtype", vector, kind)


def dropped(monkeypatch, kind):
    for owner in (SCALAR, VECTOR):
        patched(monkeypatch, owner, "exp", lambda _, x: f"{x}", kind)


def minimum(monkeypatch, kind):
    for owner in (SCALAR, VECTOR):
        other = vars(owner)["minimum"].__func__
        patched(monkeypatch, owner, "maximum", lambda _, a, b, other=other: other(a, b), kind)


def arguments(monkeypatch, kind):
    """The wrapper gives a kernel two of its inputs the wrong way round."""

    def instead(original, wrapper, name, args):
        return original(wrapper, name, [args[1], args[0], *args[2:]] if len(args) > 2 else args)

    patched(monkeypatch, PythonWrapperCodegen, "wrap_kernel_call", instead, kind)


class Backward(torch.autograd.Function):
    """Has ``function`` computed in backward."""

    @staticmethod
    def forward(ctx, x, y, function):
        ctx.save_for_backward(y)
        ctx.function = function
        return x + y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return ctx.function(gradient, y), gradient, None  # of the gradient: torch computes all else in forward


def _stale(x, y):
    first = (x + y).cos()
    second = (x @ y.t()) @ y
    third = (second * 3) @ (y.t() @ x)
    return first @ third.t() @ first


SIZE = 21
"""No multiple of a vector's length, so that there are tails."""
PLANTS = {
    "constant": (constant, lambda x, y: (x * 0.3).cos() + y, "mul"),
    "operands": (operands, lambda x, y: (x.sin() - y) * y, "sub"),
    "mask": (mask, lambda x, y: (x.sin() + torch.where(x > y, x, y * 2)).cos(), "where"),
    "tail": (tail, lambda x, y: (x.sin() * y).cos(), "cos"),
    "stale": (stale, _stale, "mm|mul"),  # the first mm is right where the library reads all before it writes
    "index": (index, lambda x, y: (x[:1] + 1).cos() + y, "add"),
    "accumulation": (accumulation, lambda x, y: (x * y).sum(-1, keepdim=True) + y.sin(), "sum"),
    "init": (init, lambda x, y: (x * y).sum(-1, keepdim=True) + y.sin(), "sum"),
    "conversion": (conversion, lambda x, y: (x.double() * 2).float() + y, "convert_element_type"),
    "dropped": (dropped, lambda x, y: (x.sin().exp() + y).cos(), "exp"),
    "minimum": (minimum, lambda x, y: torch.maximum(x.sin(), y).cos(), "maximum"),
    "arguments": (arguments, lambda x, y: (x.sin() - y) * 2, "sin"),
}
"""How it is planted, a function that meets it, and the aten op of the first node that is wrong."""

"""Ops that fail on purpose, for teaching and for tests: each says what goes wrong and what is to be seen of it.

All but ``nan_backward``, ``wrong_gradient`` and ``deadlock`` take float32 CPU tensors, contiguous and not empty.
Run those that end or hang the process in a process of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch

import pyharness.ops as _loaded  # noqa: F401  (registers the ops)

if TYPE_CHECKING:
    from torch import Tensor

_ops = torch.ops.pyharness


def null_dereference(input: Tensor) -> Tensor:  # noqa: A002  (torch's own name for it)
    """Read through a null pointer in the kernel's loop.

    Expect SIGSEGV in ``faulty_null_dereference_cpu``, at the line that reads ``table->scale``, with ``table`` and ``i``
    both 0. No Python exception: the process ends.
    """
    return cast("Tensor", _ops.faulty_null_dereference.default(input))


def out_of_bounds_write(input: Tensor, past: int = 1) -> None:  # noqa: A002
    """Zero ``input`` in place, and write -1 ``past`` elements behind its last one.

    Expect nothing at the line itself. In a view, the neighbour in the base tensor changes; behind an allocation's end
    the heap may break, and glibc aborts much later, in an innocent ``free``. An asan build reports
    heap-buffer-overflow at the line; a watchpoint on the neighbour stops there too. A very large ``past`` (2**40) is
    SIGSEGV at once.
    """
    _ops.faulty_out_of_bounds_write.default(input, past)


def exception(input: Tensor) -> Tensor:  # noqa: A002
    """Throw ``std::runtime_error`` in a function below the kernel.

    Expect a Python ``RuntimeError`` with the C++ message, whose traceback ends at the Python line; ``catch throw`` in
    gdb stops where it is thrown, in ``validate``.
    """
    return cast("Tensor", _ops.faulty_exception.default(input))


def abort(input: Tensor) -> Tensor:  # noqa: A002
    """Call ``std::abort`` in the kernel.

    Expect SIGABRT: the process ends, and the frame above libc's is ``faulty_abort_cpu``.
    """
    return cast("Tensor", _ops.faulty_abort.default(input))


def nan_backward(input: Tensor) -> Tensor:  # noqa: A002
    """``|input|`` computed as ``sqrt(input²)``, float32 or float64, any shape.

    Expect a right forward; the backward is ``grad * input / sqrt(input²)``, hence NaN at every element that is 0.
    Anomaly mode names the class ``FaultyNanBackward``.
    """
    return cast("Tensor", _ops.faulty_nan_backward.default(input))


def wrong_gradient(input: Tensor) -> Tensor:  # noqa: A002
    """``input³``, float32 or float64, any shape, whose backward says ``2 input²`` in place of ``3 input²``.

    Expect no error and no NaN: training is slow or goes astray. ``gradcheck`` finds it.
    """
    return cast("Tensor", _ops.faulty_wrong_gradient.default(input))


def deadlock(input: Tensor) -> Tensor:  # noqa: A002
    """Take a lock and then want the GIL, while a second thread has the GIL and wants the lock.

    Expect the program to hang at this call for ever. Ctrl-C does nothing, since no thread can take the GIL, and debugpy
    does not answer; the merged stack shows this thread in ``PyGILState_Ensure``, called by ``faulty_deadlock_cpu``, and
    its other one in ``pthread_mutex_lock``. A signal without a Python handler ends it: SIGTERM or SIGKILL.
    """
    return cast("Tensor", _ops.faulty_deadlock.default(input))


def overwritten_input(input: Tensor) -> Tensor:  # noqa: A002
    """The largest magnitude, a number; the magnitudes are written over ``input``, through its data pointer.

    Expect nothing at the call, and wrong gradients of what had saved ``input`` for backward.
    ``pyharness run --overwritten`` names the line in ``faulty_overwritten_input_cpu``.
    """
    return cast("Tensor", _ops.faulty_overwritten_input.default(input))

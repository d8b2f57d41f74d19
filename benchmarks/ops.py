"""Are the ops no slower than the best eager composition of stock ops? Release build; forward, and forward and backward.

Every case runs our op and every composition in turns; the check is against the fastest composition of that case.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812  (its name everywhere)

from benchmarks.table import Check, Row, Table, interleave, ratio, rows_of
from pyharness.native import build_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

ROOT = Path(__file__).resolve().parent.parent
OURS = "pyharness"
TOLERANCE = 0.05
"""Two runs of one and the same function differ by that much here."""
SMALLEST_SAMPLE = 2e-3
"""Seconds: a shorter call is repeated within one sample."""
DTYPES = (torch.float32, torch.float64, torch.bfloat16)
SHAPES = ((8, 64), (256, 512), (2048, 1024))


@dataclass(frozen=True)
class Case:
    """One op on one set of arguments; ``forward_only`` compositions write in place, which autograd forbids."""

    name: str
    ours: Callable[..., Tensor]
    peers: dict[str, Callable[..., Tensor]]
    arguments: tuple[Tensor, ...]
    forward_only: dict[str, Callable[..., Tensor]] = field(default_factory=dict)


def load_release() -> None:
    """Build the release module and load it in this process; the tree's active build stays as it is."""
    command = [sys.executable, "cmake/build.py", "release", "--inactive"]
    subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)
    os.environ["PYHARNESS_BUILD"] = "release"
    assert build_info().build_type == "release"


def composed_rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """The formula as it is mostly written."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def scan_by_loop(gate: Tensor, values: Tensor, state: Tensor) -> Tensor:
    """One fused multiply-add a time step."""
    steps = []
    for a, b in zip(gate.unbind(1), values.unbind(1), strict=True):
        state = torch.addcmul(b, a, state)
        steps.append(state)
    return torch.stack(steps, 1)


def scan_in_place(gate: Tensor, values: Tensor, state: Tensor) -> Tensor:
    """The loop, writing every step straight to its place."""
    output = torch.empty_like(gate)
    for a, b, out in zip(gate.unbind(1), values.unbind(1), output.unbind(1), strict=True):
        state = torch.addcmul(b, a, state, out=out)
    return output


def scan_by_doubling(gate: Tensor, values: Tensor, state: Tensor) -> Tensor:
    """The associative scan of Hillis and Steele: log2(T) steps over the whole sequence."""
    values = torch.cat([torch.addcmul(values[:, :1], gate[:, :1], state[:, None]), values[:, 1:]], 1)
    step = 1
    while step < gate.shape[1]:
        values = torch.cat([values[:, :step], torch.addcmul(values[:, step:], gate[:, step:], values[:, :-step])], 1)
        gate = torch.cat([gate[:, :step], gate[:, step:] * gate[:, :-step]], 1)
        step *= 2
    return values


def cases(dtype: torch.dtype, rows: int, width: int) -> Iterator[Case]:
    """Every op on about ``rows * width`` elements; cross entropy on eight times as many."""
    ops = torch.ops.pyharness

    def leaf(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=dtype).requires_grad_()

    label = f"{rows}x{width} {str(dtype).removeprefix('torch.')}"
    yield Case(
        f"rms_norm {label}",
        ops.rms_norm.default,
        {"F.rms_norm": lambda x, w: F.rms_norm(x, w.shape, w, 1e-6), "pow, mean, rsqrt, mul": composed_rms_norm},
        (leaf(rows, width), leaf(width)),
    )
    yield Case(
        f"swiglu {label}",
        ops.swiglu.default,
        {"F.silu, mul": lambda gate, up: F.silu(gate) * up},
        (leaf(rows, width), leaf(rows, width)),
        {"F.silu, mul_": lambda gate, up: F.silu(gate).mul_(up)},
    )
    classes = 8 * width
    target = torch.randint(0, classes, (rows,))
    for smoothing in (0.0, 0.1):
        yield Case(
            f"softmax_cross_entropy smoothing {smoothing} {rows}x{classes} {label.split()[1]}",
            lambda x, s=smoothing: ops.softmax_cross_entropy.default(x, target, -100, s),
            {"F.cross_entropy": lambda x, s=smoothing: F.cross_entropy(x, target, label_smoothing=s)},
            (leaf(rows, classes),),
        )
    time = max(rows // 8, 8)
    gate = torch.rand(rows // 8 or 1, time, width).clamp(0.1).to(dtype)[:8].contiguous().requires_grad_()
    yield Case(
        f"gated_scan {'x'.join(map(str, gate.shape))} {label.split()[1]}",
        ops.gated_scan.default,
        {"loop of addcmul": scan_by_loop, "doubling": scan_by_doubling},
        (gate, leaf(*gate.shape), leaf(gate.shape[0], width)),
        {"loop of addcmul, out=": scan_in_place},
    )


def forward(call: Callable[..., Tensor], arguments: tuple[Tensor, ...]) -> Callable[[], None]:
    """The call without autograd."""

    def run() -> None:
        with torch.no_grad():
            call(*arguments)

    return run


def both(call: Callable[..., Tensor], arguments: tuple[Tensor, ...]) -> Callable[[], None]:
    """The call and its gradients."""
    with torch.no_grad():
        seed = torch.ones_like(call(*arguments))

    def run() -> None:
        torch.autograd.grad(call(*arguments), arguments, seed)

    return run


def repeated(call: Callable[[], None], times: int) -> Callable[[], None]:
    """One sample of ``times`` calls."""

    def run() -> None:
        for _ in range(times):
            call()

    return run


def measure(case: str, subjects: dict[str, Callable[[], None]], runs: int) -> tuple[tuple[Row, ...], Check]:
    """Rows of one case, and the check of our op against the fastest of the others."""
    once = min(statistics.median(times) for times in interleave(subjects, 3).values())
    times = max(1, int(SMALLEST_SAMPLE / once))
    samples = interleave({name: repeated(call, times) for name, call in subjects.items()}, runs)
    seconds = {name: [value / times for value in values] for name, values in samples.items()}
    rows = rows_of(case, seconds, "us")
    best = min(rows[1:], key=lambda row: row.median).subject
    return rows, Check(f"{case}: against {best}", ratio(seconds, OURS, best), 1 + TOLERANCE)


def measured(case: Case, runs: int) -> Iterator[tuple[tuple[Row, ...], Check]]:
    """Forward, then forward and backward."""
    ours: dict[str, Any] = {OURS: case.ours}
    for kind, make, peers in (
        ("forward", forward, case.peers | case.forward_only),
        ("forward+backward", both, case.peers),
    ):
        subjects = {name: make(call, case.arguments) for name, call in (ours | peers).items()}
        yield measure(f"{case.name} {kind}", subjects, runs)


def run(runs: int = 15) -> Table:
    """Time every op, dtype and shape."""
    load_release()
    torch.manual_seed(0)
    rows: list[Row] = []
    checks: list[Check] = []
    for shape in SHAPES:
        for dtype in DTYPES:
            for case in cases(dtype, *shape):
                for part, check in measured(case, runs):
                    rows.extend(part)
                    checks.append(check)
    return Table("ops", tuple(rows), tuple(checks))

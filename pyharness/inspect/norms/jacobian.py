"""``jacobian_norm``: ‖J‖²_F, exact by one vector-Jacobian product a row, or estimated by random ones.

A single backward pass gives vᵀJ for one v, a sum over the rows of J: its square is not the sum of their squares,
because rows cancel and add up (for v of ones, ‖vᵀJ‖² = Σᵢⱼ⟨Jᵢ, Jⱼ⟩, not Σᵢ⟨Jᵢ, Jᵢ⟩). So each row needs a product of
its own. For random v with E[vvᵀ] = 1, E‖vᵀJ‖² = E[tr(JᵀvvᵀJ)] = ‖J‖²_F: Hutchinson, "A stochastic estimator of the
trace of the influence matrix for Laplacian smoothing splines", 1990 (Rademacher vectors have the least variance of all
with independent elements); for Jacobians of networks, Hoffman, Roberts and Yaida, "Robust Learning with Jacobian
Regularization", 2019, arXiv:1908.02729.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pyharness.inspect.norms import exact_rows, random_rows
from pyharness.inspect.norms.batched_products import Products
from pyharness.inspect.norms.differentiated import Differentiated, differentiated
from pyharness.inspect.norms.norm import JacobianNorm
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Distribution = Literal["rademacher", "gaussian"]
_DISTRIBUTIONS = ("rademacher", "gaussian")
RTOL = 0.05
"""Where an estimate stops, if neither a number of probes nor an error was asked for."""
MOST_PROBES = 10_000


def jacobian_norm(  # noqa: PLR0913  (each is an option of its own)
    f: Any,
    x: Any,
    *,
    estimate: bool = False,
    probes: int | None = None,
    rtol: float | None = None,
    distribution: Distribution = "rademacher",
    per_sample: bool = False,
    create_graph: bool = False,
    memory: int | None = None,
    generator: torch.Generator | None = None,
) -> JacobianNorm:
    """‖J‖²_F of ``f`` at ``x``: over all floating point outputs and inputs, in whatever structure they come.

    ``f`` is a function or a module, which is called once, as it stands (``eval()`` or not): with ``x``, or with its
    parts where ``x`` is a tuple. Or ``f`` and ``x`` are tensors that are already computed, or two records of
    ``capture(model, detach=False)``: then J is of the first by the second.

    It is exact, unless ``estimate``, ``probes`` or ``rtol`` ask for random ``distribution`` probes: ``probes`` of
    them, or until the standard error is at most ``rtol`` of the value (0.05, and at most 10,000 probes, or ``probes``
    where both are given). With a fixed number the estimate is unbiased; stopping at an error shifts it, by 0.13
    of that error at most where it was measured.

    ``per_sample`` says that the first dimension of every output and input counts samples that do not influence one
    another: then a product serves all samples at once, and the result has each sample's own norm as well. It is
    checked, and refused where they do (batch norm in training). ``create_graph`` makes ``squared`` differentiable, to
    train with. ``memory`` bounds the bytes of gradients at a time (256 MiB if ``None``); the graph's own saved tensors
    come on top.

    Raises ``UsageError`` for what cannot be differentiated or does not fit.
    """
    estimated = estimate or probes is not None or rtol is not None
    _check(probes, rtol, distribution, memory)
    with differentiated(f, x, create_graph=create_graph) as what:
        batch = _batch_of(what) if per_sample else None
        products = Products(what.outputs, what.inputs, memory, create_graph=create_graph)
        notes = list(what.notes)
        if estimated:
            stop = random_rows.Stop(probes or MOST_PROBES, rtol if rtol or probes else RTOL)
            draw = random_rows.Draw(distribution, generator)
            found = random_rows.estimate(products, what.outputs, draw, stop, batch)
            rows = sum(each.numbers for each in what.outputs) // (batch or 1)
            if found.probes > rows:
                notes.append(f"Exact takes {rows:,} VJPs only.")
            return _result(what, products, found.squared, found.per_sample, notes, found.probes, found.standard_error)
        squared, samples = exact_rows.norm(products, what.outputs, batch)
        return _result(what, products, squared, samples, notes)


def _result(
    what: Differentiated,
    products: Products,
    squared: Tensor,
    per_sample: Tensor | None,
    notes: list[str],
    probes: int = 0,
    standard_error: float | None = None,
) -> JacobianNorm:
    return JacobianNorm(
        squared=squared,
        outputs=sum(each.numbers for each in what.outputs),
        inputs=sum(each.numbers for each in what.inputs),
        vjps=products.done,
        chunk=products.at_once,
        per_sample=per_sample,
        probes=probes,
        standard_error=standard_error,
        notes=(*notes, *products.notes),
    )


def _batch_of(what: Differentiated) -> int:
    sizes = {each.name: tuple(each.tensor.shape[:1]) for each in (*what.outputs, *what.inputs)}
    first = next(iter(sizes.values()))
    for name, size in sizes.items():
        if not size or size != first:
            raise UsageError(
                f"per_sample needs the samples in the first dimension of all; {name} has {list(size) or 'none'}, "
                f"{next(iter(sizes))} {list(first) or 'none'}.",
                "Without per_sample, J is of all outputs by all inputs.",
            )
    return int(first[0])


def _check(probes: int | None, rtol: float | None, distribution: str, memory: int | None) -> None:
    if distribution not in _DISTRIBUTIONS:
        raise UsageError(
            f"There is no distribution {distribution!r}.",
            nearest(str(distribution), _DISTRIBUTIONS) or f"One of {', '.join(_DISTRIBUTIONS)}.",
        )
    for name, value in (("probes", probes), ("rtol", rtol), ("memory", memory)):
        if value is not None and not value > 0:
            raise UsageError(f"{name} must be positive, not {value!r}.")

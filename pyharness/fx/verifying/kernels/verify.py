"""``verify_compiled``: whether torch.compile's code for a model does what the model does, and what is first wrong."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.inductor import LackingError
from pyharness.fx.inductor.compiling import anew, backend, failure
from pyharness.fx.inductor.watching import Lowered, watching
from pyharness.fx.verifying.calls import described
from pyharness.fx.verifying.differences import Tolerance
from pyharness.fx.verifying.keeping import kept
from pyharness.fx.verifying.kernels.graphs import Findings, GraphRun
from pyharness.fx.verifying.kernels.wholes import Whole, beyond_rounding, ran
from pyharness.model import given_numbers
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.results.compiled_verdict import CompiledVerdict

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping


def verify_compiled(  # noqa: PLR0913  (one for each thing that can be chosen)
    model: Callable[..., Any],
    inputs: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    training: bool | None = None,
    seed: int = 0,
    gradients: bool = False,
    folder: str | os.PathLike[str] | None = None,
    script: bool = True,
) -> CompiledVerdict:
    """Call ``model`` with copies of ``inputs`` eagerly and as inductor compiles it, and compare both.

    Each call in each graph's code is compared with the nodes that it computes, given what the code itself computed
    before; so what differs is wrong by itself. Where a kernel is, a copy of it that writes its variables down says at
    which node and line. ``gradients`` has a random mixture of the results go backward, too.

    Two numbers are equal within ``rtol`` and ``atol`` (by dtype as in ``torch.testing`` unless given), or where
    rounding alone can make the difference: sums in another order, and numbers that a loop rounds later than eager mode.

    ``folder`` gets a script that runs the wrong graph by itself, a private folder if not given; ``script=False`` writes
    none. Code is generated anew whatever torch's caches hold. The model and random numbers are as before afterwards.

    Raises ``UsageError`` where the model cannot be called so, ``HarnessError`` where torch.compile compiles nothing.
    """
    tolerance = Tolerance(rtol, atol)
    given_numbers.seed(seed)
    model = getattr(model, "_orig_mod", model)
    args = inputs if isinstance(inputs, tuple) else tuple(inputs) if isinstance(inputs, list) else (inputs,)
    whole = Whole(model, args, dict(kwargs or {}), gradients=gradients, seed=seed)
    findings, lost = Findings(), list[str]()
    modules = [model] if isinstance(model, torch.nn.Module) else []
    with kept(modules, training, seed) as state:
        eager = ran(whole, state)
        if eager.error is not None:
            name = getattr(model, "__name__", type(model).__name__)
            message = f"The model, {name}, cannot be called with these inputs: {described(eager.error)}"
            raise UsageError(message, "Give inputs=(...) and kwargs={...} as in a call of it.")
        with _following(tolerance, findings, lost):
            compiled = ran(whole, state, torch.compile(model, backend=backend()))
        if isinstance(compiled.error, HarnessError):
            raise compiled.error
        if compiled.error is not None and (failed := failure(compiled.error)) is not None:
            raise failed
        if not findings.graphs:
            raise _nothing(model)
        outputs, given = beyond_rounding(whole, state, eager, compiled, tolerance)
    return _verdict(findings, lost, outputs, given, folder, write=script)


@contextmanager
def _following(tolerance: Tolerance, findings: Findings, lost: list[str]) -> Iterator[None]:
    def run(lowered: Lowered, call: Callable[[Any], Any], args: Any) -> Any:
        return GraphRun(lowered, args, tolerance, findings).run(call, args)

    try:
        with watching(run, lost), anew():
            yield
    except LackingError as error:
        raise HarnessError(
            f"This torch ({torch.__version__}) lacks {error}, by which kernels are followed.",
            "docs/inductor.md says which torch has it.",
        ) from None


def _nothing(model: object) -> HarnessError:
    from torch._dynamo import config

    name = getattr(model, "__name__", type(model).__name__)
    modules = model.named_modules() if isinstance(model, torch.nn.Module) else ()
    recurrent = [path or name for path, module in modules if isinstance(module, torch.nn.RNNBase)]
    if recurrent and not getattr(config, "allow_rnn", True):
        return HarnessError(
            f"torch.compile compiled nothing of {name}: it leaves out recurrent layers, and what calls them "
            f"({', '.join(recurrent)}).",
            "Set torch._dynamo.config.allow_rnn = True, or verify the other modules by themselves.",
        )
    return HarnessError(
        f"torch.compile compiled nothing of {name}.",
        "Is it switched off (TORCHDYNAMO_DISABLE, TORCH_COMPILE_DISABLE)? Has it tensors' operations? "
        "`pyharness fx compiled` says why a graph broke.",
    )


def _verdict(
    findings: Findings, lost: list[str], outputs: Any, gradients: Any, folder: Any, *, write: bool
) -> CompiledVerdict:
    from pyharness.fx.verifying.kernels.reproduction import reproduction

    first = findings.faults[0] if findings.faults else None
    if first is None and (outputs or gradients):
        first = findings.turned
    notes = [*findings.notes, *dict.fromkeys(lost)]
    made = None
    if first is not None and not outputs and not gradients:
        notes.append("the model's results agree nevertheless")
    if first is not None and write and findings.failing is not None:
        made = reproduction(*findings.failing, first, folder)
    return CompiledVerdict(
        ok=first is None and not outputs and not gradients,
        graphs=findings.graphs,
        kernels=findings.kernels,
        nodes=findings.nodes,
        first=first,
        others=tuple(findings.faults[1:]),
        outputs=outputs,
        gradients=gradients,
        notes=tuple(notes),
        script=made,
    )

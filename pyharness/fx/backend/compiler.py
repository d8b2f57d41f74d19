"""Runs what torch.compile captured eagerly, from files: Dynamo's graph, or AOT autograd's forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch._dynamo.backends.common import aot_autograd

from pyharness.fx.backend import captures, inputs
from pyharness.fx.backend.options import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.fx import GraphModule

    from pyharness.fx.backend.captures import Capture
    from pyharness.fx.backend.options import Options
    from pyharness.model.results.compiled import Kind


def compile_captured(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """What Dynamo calls for each graph that it captures: the callable that runs in its place.

    ``options`` are those of ``Options``. ``mode`` chooses among inductor's settings and changes nothing here.
    """
    del mode
    chosen = read(options)
    inputs.name_captured(module)
    capture = captures.begin(module)
    capture.materialize(module, "captured", chosen.folder)
    if not chosen.aot:
        return _runner(module, capture)
    return _lowered(module, example_inputs, capture, chosen)


def _lowered(
    module: GraphModule, example_inputs: Sequence[Any], capture: Capture, chosen: Options
) -> Callable[..., Any]:
    def compiler_of(kind: Kind) -> Callable[..., Any]:
        def compiler(lowered: GraphModule, _example_inputs: Sequence[Any]) -> Callable[..., Any]:
            inputs.name_lowered(lowered, module, kind)
            capture.materialize(lowered, kind, chosen.folder)
            return _boxed_runner(lowered, capture)

        return compiler

    lower = aot_autograd(
        fw_compiler=compiler_of("forward"),
        bw_compiler=compiler_of("backward"),
        inference_compiler=compiler_of("inference"),
        decompositions=chosen.table(),
        partition_fn=chosen.partitioner(),
    )
    return lower(module, example_inputs)


def _runner(module: GraphModule, capture: Capture) -> Callable[..., Any]:
    def run_captured(*args: Any) -> Any:
        capture.note_run()
        return module.forward(*args)  # looked up each time: `pyharness.fx.reload` puts another in its place

    return run_captured


def _boxed_runner(module: GraphModule, capture: Capture) -> Callable[..., Any]:
    """A function that AOT autograd calls: with a list that is the callee's to empty."""

    def run_lowered(boxed: list[Any]) -> Any:
        capture.note_run()
        args = tuple(boxed)
        boxed.clear()
        return module.forward(*args)

    run_lowered._boxed_call = True  # type: ignore[attr-defined]  # noqa: SLF001  (torch's way to ask for the list)
    return run_lowered

"""Many vector-Jacobian products through one graph: several at once in bounded memory, one by one where that fails."""

from __future__ import annotations

import re
import warnings
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from pyharness.inspect.norms.gradient_memory import MAPPED, backward_of, keep_freed_memory, measured_bytes
from pyharness.inspect.norms.linear_head import unit_vectors
from pyharness.inspect.norms.sample_wise import keeps_samples_apart
from pyharness.inspect.products import explained
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torch import Tensor

    from pyharness.inspect.norms.linear_head import UnitVectors
    from pyharness.inspect.variables import Variable

    _Rows = Iterable[list[Tensor | None]]

FILL = 16 << 20
"""Bytes of gradients that a batch should have: below, the calls of ops cost more; above, caches do not help."""
ROWS = 16
"""VJPs that a batch should have at least, if there is memory."""
MEMORY = 256 << 20
"""Bytes of gradients that a batch has at most, where nothing else was asked for."""
CACHE = 512 << 10
"""Bytes of a product's gradients from which on a batch of convolutions, or of what loops inside, was slower."""


class Products:
    """vᵀJ for batches of v. ``chunk`` is how many fit; ``done`` counts them, ``notes`` says what should be known.

    A batch goes through ``torch.func.vmap``, which knows how to do most ops for all at once, and where that fails
    through ``torch.autograd.grad(is_grads_batched=True)``; after it one vector at a time. So are convolutions and
    ops without a batching rule on a processor whose gradients of one vector fill its cache already: there a batch is
    slower than its parts.
    """

    def __init__(
        self, outputs: Sequence[Variable], inputs: Sequence[Variable], memory: int | None, *, create_graph: bool
    ) -> None:
        self.done = 0
        self.notes: list[str] = []
        self.inputs = inputs
        self._create_graph = create_graph
        self._outputs = outputs
        self._watched = False
        self._backward = backward_of(outputs, inputs)
        if self._backward.most_bytes >= MAPPED and _on_processor(outputs):
            keep_freed_memory()
        self.chunk = self._room(self._backward.most_bytes, memory)
        slower = self._backward.convolves or self._backward.loops
        wide = slower and self._backward.most_bytes >= CACHE and _on_processor(outputs)
        # By functions, not methods of this object: in a circle it would keep the graph until garbage is collected.
        self._ways = [Products._one_by_one] if wide else [Products._mapped, Products._batched, Products._one_by_one]

    @property
    def at_once(self) -> int:
        """The most vectors that went in one product."""
        return min(self.chunk, self.done) if len(self._ways) > 1 else 1

    def unit_vectors(self, output: Variable, batch: int | None) -> UnitVectors:
        """The unit vectors of an output, as products here take them."""
        return unit_vectors(output, self._backward, batch, create_graph=self._create_graph)

    def keeps_apart(self, output: Variable, batch: int) -> bool:
        """Whether the graph alone shows that the samples of a batch are independent."""
        return batch == 1 or keeps_samples_apart(output, self._backward, batch)

    def run(self, outputs: Sequence[Variable], vectors: Sequence[Tensor]) -> Iterator[list[Tensor | None]]:
        """For n vectors of each output, (n, *its shape): (k, *shape) of each input, until all n are done.

        ``None`` stands for an input without use.
        """
        count = len(vectors[0])
        self.done += count
        while count > 1 and len(self._ways) > 1:
            try:
                with self._noticing_loops():
                    rows = self._ways[0](self, outputs, vectors)
            except torch.OutOfMemoryError:
                raise
            except (RuntimeError, NotImplementedError, TypeError, ValueError, AttributeError) as error:
                self._ways.pop(0)
                failed = _first_line(error)
            else:
                yield from rows
                return
            if len(self._ways) == 1:
                yield from self._one_by_one(outputs, vectors)  # where this fails too, that is what is told
                self.notes.append(f"VJPs were run one by one: batched, they fail with {failed!r}.")
                return
        yield from self._one_by_one(outputs, vectors)

    def _mapped(self, outputs: Sequence[Variable], vectors: Sequence[Tensor]) -> _Rows:
        used: list[bool] = []

        def one(*each: Tensor) -> tuple[Tensor, ...]:
            found = self._grad(outputs, each)
            used[:] = [gradient is not None for gradient in found]
            return tuple(gradient for gradient in found if gradient is not None) or each[:1]

        found = iter(torch.func.vmap(one)(*vectors))
        return [[next(found) if is_used else None for is_used in used]]

    def _batched(self, outputs: Sequence[Variable], vectors: Sequence[Tensor]) -> _Rows:
        return [list(self._grad(outputs, vectors, is_grads_batched=True))]

    def _one_by_one(self, outputs: Sequence[Variable], vectors: Sequence[Tensor]) -> _Rows:
        for each in zip(*vectors, strict=True):
            try:
                found = self._grad(outputs, each)
            except RuntimeError as error:
                raise explained(error) from error
            yield [None if row is None else row[None] for row in found]

    def _grad(self, outputs: Sequence[Variable], vectors: Sequence[Tensor], **options: Any) -> Sequence[Any]:
        ends: list[Any] = [each.hold for each in outputs]
        starts: list[Any] = [each.hold for each in self.inputs]
        return torch.autograd.grad(
            ends,
            starts,
            list(vectors),
            retain_graph=True,
            create_graph=self._create_graph,
            allow_unused=True,
            **options,
        )

    def _room(self, most: int, memory: int | None) -> int:
        """How many VJPs go at once, if one takes ``most`` bytes at most."""
        limit = MEMORY if memory is None else memory
        each = max(1, most)
        wanted = max(ROWS, FILL // each)
        if wanted * each > limit:  # of a deep network's gradients a part only lives at a time
            each = max(1, measured_bytes(self._any_row))
            if memory is not None and each > limit:
                raise UsageError(
                    f"One vector-Jacobian product needs about {each:,} bytes; memory={memory:,} is less.",
                    f"memory={each} is the least.",
                )
        return max(1, min(wanted, limit // each))

    def _any_row(self) -> object:
        return self._grad(self._outputs, [torch.zeros_like(each.tensor) for each in self._outputs])

    @contextmanager
    def _noticing_loops(self) -> Iterator[None]:
        """In the first batch, hear of ops that torch runs one by one inside of it; it says so no more afterwards."""
        with ExitStack() as stack:
            if self._watched:
                functorch: Any = torch._C._functorch  # noqa: SLF001
                functorch._set_vmap_fallback_warning_enabled(False)  # noqa: FBT003, SLF001
                stack.callback(functorch._set_vmap_fallback_warning_enabled, True)  # noqa: FBT003, SLF001
                yield
                return
            heard = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always")
            shown = getattr(torch._C, "_debug_only_display_vmap_fallback_warnings", None)  # noqa: SLF001
            if shown is not None:  # of is_grads_batched, which is silent otherwise
                shown(True)  # noqa: FBT003
                stack.callback(shown, False)  # noqa: FBT003
            yield
        self._watched = True
        self._tell(heard)

    def _tell(self, heard: Sequence[warnings.WarningMessage]) -> None:
        ops = []
        for warning in heard:
            match = _LOOPED.search(str(warning.message))
            if match:
                ops.append(match[1])
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        if ops:
            self.notes.append(f"No batching rule, run one by one inside of a batch: {', '.join(dict.fromkeys(ops))}.")


_LOOPED = re.compile(r"batching rule for ([\w:.]+\w)")


def _on_processor(outputs: Sequence[Variable]) -> bool:
    return all(each.tensor.device.type == "cpu" for each in outputs)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]

"""One call of one module: what went in, what came out, and the gradients of that."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyharness.inspect.nesting import leaves
from pyharness.inspect.statistics import TensorStatistics, statistics_of
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor
    from torch.autograd.graph import GradientEdge


@dataclass(frozen=True, eq=False)
class Record:
    """What one call of a module gave.

    Where statistics only were asked for, a ``TensorStatistics`` stands in the place of each tensor.
    """

    path: str
    """By which it was called; of a module with several, the first where that could not be seen."""
    paths: tuple[str, ...]
    """All that lead to the module."""
    call: int
    """Number of the call among those by ``path``, from 0, in the order in which they ended."""
    module: str
    """Class of the module."""
    output: Any
    """In the structure that the module returned; ``None`` where its ``forward`` raised."""
    inputs: tuple[tuple[Any, ...], dict[str, Any]] | None = None
    """Positional and keyword arguments, as they were before the call; ``None`` where not asked for."""
    gradients: Mapping[str, Any] = field(default_factory=dict)
    """Gradients of the output's tensors, by where each stands (``""``, ``[0]``, ``.logits``): the gradient of the last
    backward pass that reached it while the capture was open."""
    thread: int = 0
    """The thread, as ``threading.get_ident`` numbers it."""
    finished: bool = True
    """``False`` where ``forward`` raised."""
    recomputed: bool = False
    """Called by a backward pass: ``torch.utils.checkpoint`` ran the forward again."""
    edges: Mapping[str, GradientEdge] = field(default_factory=dict)
    """On the graph: from where each tensor of the output is differentiated, whatever was written into it later."""
    versions: Mapping[str, int] = field(default_factory=dict, repr=False)
    """How often each tensor that is shared with the model had been written into."""

    @property
    def name(self) -> str:
        """``blocks.0``, ``(root)``, ``decoder#1`` for its second call."""
        return f"{self.path or '(root)'}{f'#{self.call}' if self.call else ''}"

    @cached_property
    def leaves(self) -> dict[str, Any]:
        """The tensors of the output, or their statistics, by where they stand."""
        return dict(statistics_in(self.output))

    @property
    def overwritten(self) -> tuple[str, ...]:
        """The tensors that an in-place operation changed later: they are not what the module returned.

        ``capture(copy=True)`` keeps what it returned.
        """
        return tuple(path for path, version in self.versions.items() if self.leaves[path]._version != version)  # noqa: SLF001

    @property
    def tensor(self) -> Any:
        """The one tensor of the output; ``HarnessError`` where there are none or several."""
        return self._single(self.leaves, "output", "leaves")

    @property
    def gradient(self) -> Any:
        """The gradient of the one tensor of the output; ``HarnessError`` where there are none or several."""
        if not self.gradients:
            raise HarnessError(
                f"There is no gradient of {self.name}'s output.",
                "capture(gradients=True), and backward() inside of its `with`, from something that depends on it.",
            )
        return self._single(self.gradients, "gradients", "gradients")

    @cached_property
    def statistics(self) -> dict[str, TensorStatistics]:
        """The statistics of each tensor of the output."""
        return {path: as_statistics(each) for path, each in self.leaves.items()}

    def _single(self, found: Mapping[str, Any], what: str, where: str) -> Any:
        if len(found) != 1:
            names = ", ".join(path or "the output itself" for path in found) or "none"
            raise HarnessError(f"{self.name} has {len(found)} tensors in its {what}: {names}.", f"record.{where}[...]")
        return next(iter(found.values()))

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints: statistics for tensors."""
        arguments, keywords = self.inputs or ((), {})
        return {
            "path": self.path,
            "call": self.call,
            "paths": list(self.paths),
            "module": self.module,
            "thread": self.thread,
            "finished": self.finished,
            "recomputed": self.recomputed,
            "overwritten": list(self.overwritten),
            "inputs": _json(arguments) | _json(keywords) if self.inputs is not None else None,
            "output": _json(self.output),
            "gradients": {path: as_statistics(each).to_json() for path, each in self.gradients.items()},
        }


def as_statistics(tensor: Tensor | TensorStatistics) -> TensorStatistics:
    """The statistics of a tensor, or what was kept of one."""
    return tensor if isinstance(tensor, TensorStatistics) else statistics_of(tensor)


def statistics_in(value: Any) -> list[tuple[str, Any]]:
    """The tensors of a structure, or the statistics that stand in their places."""
    return list(leaves(value, also=TensorStatistics))


def _json(value: Any) -> dict[str, Any]:
    return {path: as_statistics(each).to_json() for path, each in statistics_in(value)}

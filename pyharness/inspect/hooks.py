"""The hooks of one capture: what they note of each call, in as little time as a bare hook takes."""

from __future__ import annotations

import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import get_ident
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch._C import _current_graph_task_id
from torch.autograd.graph import get_gradient_edge
from torch.compiler import is_compiling
from torch.utils.hooks import RemovableHandle

from pyharness.inspect.nesting import leaves, mapped
from pyharness.inspect.statistics import statistics_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.inspect.selection import Selection


@dataclass(frozen=True)
class Keep:
    """What is kept of each call."""

    detach: bool = True
    copy: bool = False
    statistics: bool = False
    inputs: bool = False
    gradients: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether a call's output is only to be detached."""
        return self.detach and not (self.copy or self.statistics or self.gradients)

    def tensor(self, tensor: Tensor) -> Any:
        """What is kept of one tensor."""
        if self.statistics:
            return statistics_of(tensor)
        tensor = tensor.detach() if self.detach else tensor
        return tensor.clone() if self.copy else tensor


@dataclass
class Begin:
    """A module is about to run."""

    target: int
    thread: int
    inputs: tuple[tuple[Any, ...], dict[str, Any]] | None
    handled: BaseException | None
    """The exception that was being handled then."""


@dataclass
class End:
    """A module has run."""

    target: int
    thread: int
    output: Any
    versions: dict[str, int] = field(default_factory=dict)
    gradients: dict[str, Any] = field(default_factory=dict)
    edges: dict[str, Any] = field(default_factory=dict)
    handled: BaseException | None = None
    recomputed: bool = False


class Hooks:
    """``events`` grows while they are attached: ``Begin``, ``End``, or the tuple that the quickest hook leaves."""

    def __init__(self, keep: Keep) -> None:
        self.events: list[Any] = []
        self._keep = keep
        self._handles: list[RemovableHandle] = []
        self._number = RemovableHandle(OrderedDict()).id  # of torch's, for all our quick hooks
        self._quick: list[dict[int, Any]] = []

    def attach(self, selection: Selection) -> None:
        """To every module that is selected; what fails leaves none attached."""
        try:
            for number, target in enumerate(selection.targets):
                framed = (self._keep.inputs and target.wanted) or id(target.module) in selection.enclosing
                self._attach(number, target.module, wanted=target.wanted, framed=framed)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """All of them, from modules and from tensors."""
        while self._handles:
            self._handles.pop().remove()
        while self._quick:
            self._quick.pop().pop(self._number, None)

    def _attach(self, number: int, module: nn.Module, *, wanted: bool, framed: bool) -> None:
        if framed:
            self._handles.append(module.register_forward_pre_hook(self._begin(number, wanted), with_kwargs=True))
        if framed or not self._keep.is_plain:
            self._handles.append(module.register_forward_hook(self._end(number, wanted), always_call=framed))
        else:
            # What register_forward_hook does too, without a handle for each module: making those and letting them go
            # takes as long as small modules take to run.
            hooks: Any = module._forward_hooks  # noqa: SLF001
            hooks[self._number] = self._quick_end(number)
            self._quick.append(hooks)

    def _begin(self, number: int, wanted: bool) -> Callable[..., None]:  # noqa: FBT001
        keep = self._keep.tensor if self._keep.inputs and wanted else None
        note = self.events.append

        def begin(_module: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            if is_compiling():
                return
            inputs = (mapped(arguments, keep), mapped(keywords, keep)) if keep else None
            note(Begin(number, get_ident(), inputs, sys.exc_info()[1]))

        return begin

    def _quick_end(self, number: int) -> Callable[..., None]:
        """The least that tells calls, threads, later in-place changes and recomputation apart."""
        note, general = self.events.append, self._note_end

        def end(_module: nn.Module, _arguments: Any, output: Any) -> None:
            if is_compiling():  # dynamo traces this: what it compiles would have our hooks in it, for ever
                return
            versions: Any
            if type(output) is Tensor:
                output = output.detach()
                versions = _version(output)
            elif _is_flat(output):
                output = tuple(each if each is None else each.detach() for each in output)
                versions = tuple(each if each is None else _version(each) for each in output)
            else:
                general(number, output, wanted=True)
                return
            note((number, get_ident(), output, versions, _current_graph_task_id()))

        return end

    def _end(self, number: int, wanted: bool) -> Callable[..., None]:  # noqa: FBT001
        def end(_module: nn.Module, _arguments: Any, output: Any) -> None:
            if not is_compiling():
                self._note_end(number, output, wanted=wanted)

        return end

    def _note_end(self, number: int, output: Any, *, wanted: bool) -> None:
        event = End(number, get_ident(), None, handled=sys.exc_info()[1] if output is None else None)
        if wanted and output is not None:
            event.recomputed = _current_graph_task_id() != -1
            self._look(event, output)
            event.output = mapped(output, self._keep.tensor)
            if not (self._keep.statistics or self._keep.copy):
                event.versions = _versions(event.output)
        self.events.append(event)

    def _look(self, event: End, output: Any) -> None:
        if not self._keep.gradients and self._keep.detach:
            return
        for path, tensor in leaves(output):
            if not tensor.requires_grad:
                continue
            if not self._keep.detach:
                event.edges[path] = get_gradient_edge(tensor)
            if self._keep.gradients:
                self._handles.append(tensor.register_hook(self._gradient(event, path)))

    def _gradient(self, event: End, path: str) -> Callable[[Tensor], None]:
        def take(gradient: Tensor) -> None:
            event.gradients[path] = self._keep.tensor(gradient)

        return take


def _is_flat(output: Any) -> bool:
    """Whether it is a tuple of tensors that differ, and of nothing else but None: what attention returns."""
    if type(output) is not tuple:
        return False
    tensors = [id(each) for each in output if each is not None]
    return len(set(tensors)) == len(tensors) and all(each is None or type(each) is Tensor for each in output)


def _version(tensor: Tensor) -> int | None:
    """How often it was changed in place; an inference tensor does not count."""
    try:
        return tensor._version  # noqa: SLF001
    except RuntimeError:
        return None


def _versions(output: Any) -> dict[str, int]:
    return {path: tensor._version for path, tensor in leaves(output) if not tensor.is_inference()}  # noqa: SLF001

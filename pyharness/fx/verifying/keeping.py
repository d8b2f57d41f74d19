"""Everything that a run may change and that is put back: random numbers, parameters, buffers, modes, attributes."""

from __future__ import annotations

import random
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.verifying.differences import is_same
from pyharness.fx.verifying.values import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class RandomState:
    """The state of the generators of torch, Python and, where loaded, NumPy."""

    def __init__(self) -> None:
        self._torch = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
        self._python = random.getstate()
        numpy = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if numpy else None

    def restore(self) -> None:
        """Put them back."""
        torch.set_rng_state(self._torch)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        random.setstate(self._python)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)

    def differs(self) -> bool:
        """Whether torch's numbers were drawn since."""
        cuda = self._cuda or []
        now = torch.cuda.get_rng_state_all() if cuda else []
        return not all(torch.equal(*pair) for pair in zip((self._torch, *cuda), (torch.get_rng_state(), *now)))  # noqa: B905


def seed(number: int) -> None:
    """Start all generators of random numbers from ``number``."""
    torch.manual_seed(number)
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy:
        numpy.random.seed(number % (1 << 32))


class ModuleState:
    """The parameters, buffers, modes and plain attributes of modules."""

    def __init__(self, roots: Iterable[torch.nn.Module]) -> None:
        modules = {id(each): each for root in roots for each in root.modules()}
        self._modules = [(each, dict(each.__dict__), [*map(dict, _tables(each))]) for each in modules.values()]
        held = {id(tensor): tensor for each in modules.values() for tensor in _tensors(each)}
        self._tensors = [(each, each.detach().clone(), changes_of(each)) for each in held.values()]

    def restore(self, *, surely: bool = True) -> None:
        """Put back what was changed; what was not is not written to.

        Unless ``surely``, torch's count of changes is asked for parameters, which can be large.
        """
        for module, attributes, tables in self._modules:
            for name in set(module.__dict__) - set(attributes):
                del module.__dict__[name]
            module.__dict__.update(attributes)
            for table, entries in zip(_tables(module), tables, strict=True):
                table.clear()
                table.update(entries)
        for tensor, before, version in self._tensors:
            if not surely and isinstance(tensor, torch.nn.Parameter) and changes_of(tensor) == version:
                continue
            if not is_same(tensor.detach(), before):
                tensor.data.copy_(before)  # by .data: autograd must not take it for a change of its saved values


def _tables(module: torch.nn.Module) -> tuple[dict[str, Any], ...]:
    """The live ones."""
    return module._parameters, module._buffers, module._modules  # noqa: SLF001


def _tensors(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    yield from module.parameters(recurse=False)
    yield from module.buffers(recurse=False)
    yield from (each for each in module.__dict__.values() if isinstance(each, torch.Tensor))


class Kept:
    """Modules and random numbers as they were; ``begin`` starts each run from there, in the mode that is wanted."""

    def __init__(self, roots: Iterable[torch.nn.Module], mode: bool | None, number: int) -> None:  # noqa: FBT001
        self._roots = tuple(roots)
        self._mode = mode
        self._number = number
        self._random = RandomState()
        self._modules = ModuleState(self._roots)

    def begin(self) -> None:
        """Put everything back, and start the random numbers."""
        self._modules.restore(surely=False)
        if self._mode is not None:
            for root in self._roots:
                root.train(self._mode)
        seed(self._number)

    def end(self) -> None:
        """Put everything back as it was before the first run."""
        self._modules.restore()
        self._random.restore()


@contextmanager
def kept(roots: Iterable[torch.nn.Module], mode: bool | None, number: int) -> Iterator[Kept]:  # noqa: FBT001
    """Around several runs. ``mode`` is that of ``Module.train``, each module's own when ``None``."""
    state = Kept(roots, mode, number)
    try:
        yield state
    finally:
        state.end()

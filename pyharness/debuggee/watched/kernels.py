"""Follows inductor in a program that the harness starts: the kernels that torch.compile makes of it, with their maps.

Nothing is done to a program that never compiles, and nothing here imports torch.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.debuggee.watched.imports import after_import
from pyharness.fx import inductor
from pyharness.host.state import StateError
from pyharness.model import kernel_files, wrapper_map
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import KernelMaps

INDUCTOR = "torch._inductor.compile_fx"
"""The module that torch.compile's default backend is in."""


_known: dict[str, tuple[str, ...]] = {}


def known() -> dict[str, tuple[str, ...]]:
    """The wrappers that ``install`` has told of so far, each with the files of its kernels."""
    return dict(_known)


def install(notify: Callable[[Wrapper], None], lost: Callable[[str], None] = say) -> None:
    """Call ``notify(wrapper)`` for each graph's code when its kernels are loaded, before they run.

    ``lost`` is told why, once, where there will be no maps.
    """
    after_import(INDUCTOR, functools.partial(_follow, notify, _once(lost)))


def _follow(notify: Callable[[Wrapper], None], lost: Callable[[str], None], _module: ModuleType) -> None:
    def made(wrapper: str, maps: KernelMaps) -> None:
        with _kept(lost):
            kernel_files.save(wrapper, maps)

    def loaded(wrapper: Wrapper) -> None:
        if wrapper.maps is None or not wrapper.maps.is_cxx:
            with _kept(lost):
                wrapper_map.write_map(wrapper)
        _known[wrapper.file] = wrapper.kernel_files
        notify(wrapper)

    try:
        inductor.follow(made, loaded, lost)
    except inductor.LackingError as error:
        lost(f"Kernels of torch.compile have no maps: this torch has no {error}.")


@contextmanager
def _kept(lost: Callable[[str], None]) -> Iterator[None]:
    """Tell why a map cannot be kept; the program goes on without."""
    try:
        yield
    except StateError as error:
        lost(f"The maps of kernels are not kept. {error.message} {error.remedy}")
    except OSError as error:
        lost(f"The maps of kernels are not kept: {error.strerror}.")


def _once(lost: Callable[[str], None]) -> Callable[[str], None]:
    told: list[str] = []

    def tell(why: str) -> None:
        if not told:
            told.append(why)
            lost(why)

    return tell

"""Follows inductor in a program that the harness starts: the kernels that torch.compile makes of it, with their maps.

Nothing is done to a program that never compiles, and nothing here imports torch.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pyharness.debuggee.watched.imports import after_import
from pyharness.fx import inductor
from pyharness.host.state import StateError
from pyharness.model import kernel_files
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import KernelMaps

_INDUCTOR = "torch._inductor.compile_fx"
"""The module that torch.compile's default backend is in."""


def install(notify: Callable[[Wrapper], None], lost: Callable[[str], None] = say) -> None:
    """Call ``notify(wrapper)`` for each graph's code when its kernels are loaded, before they run.

    ``lost`` is told why, once, where there will be no maps.
    """
    after_import(_INDUCTOR, functools.partial(_follow, notify, _once(lost)))


def _follow(notify: Callable[[Wrapper], None], lost: Callable[[str], None], _module: ModuleType) -> None:
    def made(wrapper: str, maps: KernelMaps) -> None:
        try:
            kernel_files.save(wrapper, maps)
        except StateError as error:
            lost(f"The maps of kernels are not kept. {error.message} {error.remedy}")
        except OSError as error:
            lost(f"The maps of kernels are not kept: {error.strerror}.")

    try:
        inductor.follow(made, notify, lost)
    except inductor.LackingError as error:
        lost(f"Kernels of torch.compile have no maps: this torch has no {error}.")


def _once(lost: Callable[[str], None]) -> Callable[[str], None]:
    told: list[str] = []

    def tell(why: str) -> None:
        if not told:
            told.append(why)
            lost(why)

    return tell

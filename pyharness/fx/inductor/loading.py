"""Who is told of each wrapper that torch loads, with its module."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from pyharness.model.kernel_files import Wrapper

LISTENERS: list[Callable[[Wrapper, ModuleType], None]] = []
"""Functions that are called in turn when its kernels are there, before they run."""


def loaded(wrapper: Wrapper, module: ModuleType) -> None:
    """Tell them."""
    for each in tuple(LISTENERS):
        each(wrapper, module)

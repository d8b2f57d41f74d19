"""Who is told of each graph that inductor has lowered, and of each wrapper and library that torch loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from pyharness.model.kernel_files import Wrapper

LISTENERS: list[Callable[[Wrapper, ModuleType], None]] = []
"""Functions that are called in turn when a wrapper's kernels are there, before they run."""

LOWERED: list[Callable[[str, Any], None]] = []
"""Functions that get the wrapper's text and the GraphModule that became it; with one here, caches are not used."""


LIBRARIES: list[Callable[[], None]] = []
"""Functions that are called in turn when libraries may have come that have wrappers in C++, before these run."""


def loaded(wrapper: Wrapper, module: ModuleType) -> None:
    """Tell them."""
    for each in tuple(LISTENERS):
        each(wrapper, module)


def lowered(text: str, module: Any) -> None:
    """Tell who wants to see what was lowered."""
    for each in tuple(LOWERED):
        each(text, module)


def libraries_loaded() -> None:
    """Tell who wants to see wrappers in C++."""
    for each in tuple(LIBRARIES):
        each()

"""Has calls of kernels go by way of a function of ours, as long as somebody wants to see them."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.fx import inductor
from pyharness.fx.inductor.loading import LISTENERS
from pyharness.fx.inductor.private import LackingError, private
from pyharness.host.state import StateError
from pyharness.model import kernel_files, wrapper_map
from pyharness.model.kernel_files import Kernel, Wrapper, maps_of
from pyharness.model.kernel_text import kernels_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from pyharness.model.kernel_map import KernelMaps

    Around = Callable[[Wrapper, Kernel, Callable[..., Any]], Callable[..., Any]]

_CODE_CACHE = "torch._inductor.codecache"


class KernelCalls:
    """``around(wrapper, kernel, function)`` gives what is called in place of each kernel, from ``begin`` to ``end``."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._entered: set[tuple[ModuleType, str]] = set()
        self._replaced: list[tuple[ModuleType, str, Any]] = []

    def begin(self) -> None:
        """Stand before kernels that are loaded, and before each that will be, which gets its map meanwhile.

        Nothing happens where it has begun, and where this torch lacks a part by which kernels are followed.
        """
        if self.enter in LISTENERS:
            return
        try:
            inductor.follow(self._keep, _write, _lost)
        except LackingError:
            return
        LISTENERS.append(self.enter)
        for module, wrapper in _loaded():
            self.enter(wrapper, module)

    def _keep(self, wrapper: str, maps: KernelMaps) -> None:
        with suppress(StateError, OSError):  # a kernel without a map is known by its name
            kernel_files.save(wrapper, maps)

    def end(self) -> None:
        """Kernels are called by the wrappers themselves again."""
        if self.enter in LISTENERS:
            LISTENERS.remove(self.enter)
            inductor.forget(self._keep)
        for module, name, function in reversed(self._replaced):
            setattr(module, name, function)
        self._replaced.clear()
        self._entered.clear()

    def enter(self, wrapper: Wrapper, module: ModuleType) -> None:
        """Stand between a wrapper and its kernels."""
        for kernel in wrapper.kernels:
            function = getattr(module, kernel.name, None)
            if callable(function) and (module, kernel.name) not in self._entered:
                self._entered.add((module, kernel.name))
                self._replaced.append((module, kernel.name, function))
                setattr(module, kernel.name, self._around(wrapper, kernel, function))


def _write(wrapper: Wrapper) -> None:
    with suppress(StateError, OSError):
        wrapper_map.write_map(wrapper)


def _lost(_why: str) -> None:
    """A kernel without a map is known by its name."""


def _loaded() -> list[tuple[ModuleType, Wrapper]]:
    """The wrappers that this process has loaded so far."""
    if _CODE_CACHE not in sys.modules:
        return []
    try:
        modules = getattr(private().codecache.PyCodeCache, "modules", ())
    except LackingError:
        return []
    found = []
    for module in list(modules.values()) if isinstance(modules, dict) else list(modules):
        try:
            text = Path(module.__file__ or "").read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            continue
        kernels = tuple(Kernel(name, _file_of(module, name), source) for name, source in kernels_of(text))
        if kernels:
            found.append((module, Wrapper(module.__file__ or "", kernels, maps_of(text))))
    return found


def _file_of(module: ModuleType, name: str) -> str | None:
    """A kernel's C++, which torch puts beside what it was compiled to."""
    library = getattr(getattr(getattr(module, name, None), "__self__", None), "__file__", None)
    path = Path(library).with_suffix(".cpp") if library else None
    return str(path) if path is not None and path.is_file() else None

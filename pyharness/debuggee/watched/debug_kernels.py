"""Kernels of torch.compile that are built to be debugged, as long as a debugger is here that asked for it.

Nothing here imports torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debuggee.watched.imports import after_import
from pyharness.fx.inductor import LackingError
from pyharness.fx.inductor.debug_build import BUILDER, CACHES, DebugBuild
from pyharness.host.state import StateError, state_dir
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from types import ModuleType

_FOLDER = "debug-kernels"


class DebugKernels:
    """What the debugger that is here has asked for."""

    def __init__(self) -> None:
        self._build = DebugBuild()
        self._follows = False

    def begin(self) -> None:
        """Build what is compiled from now on unoptimized, into a private folder; say why where that cannot be."""
        try:
            folder = state_dir(_FOLDER)
        except StateError as error:
            say(f"Kernels are not built for debugging. {error.message} {error.remedy}")
            return
        self._build.begin(str(folder))
        if not self._follows:
            self._follows = True
            after_import(CACHES, self._build.keep)
            after_import(BUILDER, self._follow)

    def end(self) -> None:
        """Build as torch does."""
        self._build.end()

    def _follow(self, builder: ModuleType) -> None:
        try:
            self._build.follow(builder)
        except LackingError as error:
            self.end()
            say(f"Kernels are not built for debugging: this torch has no {error}.")


DEBUG_KERNELS = DebugKernels()

"""Puts inductor's kernels over the graphs that they were made of, once torch has loaded them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.watched import kernels
from pyharness.debuggee.watched.imports import after_import
from pyharness.model.kernel_map import digest_of

if TYPE_CHECKING:
    from types import ModuleType

    from pyharness.debuggee.watched.graphs_made import GraphsMade
    from pyharness.model.graph import Graph
    from pyharness.model.kernel_files import Wrapper


class KernelsDrawn:
    """Tells ``made`` of each graph that inductor lowers, with its kernels."""

    def __init__(self, made: GraphsMade) -> None:
        self._made = made
        self._waiting: dict[str, tuple[int, Graph]] = {}
        """By the digest of the wrapper: the number that ``made`` has of the module, and what was lowered."""

    def follow(self) -> None:
        """Be told, from the moment on at which inductor is there."""
        kernels.install(self._loaded)
        after_import(kernels.INDUCTOR, self._want)

    def _want(self, _module: ModuleType) -> None:
        from pyharness.fx.inductor.loading import LOWERED

        LOWERED.append(self._lowered)

    def _lowered(self, text: str, module: Any) -> None:
        self._waiting[digest_of(text)] = self._made.lowered(module)

    def _loaded(self, wrapper: Wrapper) -> None:
        from pyharness.fx.graphs.kernels import boxes_of

        try:
            text = Path(wrapper.file).read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            return
        number, graph = self._waiting.pop(digest_of(text), (None, None))
        if number is not None and graph is not None:
            self._made.became(number, graph, boxes_of(wrapper, text))

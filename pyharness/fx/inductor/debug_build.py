"""Has inductor build its C++ kernels for debugging, in a cache of its own: ``-O0 -g`` instead of ``-O3 -g1``.

Torch's own cache is neither read nor written meanwhile: an unoptimized kernel is of no use to a run without us.
Environment variables say it, and not torch's settings: those are each thread's own.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.private import LackingError, replaced

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

BUILDER = "torch._inductor.cpp_builder"
CACHES = "torch._inductor.runtime.cache_dir_utils"
_CACHE = "TORCHINDUCTOR_CACHE_DIR"
_DEBUG = "TORCHINDUCTOR_DEBUG_COMPILE"
_AT_IMPORT = "AOT_INDUCTOR_DEBUG_COMPILE"
"""What torch before 2.10 reads instead, as soon as it is imported: so it is for processes that the program starts."""
_FLAGS = "_get_optimization_cflags"
"""The function that reads ``_DEBUG`` whenever something is compiled. Before torch 2.10, it gives optimizing flags."""
_OPTIMIZES = re.compile(r"O\w|DNDEBUG")


class DebugBuild:
    """How kernels are built from ``begin`` to ``end``; what was built before stays as it is."""

    def __init__(self) -> None:
        self._folder = ""
        """The cache; empty while kernels are built as torch does."""
        self._before: dict[str, str | None] = {}
        self._names = (_CACHE, _DEBUG)

    def begin(self, folder: str) -> None:
        """Build for debugging from now on, in this process and in those that it starts."""
        self._folder = folder
        self._before = {name: os.environ.get(name) for name in self._names}
        os.environ.update({**dict.fromkeys(self._names, "1"), _CACHE: folder})

    def end(self) -> None:
        """Build as torch does again."""
        self._folder = ""
        for name, before in self._before.items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before
        self._before.clear()

    def keep(self, caches: ModuleType) -> None:
        """Hold on to our cache where the program names another: that is one of the user's."""
        replaced(caches, "cache_dir", self._cache_dir)

    def _cache_dir(self, original: Callable[[], str]) -> str:
        if self._folder:
            os.environ[_CACHE] = self._folder
        return original()

    def follow(self, builder: ModuleType) -> None:
        """Have the module that compiles do as we say; ``LackingError`` where this torch cannot."""
        code = getattr(getattr(builder, _FLAGS, None), "__code__", None)
        if code is None:
            raise LackingError(_DEBUG)
        if _DEBUG in code.co_consts:
            return
        replaced(builder, _FLAGS, self._flags)
        self._names = (_CACHE, _AT_IMPORT)
        if self._folder:
            self._before[_AT_IMPORT] = os.environ.get(_AT_IMPORT)
            os.environ[_AT_IMPORT] = "1"

    def _flags(self, original: Callable[..., list[str]], *args: Any, **named: Any) -> list[str]:
        flags = original(*args, **named)
        return ["O0", "g", *(each for each in flags if not _OPTIMIZES.fullmatch(each))] if self._folder else flags

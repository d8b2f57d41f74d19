"""Has inductor generate code anew that its cache has, and of which nobody made a map, or whose graph is wanted.

Such code was compiled before pyharness saw the program. What is generated anew is the same to the byte, and the
kernels that were compiled are used as they are: their names are the digests of their texts. So only the map is new.
"""

from __future__ import annotations

import errno
from collections import Counter
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.loading import LOWERED
from pyharness.fx.inductor.private import replaced
from pyharness.model.kernel_files import maps_of
from pyharness.model.kernel_text import cxx_sources, kernels_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.fx.inductor.private import Private

_HIT = "cache_hit_post_compile"
"""What torch calls with each entry of its cache that it is about to load, those inside of AOT autograd's, too."""
_LOADED = "after_deserialization"
"""What torch 2.6 and 2.7 call instead, a method of the entry. Where it raises ``OSError``, torch compiles the graph."""
_MOST = 2
"""How often an entry is refused, once by AOT autograd and once by inductor: what is made anew may lack a map, too."""


class Cached:
    """Follows entries of torch's cache before they are loaded."""

    def __init__(self, private: Private) -> None:
        self._cache = getattr(private.codecache, "FxGraphCache", None)
        self._compile_fx = private.compile_fx
        self._refused: Counter[str] = Counter()

    def install(self) -> None:
        """Wrap the function of torch's; where it lacks, code from the cache has the maps that it had."""
        if hasattr(self._cache, _HIT):
            replaced(self._cache, _HIT, self._hit)
        elif hasattr(self._compile_fx, "CompiledFxGraph"):
            replaced(self._compile_fx.CompiledFxGraph, _LOADED, self._load)

    def _hit(self, original: Callable[..., Any], graph: Any, info: Any, *args: Any, **named: Any) -> Any:
        if self._refuses(graph):
            return None, info  # no hit: torch compiles the graph
        return original(graph, info, *args, **named)

    def _load(self, original: Callable[..., Any], graph: Any, *args: Any, **named: Any) -> Any:
        if self._refuses(graph):
            raise OSError(errno.ENOENT, "There is no map of its kernels")
        return original(graph, *args, **named)

    def _refuses(self, graph: Any) -> bool:
        text = getattr(graph, "source_code", None)
        if isinstance(text, str) and self._refused[text] < _MOST and _has_kernels(text) and _lacks(text):
            self._refused[text] += 1
            return True
        return False


def _has_kernels(text: str) -> bool:
    return bool(kernels_of(text) or cxx_sources(text))


def _lacks(text: str) -> bool:
    """Whether something is wanted of the graph that only torch's lowering of it tells."""
    return bool(LOWERED) or maps_of(text) is None

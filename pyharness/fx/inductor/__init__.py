"""Follows inductor, the default backend of torch.compile: which line of a generated kernel works for which node.

Nothing of what it generates changes. All private parts of torch's are in this folder; docs/inductor.md lists them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pyharness.fx.inductor.private import LackingError, private

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import KernelMaps

__all__ = ["LackingError", "follow", "forget"]


_listeners: list[tuple[Callable[[str, KernelMaps], None], Callable[[Wrapper], None], Callable[[str], None]]] = []
"""Who is told: torch's parts are wrapped once in a process."""


def follow(
    made: Callable[[str, KernelMaps], None], loaded: Callable[[Wrapper], None], lost: Callable[[str], None]
) -> None:
    """From now on, call ``made(wrapper, maps)`` when a graph has become code, before the code is a file.

    ``loaded`` is told of each wrapper when its kernels are there, before they run, and ``lost`` why a map is missing.
    Whoever follows is told, one after the other. ``LackingError`` where this torch lacks a part that we need; nothing
    is followed then.
    """
    if not _listeners:
        private()  # imports them: whoever waits for that comes here meanwhile, and installs all
        _install()
    _listeners.append((made, loaded, lost))


def forget(made: Callable[[str, KernelMaps], None]) -> None:
    """Tell whoever follows with ``made`` nothing more."""
    _listeners[:] = [each for each in _listeners if each[0] != made]


def _made(wrapper: str, maps: KernelMaps) -> None:
    for made, _, _ in _listeners:
        made(wrapper, maps)


def _loaded(wrapper: Wrapper) -> None:
    for _, loaded, _ in _listeners:
        loaded(wrapper)


def _lost(why: str) -> None:
    for _, _, lost in _listeners:
        lost(why)


@functools.cache
def _install() -> None:
    from pyharness.fx.inductor.bodies import Bodies
    from pyharness.fx.inductor.cached import Cached
    from pyharness.fx.inductor.captured import Captured
    from pyharness.fx.inductor.kernels import Kernels
    from pyharness.fx.inductor.lines import Lines
    from pyharness.fx.inductor.lowering import Lowering
    from pyharness.fx.inductor.wrappers import Wrappers

    parts = private()
    bodies = Bodies(parts)
    lowering = Lowering(parts, bodies.computed)
    lines = Lines(parts, bodies)
    captured = Captured(parts)
    wrappers = Wrappers(parts, captured, _made, _loaded)
    kernels = Kernels(parts, bodies, lines, _made, wrappers.ahead_of_time, _lost)
    lowering.install()
    bodies.install(lowering)
    lines.install()
    kernels.install(lowering)
    captured.install()
    wrappers.install()
    Cached(parts).install()

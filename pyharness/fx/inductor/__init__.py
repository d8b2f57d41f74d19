"""Follows inductor, the default backend of torch.compile: which line of a generated kernel works for which node.

Nothing of what it generates changes. All private parts of torch's are in this folder; docs/inductor.md lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.fx.inductor.private import LackingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import KernelMaps

__all__ = ["LackingError", "follow"]


def follow(
    made: Callable[[str, KernelMaps], None], loaded: Callable[[Wrapper], None], lost: Callable[[str], None]
) -> None:
    """From now on, call ``made(wrapper, maps)`` when a graph has become code, before the code is a file.

    ``loaded`` is told of each wrapper when its kernels are there, before they run, and ``lost`` why a map is missing.
    ``LackingError`` where this torch lacks a part that we need; nothing is followed then.
    """
    from pyharness.fx.inductor.bodies import Bodies
    from pyharness.fx.inductor.captured import Captured
    from pyharness.fx.inductor.kernels import Kernels
    from pyharness.fx.inductor.lines import Lines
    from pyharness.fx.inductor.lowering import Lowering
    from pyharness.fx.inductor.private import private
    from pyharness.fx.inductor.wrappers import Wrappers

    parts = private()
    bodies = Bodies(parts)
    lowering = Lowering(parts, bodies.computed)
    lines = Lines(parts, bodies)
    kernels = Kernels(parts, bodies, lines, made, lost)
    lowering.install()
    bodies.install(lowering)
    lines.install()
    kernels.install(lowering)
    captured = Captured(parts)
    captured.install()
    Wrappers(parts, captured, made, loaded).install()

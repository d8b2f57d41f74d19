"""Python's garbage collector, which waits while we start: the program finds its counts as `python SCRIPT` does.

Our start makes some 30,000 objects. What it let the collector do would bring the program's own collections forward: one
whole collection more for an `import torch`, 0.05 s. And whole collections would look at them: they are frozen, so that a
program's collections come when they come in a bare one (without that one more of 0.18 s while torch.compile works).
"""

from __future__ import annotations

import gc


class _Waits:
    """Whether it waits because of us: a sitecustomize may have switched it off."""

    now = False


def wait() -> None:
    """Have it collect nothing until the program begins."""
    _Waits.now = gc.isenabled()
    gc.disable()


def go_on() -> None:
    """Have it collect again, if it did before: the program begins. What there is by now it passes by."""
    if _Waits.now:
        _Waits.now = False
        gc.freeze()
        gc.enable()

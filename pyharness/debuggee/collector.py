"""Python's garbage collector, which waits while we start: the program finds its counts as `python SCRIPT` does.

Our start makes some 30,000 objects. What it let the collector do would bring the program's own collections forward: one
whole collection more for an `import torch`, 0.05 s. Whole collections would look at our objects, too, and come at other
moments: one of 0.18 s fell into torch.compile's work. So what there is when the program begins is frozen.
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

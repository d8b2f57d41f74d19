"""The end of a program under PYTHONINSPECT or ``python -i``: Python shows it as an exception, then its prompt.

It would show it a second time, with our frames, when it has left those.
"""

from __future__ import annotations

import sys


def has_shown() -> None:
    """Have Python not show the exception that ends the program; those at its prompt it shows."""
    before = sys.excepthook

    def silent(*_: object) -> None:
        sys.excepthook = before

    sys.excepthook = silent

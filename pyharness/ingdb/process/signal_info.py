"""What the kernel says of the signal that the selected thread stands at."""

from __future__ import annotations

import gdb


def signal_info() -> gdb.Value:
    """gdb's ``$_siginfo``; ``gdb.error`` where there is no signal.

    It is not evaluated: gdb would look for a symbol of that name first, which takes it seconds in a function with a
    name as long as those of template libraries are.
    """
    found = gdb.convenience_variable("_siginfo")
    if found is None:
        raise gdb.error("there is no signal")
    return found

"""The gdb scripts that a launch or an attach names, read from its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.native.scripts import existing

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments


def scripts_of(arguments: Arguments) -> tuple[str, ...]:
    """``gdbScripts`` by their absolute paths, seen from ``cwd``; ``UsageError`` where one is not there."""
    folder = arguments.text("cwd", "") or None
    return tuple(existing(script, "`gdbScripts`", folder) for script in arguments.texts("gdbScripts"))

"""Every module that registers requests, imported once."""

from pyharness.dap import running
from pyharness.dap.beginning import lifecycle
from pyharness.dap.breaking import breakpoints, data_breakpoints, exceptions
from pyharness.dap.looking import editing, memory, sources, stack, variables

__all__ = [
    "breakpoints",
    "data_breakpoints",
    "editing",
    "exceptions",
    "lifecycle",
    "memory",
    "running",
    "sources",
    "stack",
    "variables",
]

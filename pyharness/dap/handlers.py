"""Every module that registers requests, imported once."""

from pyharness.dap import (
    breakpoints,
    data_breakpoints,
    editing,
    exceptions,
    lifecycle,
    memory,
    running,
    sources,
    stack,
    variables,
)

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

"""Every module that registers requests, imported once."""

from pyharness.dap import breakpoints, exceptions, lifecycle, running, sources, stack, variables

__all__ = ["breakpoints", "exceptions", "lifecycle", "running", "sources", "stack", "variables"]

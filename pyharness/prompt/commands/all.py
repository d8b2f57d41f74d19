"""Every command: importing this registers them, in the order of help."""

from pyharness.prompt.commands import breaking, ending, going, helping, looking, valuing

MODULES = (breaking, going, looking, valuing, ending, helping)
"""What registers commands."""

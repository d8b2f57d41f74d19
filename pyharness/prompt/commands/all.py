"""Every command: importing this registers them, in the order of help."""

from pyharness.prompt.commands import (
    breaking,
    changing,
    ending,
    escaping,
    going,
    graphs,
    helping,
    looking,
    stopping,
    valuing,
)

MODULES = (breaking, stopping, going, looking, valuing, changing, graphs, ending, escaping, helping)
"""What registers commands."""

"""An nn.Module as one line, the same in both halves."""

from __future__ import annotations


def module_line(name: str, parameters: int, buffers: int, submodules: int) -> str:
    """One line on a module, such as ``Linear (2 parameters)``."""
    counts = {"parameter": parameters, "buffer": buffers, "submodule": submodules}
    shown = ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items() if count)
    return f"{name} ({shown})" if shown else name

"""The Dynamo backend ``pyharness``: what torch.compile captures runs eagerly, from files with source maps.

``torch.compile(model, backend="pyharness")`` finds it by its entry point. Only torch imports this package.
"""

from pyharness.fx.backend.compiler import compile_captured

__all__ = ["compile_captured"]

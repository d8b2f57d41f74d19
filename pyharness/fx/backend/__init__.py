"""The Dynamo backend ``pyharness``: every graph that torch.compile captures runs eagerly, from a file with a source map.

``torch.compile(model, backend="pyharness")`` finds it by its entry point. Only torch imports this package.
"""

from pyharness.fx.backend.compiler import compile_captured

__all__ = ["compile_captured"]

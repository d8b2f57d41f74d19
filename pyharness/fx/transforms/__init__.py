"""Transforms: named functions from graph to graph, each of which leaves its input as it was and lints its result."""

from pyharness.fx.transforms.inlining import inline
from pyharness.fx.transforms.invertible import INVERSES, Inverse, domains, inverse
from pyharness.fx.transforms.inverting import NotInvertibleError, invert
from pyharness.fx.transforms.probing import Probed, breakpoint_before, probe
from pyharness.fx.transforms.registry import TRANSFORMS, Transform, TransformError, named, transform
from pyharness.fx.transforms.replacing import replace

__all__ = [
    "INVERSES",
    "TRANSFORMS",
    "Inverse",
    "NotInvertibleError",
    "Probed",
    "Transform",
    "TransformError",
    "breakpoint_before",
    "domains",
    "inline",
    "inverse",
    "invert",
    "named",
    "probe",
    "replace",
    "transform",
]

"""Generated code as real files: materialize, reload, and a tracer that remembers where each node came from."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyharness.fx.backend_report import compile_report
    from pyharness.fx.bisecting.find import bisect
    from pyharness.fx.bisecting.passes import BisectError
    from pyharness.fx.edit import EditError, reload
    from pyharness.fx.exporting import Exported, ExportError, export
    from pyharness.fx.files import MaterializeError
    from pyharness.fx.hashseeds.determinism import determinism
    from pyharness.fx.materializing import Materialized, materialize
    from pyharness.fx.remembered import remember
    from pyharness.fx.tags import tag, tagged, tags_of
    from pyharness.fx.tracer import CannotTraceError, Tracer, trace
    from pyharness.fx.transforms import (
        NotInvertibleError,
        Probed,
        Transform,
        TransformError,
        breakpoint_before,
        inline,
        inverse,
        invert,
        probe,
        replace,
        transform,
    )
    from pyharness.fx.verifying.verify import verify

__all__ = [
    "BisectError",
    "CannotTraceError",
    "EditError",
    "ExportError",
    "Exported",
    "MaterializeError",
    "Materialized",
    "NotInvertibleError",
    "Probed",
    "Tracer",
    "Transform",
    "TransformError",
    "bisect",
    "breakpoint_before",
    "compile_report",
    "determinism",
    "export",
    "inline",
    "inverse",
    "invert",
    "materialize",
    "probe",
    "reload",
    "remember",
    "replace",
    "tag",
    "tagged",
    "tags_of",
    "trace",
    "transform",
    "verify",
]

_HOME = {
    "NotInvertibleError": "transforms",
    "Probed": "transforms",
    "Transform": "transforms",
    "TransformError": "transforms",
    "breakpoint_before": "transforms",
    "inline": "transforms",
    "inverse": "transforms",
    "invert": "transforms",
    "probe": "transforms",
    "replace": "transforms",
    "transform": "transforms",
    "BisectError": "bisecting.passes",
    "bisect": "bisecting.find",
    "EditError": "edit",
    "ExportError": "exporting",
    "Exported": "exporting",
    "export": "exporting",
    "MaterializeError": "files",
    "Materialized": "materializing",
    "CannotTraceError": "tracer",
    "Tracer": "tracer",
    "remember": "remembered",
    "tag": "tags",
    "tagged": "tags",
    "tags_of": "tags",
    "trace": "tracer",
    "compile_report": "backend_report",
    "materialize": "materializing",
    "reload": "edit",
    "determinism": "hashseeds.determinism",
    "verify": "verifying.verify",
}


def __getattr__(name: str) -> Any:
    """Import on first use: the harness loads parts of this package while torch itself is still being imported."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value

"""Generated code as real files: materialize, reload, and a tracer that remembers where each node came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.fx.backend_report import compile_report as compile_report
    from pyharness.fx.bisecting.find import bisect as bisect
    from pyharness.fx.bisecting.passes import BisectError as BisectError
    from pyharness.fx.code.edit import EditError as EditError
    from pyharness.fx.code.edit import reload as reload
    from pyharness.fx.code.files import MaterializeError as MaterializeError
    from pyharness.fx.code.materializing import Materialized as Materialized
    from pyharness.fx.code.materializing import materialize as materialize
    from pyharness.fx.exporting import Exported as Exported
    from pyharness.fx.exporting import ExportError as ExportError
    from pyharness.fx.exporting import export as export
    from pyharness.fx.hashseeds.determinism import determinism as determinism
    from pyharness.fx.tracing.remembered import remember as remember
    from pyharness.fx.tracing.tags import tag as tag
    from pyharness.fx.tracing.tags import tagged as tagged
    from pyharness.fx.tracing.tags import tags_of as tags_of
    from pyharness.fx.tracing.tracer import CannotTraceError as CannotTraceError
    from pyharness.fx.tracing.tracer import Tracer as Tracer
    from pyharness.fx.tracing.tracer import trace as trace
    from pyharness.fx.transforms import NotInvertibleError as NotInvertibleError
    from pyharness.fx.transforms import Probed as Probed
    from pyharness.fx.transforms import Transform as Transform
    from pyharness.fx.transforms import TransformError as TransformError
    from pyharness.fx.transforms import breakpoint_before as breakpoint_before
    from pyharness.fx.transforms import inline as inline
    from pyharness.fx.transforms import inverse as inverse
    from pyharness.fx.transforms import invert as invert
    from pyharness.fx.transforms import probe as probe
    from pyharness.fx.transforms import replace as replace
    from pyharness.fx.transforms import transform as transform
    from pyharness.fx.verifying.kernels.verify import verify_compiled as verify_compiled
    from pyharness.fx.verifying.verify import verify as verify
else:
    from pyharness.host.first_use import on_first_use

    __getattr__, __dir__, __all__ = on_first_use(
        __name__,
        {
            "backend_report": "compile_report",
            "bisecting.find": "bisect",
            "bisecting.passes": "BisectError",
            "exporting": "export Exported ExportError",
            "code.edit": "EditError reload",
            "code.files": "MaterializeError",
            "code.materializing": "materialize Materialized",
            "hashseeds.determinism": "determinism",
            "tracing.remembered": "remember",
            "tracing.tags": "tag tagged tags_of",
            "tracing.tracer": "CannotTraceError trace Tracer",
            "transforms": "breakpoint_before inline inverse invert NotInvertibleError probe Probed replace transform "
            "Transform TransformError",
            "verifying.kernels.verify": "verify_compiled",
            "verifying.verify": "verify",
        },
    )

"""Inside the modules: what flows through them, their vector-Jacobian products, the norms of their Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.inspect.capturing import Capture as Capture
    from pyharness.inspect.capturing import capture as capture
    from pyharness.inspect.norms.jacobian import jacobian_norm as jacobian_norm
    from pyharness.inspect.norms.norm import JacobianNorm as JacobianNorm
    from pyharness.inspect.products import vjp as vjp
    from pyharness.inspect.record import Record as Record
    from pyharness.inspect.statistics import TensorStatistics as TensorStatistics
else:
    from pyharness.host.first_use import on_first_use

    __getattr__, __dir__, __all__ = on_first_use(
        __name__,
        {
            "capturing": "Capture capture",
            "norms.jacobian": "jacobian_norm",
            "norms.norm": "JacobianNorm",
            "products": "vjp",
            "record": "Record",
            "statistics": "TensorStatistics",
        },
    )

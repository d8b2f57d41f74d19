"""Models that AOTInductor compiled: libraries, which torch itself loads."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.loading import libraries_loaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


def around_models(torch: ModuleType, tell: Callable[[], None]) -> None:
    """Call ``tell()`` after each load of such a model."""
    loaders = getattr(getattr(torch, "_C", None), "_aoti", None)  # whatever is called torch
    known = vars(loaders).items() if loaders else ()
    kinds: list[Any] = [each for name, each in known if name.startswith("AOTIModel") and isinstance(each, type)]
    for kind in kinds:
        original = kind.__init__

        def create_and_tell(self: Any, *args: Any, _create: Any = original, **named: Any) -> None:
            _create(self, *args, **named)
            tell()

        kind.__init__ = create_and_tell


@functools.cache
def follow_models() -> None:
    """Have the loads of models be known to who follows loads of libraries."""
    around_models(sys.modules["torch"], libraries_loaded)

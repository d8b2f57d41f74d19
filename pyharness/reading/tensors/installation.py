"""Which torch a program has, by the files beside its libraries."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CORE = "libtorch_cpu.so"


def torch_version_of(core: str, libraries: Iterable[str]) -> str | None:
    """The version of the torch whose ``libtorch_cpu.so`` is ``core``, such as ``2.13.0+cpu``."""
    # Some distributions keep the library apart from the package: then the package's own libraries lead to it.
    in_package = (path for path in libraries if "/torch/" in path)
    return version_beside(core) or next(filter(None, map(version_beside, in_package)), None)


@lru_cache
def version_beside(library: str) -> str | None:
    """Version of the torch that ``library`` belongs to: of a Python package, or of a C++ distribution."""
    for root in Path(library).parents[:2]:
        for name, pattern in (("version.py", r"__version__ = '([^']+)'"), ("build-version", r"(\d\S+)")):
            try:
                found = re.search(pattern, (root / name).read_text(encoding="utf-8"))
            except OSError:
                continue
            if found:
                return found[1]
    return None

"""Where maps of kernels are kept: beside torch's cache, by the digest of the wrapper that calls them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_regular
from pyharness.host.state import StateError, state_dir, write_private
from pyharness.model.frozen import frozen
from pyharness.model.kernel_map import KernelMaps, digest_of, load
from pyharness.model.text.json_lines import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.kernel_map import KernelMap

_FOLDER = "kernels"
_CALLERS = ".callers.json"
"""Beside the maps: by the digest of a kernel's file, the digests of the wrappers that call it."""
_MOST_CALLERS = 64
_BINDINGS = "\n// Python bindings to call"
"""Where torch's own part of a kernel's file begins."""


@frozen
class Kernel:
    """A kernel that a program has loaded."""

    name: str
    file: str | None
    """Path of the ``.cpp``; ``None`` where torch wrote none."""
    source: str
    """The part of the file that was generated for it."""


@frozen
class Wrapper:
    """The code of a graph that a program has loaded."""

    file: str
    kernels: tuple[Kernel, ...]
    maps: KernelMaps | None
    """``None`` where torch took the code from its cache, and nobody made a map when it was generated."""

    def map_of(self, kernel: Kernel) -> KernelMap | None:
        """The map of one of ``kernels``; ``None`` where there is none that fits its text."""
        digest = digest_of(kernel.source)
        kernels = self.maps.kernels if self.maps else ()
        return next((each for each in kernels if each.name == kernel.name and each.digest == digest), None)


def save(wrapper: str, maps: KernelMaps) -> None:
    """Keep the maps of a wrapper's text; ``StateError`` or ``OSError`` where that cannot be."""
    write_private(state_dir(_FOLDER) / f"{digest_of(wrapper)}.json", maps.dump().encode())


def maps_of(wrapper: str) -> KernelMaps | None:
    """What was kept of a wrapper's text; ``None`` where nothing was, or it cannot be read."""
    return _read(digest_of(wrapper))


def remember(file: str, wrapper: str) -> None:
    """Keep that a wrapper calls the kernel in ``file``: a thread that runs it need not have Python on its stack."""
    with suppress(OSError, StateError, UnicodeError):
        path = _callers(Path(file).read_text(encoding="utf-8"))
        known = _digests(path)
        digest = digest_of(wrapper)
        if digest not in known[:1]:
            others = [each for each in known if each != digest]
            write_private(path, json.dumps({"wrappers": [digest, *others][:_MOST_CALLERS]}).encode())


def kept_at() -> int:
    """When a map was kept last, in nanoseconds: what was read before may be old; 0 where there is none."""
    try:
        return (state_dir(_FOLDER)).stat().st_mtime_ns
    except (OSError, StateError):
        return 0


def kernels_in(file: str) -> Iterator[tuple[str, KernelMaps, KernelMap]]:
    """The maps of the kernel in ``file``, the latest first: each with the digest of a wrapper that calls it."""
    with suppress(OSError, StateError, UnicodeError):
        text = Path(file).read_text(encoding="utf-8")
        digest = digest_of(text.partition(_BINDINGS)[0])
        for wrapper in _digests(_callers(text)):
            maps = _read(wrapper)
            if maps is not None:
                yield from ((wrapper, maps, kernel) for kernel in maps.kernels if kernel.digest == digest)


def _callers(text: str) -> Path:
    return state_dir(_FOLDER) / f"{digest_of(text)}{_CALLERS}"


def _digests(path: Path) -> list[str]:
    try:
        data = parsed(read_regular(str(path)).decode()).get("wrappers")
    except (OSError, ValueError):
        return []
    return [each for each in data if isinstance(each, str)] if isinstance(data, list) else []


def _read(digest: str) -> KernelMaps | None:
    try:
        return load(read_regular(str(state_dir(_FOLDER) / f"{digest}.json")).decode())
    except (OSError, StateError, ValueError, KeyError, TypeError):
        return None

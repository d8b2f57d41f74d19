"""Where maps of kernels are kept: beside torch's cache, by the digest of the wrapper that calls them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_regular
from pyharness.host.state import StateError, state_dir, write_private
from pyharness.model.frozen import frozen
from pyharness.model.kernel_map import KernelMaps, digest_of, load
from pyharness.model.kernel_text import defined_in, parameters
from pyharness.model.text.json_lines import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.kernel_map import KernelLine, KernelMap
    from pyharness.model.kernel_text import Parameter

_FOLDER = "kernels"
_CALLERS = ".callers.json"
"""Beside the maps: by the digest of a kernel's file, the digests of the wrappers that call it."""
_MOST_CALLERS = 64
_BINDINGS = "\n// Python bindings to call"
"""Where torch's own part of a kernel's file begins."""
_COMMANDS = "\n// Compile cmd\n"
"""Where the commands begin that AOTInductor puts behind a file when it is compiled, again each time."""
_KERNELS = ".kernel.cpp"
_SUFFIXES = (".main.cpp", ".optimized.cpp", ".wrapper.cpp", _KERNELS)
"""How torch names files of C++, behind a hash: those that Python loads, then AOTInductor's."""
_OLDER = re.compile(r"(?:^|/)c[a-z2-7]{51}\.cpp$")
"""How torch 2.6 and 2.7 name them: the hash is all."""


@frozen
class Kernel:
    """A kernel that a program has loaded."""

    name: str
    file: str | None
    """Path of the ``.cpp``; ``None`` where torch wrote none."""
    source: str
    """The part of the file that was generated for it, where a map counts lines from 1."""
    before: int = 0
    """Lines of the file before that part."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it takes, in order."""
        return parameters(self.source, self.name) or parameters(self.source)


@frozen
class Wrapper:
    """The code of a graph that a program has loaded, or is about to."""

    file: str
    """Path of the wrapper, which is Python or C++."""
    kernels: tuple[Kernel, ...]
    maps: KernelMaps | None
    """``None`` where torch took the code from its cache, and nobody made a map when it was generated."""

    @property
    def kernel_files(self) -> tuple[str, ...]:
        """The files of its kernels, as far as torch wrote any."""
        return tuple(dict.fromkeys(each.file for each in self.kernels if each.file))

    def map_of(self, kernel: Kernel) -> KernelMap | None:
        """The map of one of ``kernels``; ``None`` where there is none that fits its text."""
        digest = digest_of(kernel.source)
        kernels = self.maps.kernels if self.maps else ()
        return next((each for each in kernels if each.name == kernel.name and each.digest == digest), None)


def is_cxx(file: str) -> bool:
    """Whether a file is called as torch calls one of generated C++."""
    return file.endswith(_SUFFIXES) or _OLDER.search(file) is not None


def may_have_kernels(wrapper: str) -> tuple[str, ...]:
    """The files that kernels of a wrapper in C++ may be in: its own and, as AOTInductor has it, others beside it."""
    try:
        beside = sorted(map(str, Path(wrapper).parent.glob(f"*{_KERNELS}")))
    except OSError:
        beside = []
    return (wrapper, *beside)


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


def wrappers_of(text: str) -> Iterator[tuple[str, KernelMaps]]:
    """The maps of the wrappers that call kernels in a file of this text, the latest first, each with its digest."""
    with suppress(StateError):
        for digest in _digests(_callers(text)):
            if (maps := _read(digest)) is not None:
                yield digest, maps


def kept_at() -> int:
    """When a map was kept last, in nanoseconds: what was read before may be old; 0 where there is none."""
    try:
        return (state_dir(_FOLDER)).stat().st_mtime_ns
    except (OSError, StateError):
        return 0


def kernels_in(file: str) -> Iterator[tuple[str, KernelMaps, KernelMap]]:
    """The maps of the kernels in ``file``, the latest first: each with the digest of a wrapper that calls it."""
    with suppress(OSError, UnicodeError):
        text = Path(file).read_text(encoding="utf-8")
        for wrapper, maps in wrappers_of(text):
            yield from ((wrapper, maps, kernel) for kernel in _there(maps, text))


def _there(maps: KernelMaps, text: str) -> Iterator[KernelMap]:
    """The kernels that a file has, with the lines that they have there."""
    if not maps.is_cxx:
        digest = digest_of(text.partition(_BINDINGS)[0])
        yield from (kernel for kernel in maps.kernels if kernel.digest == digest)
        return
    known = {kernel.name: kernel for kernel in maps.kernels}
    for found in defined_in(text):
        kernel = known.get(found.name)
        if kernel and kernel.digest == digest_of(found.text):
            uses = (replace(use, lines=_moved(use.lines, found.line - 1)) for use in kernel.uses)
            yield replace(kernel, uses=tuple(uses))


def _moved(lines: tuple[KernelLine, ...], more: int) -> tuple[KernelLine, ...]:
    return tuple(replace(each, line=each.line + more) for each in lines)


def _callers(text: str) -> Path:
    return state_dir(_FOLDER) / f"{digest_of(text.partition(_COMMANDS)[0])}{_CALLERS}"


def _digests(path: Path) -> list[str]:
    try:
        data = parsed(read_regular(str(path)).decode()).get("wrappers")
    except (OSError, ValueError):
        return []
    return [each for each in data if isinstance(each, str)] if isinstance(data, list) else []


def _read(digest: str) -> KernelMaps | None:
    try:
        path = state_dir(_FOLDER) / f"{digest}.json"
        found = path.stat()
        return _loaded(str(path), found.st_mtime_ns, found.st_ino)
    except (OSError, StateError, ValueError, KeyError, TypeError):
        return None


@lru_cache(maxsize=16)
def _loaded(path: str, _modified: int, _inode: int) -> KernelMaps:
    """The maps in a file: each kernel of a wrapper asks for them all."""
    return load(read_regular(path).decode())

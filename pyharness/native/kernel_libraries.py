"""Kernels that a wrapper in C++ calls: the libraries that have them, which line calls, and what a kernel takes.

Neither is Python, so calls are seen by the engine (csrc/engine/kernels/led_calls.h), as long as somebody wants to.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.host.mapped_code import mapped_code
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.kernel_files import Kernel, Wrapper, is_cxx, kept_at, wrappers_of
from pyharness.model.kernel_frames import whole_text
from pyharness.model.kernel_text import calls_in_cxx, defined_in
from pyharness.model.results.trace import Call
from pyharness.model.user_code import is_user_binary
from pyharness.model.wrapper_map import map_of_cxx
from pyharness.reading.binaries.elf import open_elf
from pyharness.reading.functions.places_at import places_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.model.kernel_map import KernelMaps
    from pyharness.model.source_map import MappedLine
    from pyharness.reading.binaries.elf import Elf

WORDS = 64
"""What a kernel may take on the stack: more than torch has its kernels take."""
_AT = "@"
"""Behind a kernel's name, where it stands for one line that calls: ``cpp_fused_add_0@7f01...``."""


@frozen
class Site:
    """A line of a wrapper that calls a kernel."""

    kernel: str
    file: str
    line: int
    function: str

    @cached_property
    def nodes(self) -> tuple[MappedLine, ...]:
        """What the call computes, in the order of the graph, the result last; empty where there is no map."""
        found = map_of_cxx(self.file)
        return tuple(each for each in found.lines if each.line == self.line) if found else ()

    def call(self, stack: Sequence[Call]) -> Call:
        """The frame of the wrapper, which Python does not see, upon ``stack``, which called it."""
        path, result = stack[0].module if stack else None, self.nodes[-1] if self.nodes else None
        module = path
        if result and result.module is not None:
            module = ".".join(part for part in (path, result.module) if part)
        return Call(self.file, self.line, self.function, module, result.node if result else None)


class KernelLibrary:
    """A library of inductor's that this process has loaded."""

    def __init__(self, path: str, addresses: dict[str, int]) -> None:
        self.path = path
        self.addresses = addresses
        """Where each of its kernels is."""
        self._sites: dict[int, Site | None] = {}

    @cached_property
    def _elf(self) -> Elf | None:
        try:
            return open_elf(self.path)
        except (HarnessError, OSError):
            return None

    @cached_property
    def _bias(self) -> int:
        """What the addresses of this process are beyond those of the file."""
        name, address = next(iter(self.addresses.items()))
        return address - ((self._elf.symbol(name) if self._elf else None) or 0)

    def _place(self, address: int) -> tuple[str, int, str] | None:
        """The line of generated C++ that an address of this process belongs to: file, line and function."""
        places = places_at(self._elf, address - self._bias) if self._elf else ()
        known = ((each.file, each.line, each.function) for each in places if each.file and each.line)
        return next((each for each in known if is_cxx(each[0])), None)

    @cached_property
    def _source(self) -> tuple[str, str]:
        """Path and text of what torch built it of, which lies beside it; empty where it does not, as in a package."""
        path = str(Path(self.path).with_suffix(".cpp"))
        return (path, whole_text(path)) if is_cxx(path) else ("", "")

    def _only_call(self, kernel: str) -> tuple[str, int, str] | None:
        """The only line of the wrapper that calls a kernel, without debug information."""
        path, text = self._source
        function, lines = calls_in_cxx(text, kernel)
        return (path, lines[0], function) if len(lines) == 1 else None

    def site(self, kernel: str, back: int) -> Site | None:
        """What called the kernel, by the address behind the call; ``None`` where nobody knows."""
        if back not in self._sites:
            place = self._place(back - 1) or self._only_call(kernel)
            self._sites[back] = Site(kernel, *place) if place else None
        return self._sites[back]

    def wrapper(self, site: Site, kernel: Kernel) -> Wrapper:
        """The wrapper that calls a kernel there."""
        return Wrapper(site.file, (kernel,), _maps_of(site.file, kept_at()))

    def kernel(self, name: str) -> Kernel | None:
        """A kernel with its text; ``None`` where the file is gone."""
        place = self._place(self.addresses[name])
        path, text = (place[0], whole_text(place[0])) if place else self._source
        found = (Kernel(each.name, path, each.text, each.line - 1) for each in defined_in(text))
        return next((each for each in found if each.name == name), None)


@lru_cache(maxsize=64)
def _maps_of(wrapper: str, _kept: int) -> KernelMaps | None:
    """What is kept of a wrapper in C++, since a map was kept last."""
    return next((maps for _, maps in wrappers_of(whole_text(wrapper)) if maps.is_cxx), None)


class KernelLibraries:
    """From ``begin`` to ``end``, each library is taken when it is loaded, before it runs; ``lead`` begins to see it."""

    def __init__(self, engine: Any, lead: Callable[[KernelLibrary], Any]) -> None:
        self._engine = engine
        self._lead = lead
        self._seen: set[str] = set()
        self._led: list[Any] = []
        self.libraries: list[KernelLibrary] = []

    def begin(self) -> None:
        """Take those that are loaded, and those that will be."""
        from pyharness.fx.inductor.loading import LIBRARIES
        from pyharness.fx.inductor.models import follow_models

        follow_models()
        LIBRARIES.append(self._scan)
        self._scan()

    def end(self) -> None:
        """Wrappers call their kernels themselves again."""
        from pyharness.fx.inductor.loading import LIBRARIES

        if self._scan in LIBRARIES:
            LIBRARIES.remove(self._scan)
        for each in self._led:
            each.end()
        self._led.clear()
        self._seen.clear()

    def site(self, kernel: str, back: int) -> Site | None:
        """The line that called, in whichever library it is."""
        found = (each.site(kernel, back) for each in self.libraries if kernel in each.addresses)
        return next((site for site in found if site), None)

    def called(self, name: str) -> Site | None:
        """The line that the engine has named so; ``None`` for every other name, and where it is not known."""
        kernel, _, back = name.partition(_AT)
        return self.site(kernel, int(back, 16)) if back and self._has(kernel) else None

    def plain(self, name: str) -> str:
        """A kernel's name without the line that calls; every other name as it is."""
        kernel, _, back = name.partition(_AT)
        return kernel if back and self._has(kernel) else name

    def _has(self, kernel: str) -> bool:
        return any(kernel in each.addresses for each in self.libraries)

    def _scan(self) -> None:
        for path in mapped_code():
            if path in self._seen:
                continue
            self._seen.add(path)
            if path.startswith("/") and is_user_binary(path) and (addresses := self._engine.kernels_in(path)):
                library = KernelLibrary(path, addresses)
                self.libraries.append(library)
                self._led.append(self._lead(library))

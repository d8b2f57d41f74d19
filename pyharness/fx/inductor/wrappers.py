"""Wrappers: the Python that inductor writes for a graph, which defines its kernels and calls them in order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.loading import libraries_loaded, loaded
from pyharness.fx.inductor.private import replaced
from pyharness.fx.inductor.statements import OF_TORCH
from pyharness.model.kernel_files import Kernel, Wrapper, maps_of, remember
from pyharness.model.kernel_map import WrapperCall
from pyharness.model.kernel_text import cxx_sources, defined_in, kernels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.fx.inductor.captured import Captured
    from pyharness.fx.inductor.private import Private
    from pyharness.model.kernel_map import KernelMap, KernelMaps

_CALL = re.compile(r"\s*(\w+)\(")
_OF_TORCH = re.compile(
    rf"\s*(?:(\w+ = )?({'|'.join(map(re.escape, OF_TORCH))})"
    r"|(?:AOTI_TORCH_ERROR_CODE_CHECK\()?aoti_torch_(cpu_\w+|\w+_out|call_dispatcher|proxy_executor_call_function)\()"
)
"""A line that computes a node by one of torch's own functions, in Python and in C++."""


def calls_in(wrapper: str, kernels: Sequence[KernelMap], contexts: Sequence[tuple[int, str]]) -> Iterator[WrapperCall]:
    """The lines of a wrapper that compute nodes.

    ``contexts`` are lines with the node that torch was about to write when it came there: a call of torch's own is of
    the latest. Kernels are written later, when they are whole, so theirs are known by their uses.
    """
    uses = {kernel.name: iter(kernel.uses) for kernel in kernels}
    for number, text in enumerate(wrapper.split("\n"), 1):
        called = _CALL.match(text)
        if called and called[1] in uses:
            if use := next(uses[called[1]], None):
                yield WrapperCall(number, use.nodes)
        elif _OF_TORCH.match(text) and (before := [node for line, node in contexts if line <= number]):
            yield WrapperCall(number, (before[-1],))


class _InCxx:
    """A wrapper in C++ until its files are written."""

    def __init__(self, text: str, maps: KernelMaps | None, sources: Sequence[str]) -> None:
        self._text = text
        """What its maps are kept under."""
        self._maps = maps
        self._sources = sources
        """The wrapper, and the kernels where they are apart."""
        self._files: dict[str, str] = {}
        """The text of each file, by its path."""

    def take(self, content: str, path: str) -> bool:
        """Whether all is written now that a file is."""
        if any(source in content for source in self._sources if source.strip()):
            self._files[path] = content
            remember(path, self._text)
        return all(any(source in text for text in self._files.values()) for source in self._sources)

    def wrapper(self) -> Wrapper:
        """What is loaded next."""
        main = next(path for path, text in self._files.items() if self._sources[0] in text)
        kernels = (
            Kernel(each.name, path, each.text, each.line - 1)
            for path, text in self._files.items()
            for each in defined_in(text)
        )
        return Wrapper(main, tuple(kernels), self._maps)


class Wrappers:
    """Follows wrappers as they are loaded, just generated or from torch's cache."""

    def __init__(
        self,
        private: Private,
        captured: Captured,
        made: Callable[[str, KernelMaps], None],
        loaded: Callable[[Wrapper], None],
    ) -> None:
        self._private = private
        self._captured = captured
        self._made = made
        self._loaded = loaded
        self._written: list[tuple[str, str]] = []
        """Text and path of each file of C++ since the wrapper that is loaded began."""
        self._text = ""
        """The wrapper that is being loaded, if it has a map."""
        self._defined: list[tuple[str, str]] = []
        """Name and text of its kernels."""
        self._cxx: _InCxx | None = None
        """What is C++ of it, or of what is compiled ahead of time."""

    def ahead_of_time(self, wrapper: str, kernels: str) -> None:
        """Take what has become C++ alone, and is written to files next."""
        self._cxx = _InCxx(wrapper, maps_of(wrapper), [wrapper, kernels])

    def install(self) -> None:
        """Wrap the functions of torch's that write files and load wrappers."""
        replaced(self._private.codecache.PyCodeCache, "load_by_key_path", self._load)
        replaced(self._private.codecache, "write", self._write)

    def _write(self, original: Callable[..., Any], content: Any, extension: str, *args: Any, **named: Any) -> Any:
        """A kernel's file gets its map before it is compiled and loaded: a debugger hears of the library at once."""
        key, path = original(content, extension, *args, **named)
        if extension.endswith("cpp") and isinstance(content, str):
            self._written.append((content, path))
            if self._cxx and self._cxx.take(content, path):
                self._loaded(self._cxx.wrapper())
                self._cxx = None
            elif any(content.startswith(source) for _, source in self._defined):
                remember(path, self._text)
        return key, path

    def _load(self, original: Callable[..., Any], cls: Any, key: str, path: str, *args: Any, **named: Any) -> Any:
        self._written.clear()
        text = text_of(path)
        defined, in_cxx = kernels_of(text), [source for _, source in cxx_sources(text)]
        maps = self._maps(text) if defined or in_cxx else None
        self._text, self._defined = (text, defined) if maps else ("", [])
        self._cxx = _InCxx(text, maps, in_cxx) if in_cxx and maps else None
        try:
            module = original(cls, key, path, *args, **named)
        finally:
            self._text, self._defined, self._cxx = "", [], None
        if defined:
            kernels = tuple(Kernel(name, self._file(source), source) for name, source in defined)
            wrapper = Wrapper(path, kernels, maps)
            self._loaded(wrapper)
            loaded(wrapper, module)
        elif in_cxx:
            libraries_loaded()
        return module

    def _maps(self, text: str) -> KernelMaps | None:
        """What was kept of the text, with the lines that the user's file has now."""
        kept = maps_of(text)
        if kept is None:
            return None
        maps = self._captured.fresh(kept)
        if maps != kept:
            self._made(text, maps)
        return maps

    def _file(self, source: str) -> str | None:
        """Where a kernel's text was written, which torch puts Python's bindings behind."""
        return next((path for content, path in self._written if content.startswith(source)), None)


def text_of(path: str) -> str:
    """A wrapper's text; empty where it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  (as Python reads it)
            return file.read()
    except (OSError, UnicodeError):
        return ""

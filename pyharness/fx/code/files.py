"""The files of generated code: their names, how they are written, and how FX is made to compile them.

FX asks ``graph._co_fields`` for the file name of the code that it is about to compile. ``_Name`` answers that question:
by then the text exists, so its file can be named by its content, and text is generated and compiled only once. The
attribute is private. Up to torch 2.9 FX makes the file name a part of another, with a line and a function; where a
torch does that, or does not ask, the text is compiled once more under its file's name.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pyharness.fx.code.mapping import lines_of
from pyharness.fx.code.old_files import forget_old, keep
from pyharness.host.regular_file import read_regular
from pyharness.host.state import StateError, state_dir, temporary_dir, write_private
from pyharness.model.errors import HarnessError
from pyharness.model.source_map import SUFFIX, SourceMap, dump_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch.fx import GraphModule

    from pyharness.model.source_map import MappedLine

Result = TypeVar("Result")


class MaterializeError(HarnessError):
    """Generated code could not be given a file."""


@dataclass(frozen=True)
class GeneratedFile:
    """A file that holds exactly the text of one ``forward``, and its map."""

    path: str
    text: str
    source_map: SourceMap


LISTENERS: list[Callable[[GeneratedFile], None]] = []
"""Called for every file before its code can run."""

FILES: weakref.WeakKeyDictionary[GraphModule, GeneratedFile] = weakref.WeakKeyDictionary()
"""What each living GraphModule runs."""

NAME = "pyharness_name"
"""In ``GraphModule.meta``: a name of its own for a graph whose class says nothing (``GraphModule``, ``<lambda>``)."""

GENERATED: set[str] = set()
"""Path of every file that was written."""

WATCHERS: list[Callable[[GraphModule, GeneratedFile], None]] = []
"""Called as ``LISTENERS`` are, with the module."""

_ASKED_BY_OLDER = {"co_firstlineno": 1, "co_name": "forward"}
"""What FX reads beside the file name up to torch 2.9, whether it is there or not."""
_tidied: set[Path] = set()
_writing = threading.Lock()
_MAXIMUM_NAME = 60


def recompiled(module: GraphModule, recompile: Callable[[], Result], folder: Path | None) -> Result:
    """``recompile()`` so that the code of ``module`` gets a file in ``folder``, the private one when ``None``."""
    graph = module.graph
    before = getattr(graph, "_co_fields", None)
    name = _Name(module, folder)
    graph._co_fields = name  # noqa: SLF001  (see above)
    try:
        result = recompile()
    finally:
        graph._co_fields = before if before is not None else {}  # noqa: SLF001
    if type(module).forward.__code__.co_filename != name.file.path:
        type(module).forward = compiled(name.file, type(module).forward.__globals__)
    linecache.cache.pop(name.file.path, None)  # torch put its own copy there, which would never notice an edit
    announce(module, name.file)
    return result


def name_of(module: GraphModule) -> str:
    """What the files of ``module`` are named after: its class, or what ``materialize`` was told."""
    return str((getattr(module, "meta", None) or {}).get(NAME) or type(module).__name__)


def is_followed(module: GraphModule) -> bool:
    """Whether a ``recompile`` that is running already gives ``module`` a file."""
    return isinstance(getattr(module.graph, "_co_fields", None), _Name)


def announce(module: GraphModule, file: GeneratedFile) -> None:
    """Note, and tell everyone who asked, that ``module`` is about to run ``file``."""
    FILES[module] = file
    for listener in LISTENERS:
        listener(file)
    for watcher in WATCHERS:
        watcher(module, file)


def compiled(file: GeneratedFile, names: Mapping[str, Any]) -> Callable[..., Any]:
    """``forward`` of ``file``, its globals those of ``names``."""
    namespace = dict(names)
    exec(compile(file.text, file.path, "exec", dont_inherit=True), namespace)  # noqa: S102  (the code torch would run)
    forward: Callable[..., Any] = namespace.pop("forward")
    return forward


def write(text: str, graph: str, lines: tuple[MappedLine, ...], folder: Path | None, path: str = "") -> GeneratedFile:
    """Write ``text`` and its map; nothing is written where both are there already.

    The name holds the class and a hash of text and map, so that it is the same in every run, and two models with the
    same code but other sources do not share a map. Where the private folder cannot be written, a temporary one takes
    its place. ``path`` writes to that file instead.
    """
    try:
        dumped = dump_lines(lines)
        if path:
            return _written(Path(path), text, graph, lines, dumped)
        name = _file_name(graph, text, dumped)
        try:
            return _written(_folder(folder) / name, text, graph, lines, dumped)
        except (OSError, StateError):
            if folder is not None:
                raise
            return _written(temporary_dir() / name, text, graph, lines, dumped)
    except (OSError, UnicodeError, StateError) as error:
        why = error.message.removesuffix(".") if isinstance(error, StateError) else str(error)
        raise MaterializeError(
            f"the generated code of {graph} has no file: {why}", "Set PYHARNESS_HOME to a folder that you can write."
        ) from error


def _written(path: Path, text: str, graph: str, lines: tuple[MappedLine, ...], dumped: str) -> GeneratedFile:
    source_map = SourceMap(str(path), graph, lines)
    with _writing:
        _write_once(Path(f"{path}{SUFFIX}"), source_map.dump(dumped))
        _write_once(path, text)
    GENERATED.add(str(path))
    return GeneratedFile(str(path), text, source_map)


class _Name(dict[str, Any]):
    """Answers FX's question for a file name, and writes the file when asked."""

    def __init__(self, module: GraphModule, folder: Path | None) -> None:
        super().__init__(co_filename="")  # from torch 2.10 on, FX takes it as it is if no line and name are beside it
        self._module = module
        self._folder = folder
        self._file: GeneratedFile | None = None

    def __getitem__(self, key: str) -> Any:
        return self.file.path if key == "co_filename" else super().__getitem__(key)

    def __missing__(self, key: str) -> Any:
        return _ASKED_BY_OLDER[key]

    @property
    def file(self) -> GeneratedFile:
        """The file of the module's present text."""
        text = self._module._code  # noqa: SLF001  (`code` would recompile a lazy module, which asks again)
        if self._file is None or self._file.text is not text:
            lines = lines_of(self._module, text, GENERATED)
            self._file = write(text, name_of(self._module), lines, self._folder)
        return self._file


def _folder(folder: Path | None) -> Path:
    if folder is None:
        return _private_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder.absolute()


def _private_folder() -> Path:
    folder = state_dir("generated").absolute()
    if folder not in _tidied:
        _tidied.add(folder)
        forget_old(folder)
    return folder


def _file_name(graph: str, text: str, dumped: str) -> str:
    content = hashlib.sha256(f"{text}\0{dumped}".encode()).hexdigest()
    name = re.sub(r"[^0-9A-Za-z_]+", "_", graph)[:_MAXIMUM_NAME].strip("_") or "forward"
    return f"{name}_{content[:16]}.py"


def _write_once(path: Path, text: str) -> None:
    data = text.encode()
    try:
        if read_regular(path) == data:
            keep(path)
            return
        if path.suffix == ".py":  # someone edited it: keep their work beside the file
            path.replace(path.with_suffix(".edited.py"))
    except FileNotFoundError:
        pass
    write_private(path, data)

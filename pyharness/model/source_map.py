"""Source map of a generated file: generated line ↔ FX node ↔ module path ↔ the user's line ↔ op."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pyharness.host.regular_file import read_regular
from pyharness.host.state import StateError, state_dir
from pyharness.model.frames import FxPlace
from pyharness.model.frozen import frozen
from pyharness.model.text.json_lines import parsed

WRAPPERS = "kernels"
"""The part of our folder with the maps of what inductor generated."""
_WRAPPER = re.compile(r"/c[a-z2-7]{51}\.py$")
"""How inductor names the Python that it generates: by a hash of the text."""
SUFFIX = ".map.json"
"""A map lies beside its file: ``forward_1a2b.py`` has ``forward_1a2b.py.map.json``."""


@frozen
class MappedLine:
    """One statement of a generated file."""

    line: int
    """1-based line of the generated file; for an input without a statement of its own, the first line that has it."""
    node: str
    op: str
    """``fx.Node.op``: placeholder, call_function, call_method, call_module, get_attr or output."""
    target: str
    """Readable target, e.g. ``torch.ops.pyharness.rms_norm.default`` or ``blocks.0.norm``."""
    module: str | None
    origin_file: str | None
    origin_line: int | None
    last_line: int | None = None
    """Last line of the statement, where it has more than one."""
    captured: tuple[str, ...] = ()
    """What Dynamo's graph calls the node that it is a part of, where inductor took that apart: ``gelu`` for ``erf``."""

    @property
    def place(self) -> FxPlace:
        """The part that a frame shows."""
        origin = f"{self.origin_file}:{self.origin_line}" if self.origin_file else None
        return FxPlace(self.node, self.module, origin)


@frozen
class SourceMap:
    """The map of one generated file, ``lines`` in order of line."""

    file: str
    graph: str
    """Class name of the GraphModule."""
    lines: tuple[MappedLine, ...]

    def at(self, line: int) -> MappedLine | None:
        """The statement on ``line``, or ``None``."""
        return self._by_line.get(line)

    def dump(self, lines: str | None = None) -> str:
        """JSON text, which ``load`` reads back; ``lines`` is what ``dump_lines`` made of this map's, to save time."""
        head = json.dumps({"version": 1, "file": self.file, "graph": self.graph})
        return f'{head[:-1]}, "lines": {dump_lines(self.lines) if lines is None else lines}}}'

    @cached_property
    def _by_line(self) -> dict[int, MappedLine]:
        inner = {line: each for each in self.lines for line in range(each.line, (each.last_line or each.line) + 1)}
        return inner | {each.line: each for each in self.lines}


def dump_lines(lines: tuple[MappedLine, ...]) -> str:
    """JSON text of the statements alone: the part of a map that does not depend on where its file lies."""
    return json.dumps([_dump_line(each) for each in lines])


def _dump_line(line: MappedLine) -> dict[str, Any]:
    """``captured`` is of few files: the names of the others are digests of maps without it."""
    return {name: value for name, value in vars(line).items() if name != "captured" or value}


def _load_line(data: dict[str, Any]) -> MappedLine:
    return MappedLine(**{**data, "captured": tuple(data.get("captured", ()))})


def load(text: str) -> SourceMap:
    """Read what ``SourceMap.dump`` wrote; ``ValueError`` where it is something else."""
    data = parsed(text)
    if data.get("version") != 1:
        raise ValueError("not a pyharness source map of version 1")
    return SourceMap(data["file"], data["graph"], tuple(map(_load_line, data["lines"])))


@lru_cache(maxsize=256)
def _load_file(path: str, _modified: int) -> SourceMap | None:
    try:
        return load(read_regular(path).decode())
    except (OSError, ValueError, KeyError, TypeError):
        return None


def map_of(file: str) -> SourceMap | None:
    """The map that lies beside ``file``, or ``None``; cached until the map file changes."""
    path = path_of(file)
    try:
        modified = Path(path).stat().st_mtime_ns
    except OSError:
        return None
    return _load_file(path, modified)


def is_wrapper(file: str) -> bool:
    """Whether a file of Python is called as torch calls the wrappers that inductor writes."""
    return bool(_WRAPPER.search(file))


def is_generated(file: str) -> bool:
    """Whether torch or pyharness wrote the file as it generated code."""
    return is_wrapper(file) or map_of(file) is not None


def path_of(file: str) -> str:
    """Where the map of ``file`` lies: beside it, and in our own folder for a file of torch's cache."""
    if is_wrapper(file):
        with suppress(StateError):
            return str(state_dir(WRAPPERS) / f"{Path(file).name}{SUFFIX}")
    return file + SUFFIX


def place_of(file: str | None, line: int | None) -> FxPlace | None:
    """What FX knows of ``file:line``, or ``None`` when that is no generated line."""
    if not file or not line or not file.endswith(".py"):
        return None
    source_map = map_of(file)
    entry = source_map.at(line) if source_map else None
    return entry.place if entry else None

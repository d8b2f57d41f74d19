"""Gives the generated ``forward`` of a GraphModule, and of those inside it, a real file with a source map."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule

from pyharness.fx.code import files
from pyharness.fx.code.exported import runnable
from pyharness.model.source_map import SUFFIX

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from torch.export import ExportedProgram

    from pyharness.model.source_map import SourceMap


@dataclass(frozen=True)
class Materialized:
    """The file of one ``forward``."""

    file: Path
    source_map: SourceMap
    nested: Mapping[str, Materialized] = field(default_factory=dict)
    """GraphModules inside this one, by module path."""
    module: GraphModule | None = field(default=None, compare=False, repr=False)
    """What runs the file; of an exported program, the module to call."""

    @property
    def map_file(self) -> Path:
        """Where the source map lies: beside the file."""
        return Path(f"{self.file}{SUFFIX}")


def materialize(
    module: GraphModule | ExportedProgram, folder: str | os.PathLike[str] | None = None, *, name: str = ""
) -> Materialized:
    """Give ``module.forward`` a file in ``folder`` (the private state folder when ``None``), nested GraphModules too.

    Where the private folder cannot be written, the file lies in a temporary one, which goes with the process.

    The module is recompiled, and from now on every ``recompile()`` of it gives the new code a file of its own. A
    deep copy or an unpickled one starts without. An ``ExportedProgram`` has no code that runs: its ``.module()`` is
    made, materialized, and is ``Materialized.module`` of the answer. Files are named after ``name``, or after the
    module's class. Raises ``MaterializeError`` where the file cannot be written.
    """
    if not isinstance(module, GraphModule):
        module, name = runnable(module, name)
    inside = {path: each for path, each in module.named_modules() if isinstance(each, GraphModule)}
    for path, each in inside.items():
        files.FILES.pop(each, None)
        if name:
            each.meta[files.NAME] = " ".join(filter(None, [name, path]))
        _follow(each, Path(folder) if folder is not None else None)
    try:
        for each in inside.values():  # a parent's recompile already does those that are its direct children
            if each not in files.FILES:
                getattr(each, _door(each))()
    except files.MaterializeError:
        for each in inside.values():
            _leave(each)
        raise
    nested = {path: _materialized(each) for path, each in inside.items() if each is not module}
    return _materialized(module, nested)


def _materialized(module: GraphModule, nested: Mapping[str, Materialized] | None = None) -> Materialized:
    file = files.FILES[module]
    return Materialized(Path(file.path), file.source_map, nested or {}, module)


def _follow(module: GraphModule, folder: Path | None) -> None:
    """Put our step around ``recompile`` on the class that torch makes for each single GraphModule."""
    cls = type(module)
    name = _door(module)

    def recompile(self: GraphModule) -> Any:
        return files.recompiled(self, getattr(super(cls, self), name), folder)

    setattr(cls, name, recompile)


def _leave(module: GraphModule) -> None:
    """Take our step away again, so that a module that cannot have a file runs as torch made it."""
    cls = type(module)
    if _door(module) in vars(cls):
        delattr(cls, _door(module))


def _door(module: GraphModule) -> str:
    """The method that really compiles; a lazy GraphModule's ``recompile`` only notes that it must."""
    return "_real_recompile" if hasattr(module, "_real_recompile") else "recompile"

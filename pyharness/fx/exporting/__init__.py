"""Writes a GraphModule as a package of readable Python with its parameters beside it."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.fx import GraphModule

from pyharness.fx.exporting.error import ExportError
from pyharness.fx.exporting.package import Package
from pyharness.fx.exporting.structure import state_of
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.package_folder import check_package_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["ExportError", "Exported", "export"]


@dataclass(frozen=True)
class Exported:
    """The package that was written."""

    folder: Path
    name: str
    """The class in it: ``from FOLDER import NAME``."""
    files: tuple[str, ...]


def export(
    module: GraphModule, folder: str | os.PathLike[str], *, imports: Sequence[str] = (), overwrite: bool = False
) -> Exported:
    """Write ``module`` to ``folder`` as an importable package: ``from FOLDER import load; model = load()``.

    The package needs torch and whatever the graph itself calls, not this one. Its code is what torch.fx generated, with
    comments that name module paths and the user's lines; modules that are called are made by calls of their classes;
    names in the state are what they were. Parameters, buffers (persistent or not), what is shared, dtypes, training and
    ``requires_grad`` flags, and nested GraphModules are kept. ``state.pt`` holds tensors only, read with
    ``weights_only=True``. ``imports``: modules to import first, for ops that nothing importable is known to register.

    Raises ``ExportError`` naming the node that cannot be exported (then nothing is written), ``UsageError`` for a
    folder that cannot be a package or has something in it (``overwrite`` replaces it).
    """
    if not isinstance(module, GraphModule):
        raise UsageError(f"export takes a torch.fx.GraphModule, not {type(module).__name__}.", "Trace it first.")
    target = Path(folder).absolute()
    check_package_folder(target, overwrite=overwrite)
    package = Package(module, tuple(imports))
    try:
        _write(package, module, target)
    except OSError as error:
        raise HarnessError(
            f"{target} cannot be written: {error.strerror or error}.", "Name another folder, or make room."
        ) from error
    return Exported(target, package.name, (*sorted(package.files), "state.pt"))


def _write(package: Package, module: GraphModule, target: Path) -> None:
    """All of it beside the folder, then in its place."""
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        unfinished = Path(made) / target.name
        unfinished.mkdir()
        for name, text in package.files.items():
            (unfinished / name).write_text(text, encoding="utf-8")
        _save(state_of(module), unfinished / "state.pt")
        if target.exists():
            shutil.rmtree(target)
        unfinished.rename(target)


def _save(state: dict[str, torch.Tensor], path: Path) -> None:
    """``torch.save``, with the ``OSError`` that it hides behind one of its own when it ends the file nevertheless."""
    with path.open("wb") as stream:
        try:
            torch.save(state, stream)
        except RuntimeError as error:
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise

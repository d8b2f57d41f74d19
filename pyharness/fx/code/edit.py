"""Runs the edited file of generated code in place of what FX generated."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule

from pyharness.fx.code import files
from pyharness.fx.code.mapping import rows
from pyharness.fx.code.statements import spans_by_name
from pyharness.host.regular_file import read_regular
from pyharness.model.errors import HarnessError, nearest
from pyharness.model.source_map import SourceMap

if TYPE_CHECKING:
    import os
    from collections.abc import Callable


class EditError(HarnessError):
    """An edited file cannot run; the code that ran before still does."""


def reload(module: GraphModule | str | os.PathLike[str]) -> None:
    """Run the file of ``module`` as it is on disk now, and those of the GraphModules inside it.

    Of code that torch.compile made nobody has the module: its file will do. All or none: where one has an error,
    ``EditError`` names its line and nothing changes. The source map is made anew from the names that the edited
    statements assign. A later ``recompile()`` generates from the graph again: the graph knows nothing of the edit.
    """
    if not isinstance(module, GraphModule):
        for each in _running(Path(module).absolute()):
            reload(each)
        return
    inside = [each for each in module.modules() if isinstance(each, GraphModule) and each in files.FILES]
    if module not in inside:
        raise EditError(f"{type(module).__name__} has no file to reload", "Call pyharness.fx.materialize on it first.")
    edited = [(each, *_edited(each)) for each in inside]
    for each, file, forward in edited:
        if forward is not None:
            _run(each, file, forward)


def _running(path: Path) -> list[GraphModule]:
    """The GraphModules that run the file ``path``: at least one."""
    found = [each for each, file in files.FILES.items() if Path(file.path) == path]
    if not found:
        paths = {Path(file.path).name: file.path for file in files.FILES.values()}
        near = nearest(path.name, paths)
        raise EditError(f"Nothing in this process runs {path}.", near or "Is that the file of another run?")
    return found


def _edited(module: GraphModule) -> tuple[files.GeneratedFile, Callable[..., Any] | None]:
    """The file as it is now and its ``forward``, ``None`` where nobody edited it."""
    present = files.FILES[module]
    text = _read(present.path)
    if text == present.text:
        return present, None
    forward = _compiled(files.GeneratedFile(present.path, text, present.source_map), module)
    nodes = list(module.graph.nodes)
    lines = rows(nodes, spans_by_name(text, nodes), ())
    return files.GeneratedFile(present.path, text, SourceMap(present.path, files.name_of(module), lines)), forward


def _read(path: str) -> str:
    try:
        return read_regular(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EditError(f"{path}: {error}", "Materialize the module again to get its file back.") from error


def _compiled(file: files.GeneratedFile, module: GraphModule) -> Callable[..., Any]:
    try:
        return files.compiled(file, type(module).forward.__globals__)
    except SyntaxError as error:
        raise EditError(f"{file.path}:{error.lineno}: {error.msg}", "The code before the edit still runs.") from error
    except KeyError as error:
        raise EditError(f"{file.path}: defines no forward", "Keep the line `def forward(self, ...)`.") from error
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        raise EditError(f"{file.path}:{line}: {error!r}", "The code before the edit still runs.") from error


def _run(module: GraphModule, file: files.GeneratedFile, forward: Callable[..., Any]) -> None:
    files.write(file.text, file.source_map.graph, file.source_map.lines, None, file.path)
    type(module).forward = forward
    module._code = file.text  # noqa: SLF001  (so that `module.code` shows what runs)
    module._lineno_map = None  # noqa: SLF001  (torch.compile would read it with the old lines)
    files.announce(module, file)

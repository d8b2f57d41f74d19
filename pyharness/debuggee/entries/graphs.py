"""What ``pyharness fx`` runs: the user's script, of which each GraphModule that it makes is kept as data.

python START.py graphs FOLDER REQUEST [-m] SCRIPT [ARGS...]      REQUEST: a JSON object, see ``Request``

FOLDER gets ``graphs.json`` at the end, also after an exception or ``sys.exit``: a list of ``MadeGraph.to_json``.
"""

from __future__ import annotations

import atexit
import json
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import program_process

if TYPE_CHECKING:
    from types import ModuleType

    from pyharness.debuggee.watched.graphs_made import GraphsMade
    from pyharness.model.graph import MadeGraph


def main() -> int:
    """Become the script, with somebody looking at torch.fx."""
    from pyharness.debuggee.__main__ import become, parse
    from pyharness.debuggee.watched import generated
    from pyharness.debuggee.watched.imports import after_import
    from pyharness.host import state  # noqa: F401  (now: what is imported at the end may disturb Python's end)

    folder, request, *arguments = sys.argv[1:]
    options = parse(arguments)
    collected = _Collected(Path(folder), Request(**json.loads(request)))
    atexit.register(collected.write)  # the first to be registered is the last to be called
    generated.install(lambda _: None)
    after_import("torch.fx.graph_module", collected.follow)
    return become(options)


@dataclass(frozen=True)
class Request:
    """What is wanted of the program's graphs."""

    everything: bool = False
    """Also those that torch makes for itself."""
    kernels: bool = False
    """Also what inductor makes of them, which takes nothing from its cache then."""
    export: dict[str, Any] | None = None
    """Which graph to export and where to: ``graph``, ``to``, ``imports``, ``overwrite``."""


class _Collected:
    """The graphs of this process; a forked child has no part in them."""

    def __init__(self, folder: Path, request: Request) -> None:
        self._folder = folder
        self._request = request
        self._made: GraphsMade | None = None

    def follow(self, _fx: ModuleType) -> None:
        """torch.fx is there."""
        from pyharness.debuggee.watched import graph_doors
        from pyharness.debuggee.watched.graphs_made import GraphsMade
        from pyharness.debuggee.watched.kernels_drawn import KernelsDrawn

        self._made = GraphsMade(keep=self._request.export is not None)
        self._made.follow()
        if self._request.kernels:
            KernelsDrawn(self._made).follow()
        graph_doors.follow(self._made.note)

    def write(self) -> None:
        """The process ends: hand over what was made."""
        if not program_process.is_here():
            return
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # impatience shall not cost the graphs
        graphs = self._made.result(everything=self._request.everything) if self._made else []
        if self._request.export is not None and graphs:
            self._write("export.json", self._exported(graphs, **self._request.export))
        self._write("graphs.json", [each.to_json() for each in graphs])

    def _write(self, name: str, data: Any) -> None:
        from pyharness.host.state import write_private

        with suppress(OSError):  # the program may have taken the folder away, and must end as it would
            write_private(self._folder / name, json.dumps(data).encode())

    def _exported(self, graphs: list[MadeGraph], graph: str, to: str, imports: list[str], **options: bool) -> Any:
        """What ``pyharness.fx.export`` wrote, or its error."""
        from pyharness.fx.exporting import export
        from pyharness.model.errors import HarnessError
        from pyharness.model.graph import select

        try:
            number = select(graphs, graph).made.number
            module: Any = self._made and self._made.module(number, everything=self._request.everything)
            done = export(module, to, imports=imports, **options)
        except HarnessError as error:
            return {"message": error.message, "remedy": error.remedy}
        except Exception as error:  # noqa: BLE001  (the program's exit status stands; whoever asked is told)
            return {"message": f"{type(error).__name__}: {error}", "remedy": ""}
        return {"folder": str(done.folder), "name": done.name, "files": list(done.files)}

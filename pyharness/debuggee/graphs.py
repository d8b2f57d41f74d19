"""What ``pyharness fx`` runs: the user's script, of which each GraphModule that it makes is kept as data.

python GRAPHS.py FOLDER REQUEST [-m] SCRIPT [ARGS...]      REQUEST: a JSON object, ``{"everything": false}``

FOLDER gets ``graphs.json`` at the end, also after an exception or ``sys.exit``: a list of ``MadeGraph.to_json``.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from pyharness.debuggee.graphs_made import GraphsMade

_PACKAGES = Path(__file__).resolve().parents[2]


def main() -> int:
    """Become the script, with somebody looking at torch.fx."""
    from pyharness.debuggee import generated
    from pyharness.debuggee.__main__ import INTERRUPTED, parse, run
    from pyharness.debuggee.after_import import after_import
    from pyharness.model import graph, state  # noqa: F401  (now: what is imported at the end may disturb Python's end)

    folder, request, *arguments = sys.argv[1:]
    options = parse(arguments)
    collected = _Collected(Path(folder), everything=bool(json.loads(request).get("everything")))
    atexit.register(collected.write)  # the first to be registered is the last to be called
    generated.install(lambda _: None)
    after_import("torch.fx.graph_module", collected.follow)
    status = run(options, stop=False)
    if status == INTERRUPTED:  # Python dies of the signal then, once it has cleaned up: shells look at that
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    return status


class _Collected:
    """The graphs of this process; a forked child has no part in them."""

    def __init__(self, folder: Path, *, everything: bool) -> None:
        self._folder = folder
        self._everything = everything
        self._owner = os.getpid()
        self._made: GraphsMade | None = None

    def follow(self, _fx: ModuleType) -> None:
        """torch.fx is there."""
        from pyharness.debuggee import graph_doors
        from pyharness.debuggee.graphs_made import GraphsMade

        self._made = GraphsMade()
        self._made.follow()
        graph_doors.follow(self._made.note)

    def write(self) -> None:
        """The process ends: hand over what was made."""
        from pyharness.model.state import write_private

        if os.getpid() != self._owner:
            return
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # impatience shall not cost the graphs
        graphs = self._made.result(everything=self._everything) if self._made else []
        with suppress(OSError):  # the program may have taken the folder away, and must end as it would
            write_private(self._folder / "graphs.json", json.dumps([each.to_json() for each in graphs]).encode())


if __name__ == "__main__":
    sys.path[0] = str(_PACKAGES)  # not this folder; `run` puts the script's there
    from pyharness.debuggee.entry import make_importable

    make_importable({"pyharness": str(_PACKAGES)})
    sys.exit(main())

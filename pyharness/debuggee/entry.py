"""What ``pyharness run`` becomes: the user's script under a handle, waiting for a debugger beside its own work.

python ENTRY.py NAME [-m] SCRIPT [ARGS...]
"""

from __future__ import annotations

import signal
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from pyharness.debuggee.served import Served


class Only:
    """Finds a few packages in their folder, behind everything else: what lies beside them stays unseen."""

    def __init__(self, packages: dict[str, str]) -> None:
        self._packages = packages

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As ``importlib.abc.MetaPathFinder.find_spec``."""
        del path
        folder = self._packages.get(name)
        return PathFinder.find_spec(name, [folder], target) if folder else None


def make_importable(packages: dict[str, str]) -> None:
    """Let ``import NAME`` find each package in its folder, where the program has none of that name."""
    sys.meta_path.append(Only(packages))


def main() -> int:
    """Listen, then become the script."""
    from pyharness.debuggee.__main__ import INTERRUPTED, parse, run

    name, *arguments = sys.argv[1:]
    options = parse(arguments)
    here = _listen(name, arguments)
    print(f"pyharness: handle {name} (pid {here.handle.pid})", file=sys.stderr, flush=True)
    try:
        status = run(options, stop=False)
    except SystemExit as ended:
        here.exits(_code_of(ended))
        raise
    if status == INTERRUPTED:  # Python dies of the signal then, once it has cleaned up: shells look at that
        here.exits(-signal.SIGINT)
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    here.exits(status)
    return status


def _listen(name: str, arguments: list[str]) -> Served:
    from pyharness.debuggee.served import Served
    from pyharness.model.errors import HarnessError

    try:
        here = Served(name, " ".join(arguments))
    except HarnessError as error:
        print(f"pyharness: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    here.start()
    return here


def _code_of(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    return ended.code & 0xFF if isinstance(ended.code, int) else 1


if __name__ == "__main__":
    sys.path[0] = ""  # not this folder; it becomes the script's
    make_importable({"pyharness": str(Path(__file__).resolve().parents[2])})
    sys.exit(main())

"""What ``pyharness run`` becomes: the user's script under a handle, waiting for a debugger beside its own work.

python START.py run NAME [-m] SCRIPT [ARGS...]
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.debuggee.served import Served


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

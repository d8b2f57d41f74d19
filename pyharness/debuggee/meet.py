"""Runs the user's script once a gdb that an IDE started at the same time has attached to it.

python -m pyharness.debuggee.meet --key KEY [--rank N] [--within SECONDS] [-m] SCRIPT [ARGS...]

An IDE starts the parts of a compound at once. This half waits before the script's first line, so that no breakpoint of
the native side is missed; the other half is gdb's command ``ph-meet KEY``.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from pyharness.debuggee import agent, apart
from pyharness.debuggee.link.ptracer import allow_ptrace
from pyharness.debuggee.pydevd import side_by_side
from pyharness.debuggee.pydevd.steps import stepping  # noqa: F401  (it registers its requests)
from pyharness.debuggee.watched import generated
from pyharness.host import rendezvous
from pyharness.host.folders import current_folder
from pyharness.model.errors import HarnessError
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    import socket

WITHIN = 60.0
"""Seconds; a build that an IDE runs first is not part of them."""


def main() -> int:
    """Meet gdb, then become the script."""
    from pyharness.debuggee.__main__ import run

    apart.leave_folder()
    options = _parse(sys.argv[1:])
    agent.start()
    generated.install(lambda _entry: None)
    if options.rank is None or os.environ.get("RANK") == options.rank:
        try:
            gdb = _meet(options.key, options.within)
        except HarnessError as error:
            say(str(error))
            return error.exit_code
        side_by_side.adapt(gdb)
    return run(options, stop=False)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pyharness.debuggee.meet")
    parser.add_argument(
        "--key", default=str(current_folder() or ""), help="what both halves name: the workspace's folder"
    )
    parser.add_argument("--rank", help="of a torchrun job only the process of this rank meets gdb")
    parser.add_argument("--within", type=float, default=WITHIN, metavar="SECONDS")
    parser.add_argument("-m", dest="module", action="store_true")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not options.key:
        parser.error("--key names nothing, and is the current folder only where there is one")
    return options


def _meet(key: str, within: float) -> side_by_side.Gdb:
    try:
        gdb = rendezvous.meet(key, "program", within=within, waits=_say_so)
    except rendezvous.NobodyCameError as error:
        raise HarnessError(
            error.message, "Start the compound, which has both halves; its gdb half runs `ph-meet` with this key."
        ) from None
    _let_attach(gdb)
    return side_by_side.Gdb(gdb)


def _say_so() -> None:
    say(f"waiting for gdb to attach to {os.getpid()}")


def _let_attach(gdb: socket.socket) -> None:
    """Wait until gdb has attached; its answer is read once it lets the program go on."""
    allow_ptrace(rendezvous.pid_of(gdb))
    gdb.sendall(b"ready\n")
    with gdb.makefile("r", encoding="utf-8") as stream:
        answer = stream.readline().strip()
    if answer != "attached":
        raise HarnessError("gdb did not attach.", answer or "It ended; its session says why.")


if __name__ == "__main__":
    sys.exit(main())

"""Prints the table of docs/dap.md: what each adapter says that it can, asked of the adapters themselves.

Usage: python scripts/dap_capabilities.py [GDB], where GDB (16 or newer) speaks DAP itself.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import Any

from pyharness.dapwire import wire as dap_wire

_ASKED = {"adapterID": "table", "pathFormat": "path", "linesStartAt1": True, "columnsStartAt1": True}


def capabilities(command: list[str]) -> dict[str, Any]:
    """What an adapter answers to ``initialize``."""
    asked = dap_wire.encode(dap_wire.request(1, "initialize", dict(_ASKED)))
    ours, theirs = socket.socketpair()  # kept open: an adapter may leave with its client, unanswered
    decoder = dap_wire.Decoder()
    with ours, subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL) as adapter:
        theirs.close()
        ours.sendall(asked)
        while data := ours.recv(1 << 16):
            for message in decoder.feed(data):
                if isinstance(message, dict) and message.get("type") == "response":
                    adapter.kill()
                    body: dict[str, Any] = message["body"]
                    return body
    raise SystemExit(f"{command[0]} did not answer")


def rows(*adapters: dict[str, Any]) -> list[str]:
    """A line of markdown for each capability that one of them has."""
    names = sorted({name for each in adapters for name, value in each.items() if value})
    lines = []
    for name in names:
        cells = ["yes" if each.get(name) else "-" for each in adapters]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Ask, and print."""
    asked = [[sys.executable, "-m", "pyharness", "dap"], [sys.executable, "-m", "debugpy.adapter"]]
    asked += [[path, "-q", "-i", "dap"] for path in sys.argv[1:]]
    print("\n".join(rows(*map(capabilities, asked))))


if __name__ == "__main__":
    main()

"""A client of ``pyharness mcp`` that waits for each answer: lines of JSON, as the protocol has them on a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from pyharness.project.own_command import own_command

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "0"}}


class Client:
    """A server that ends with the ``with`` block."""

    def __init__(self, folder: Path) -> None:
        self._server = subprocess.Popen(
            own_command(sys.executable, "mcp"), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._count = 0
        self._ask("initialize", _HELLO)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        """The client."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the server, as a client does."""
        self._server.communicate()

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """The text of a tool's answer."""
        return str(self._ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"])

    def _say(self, message: dict[str, Any]) -> None:
        if self._server.stdin is not None:
            self._server.stdin.write(f"{json.dumps(message)}\n")
            self._server.stdin.flush()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        self._say({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        for line in self._server.stdout or ():
            answer = json.loads(line)
            if answer.get("id") == self._count:
                return dict(answer["result"])
        raise SystemExit("The server has ended.")

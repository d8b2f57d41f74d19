"""A client of ``pyharness mcp``: the SDK's own, for tests that wait."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from kit.paths import ROOT
from pyharness.project.own_command import own_command

SECONDS = 120


@dataclass
class Answer:
    """What a call gave."""

    text: str
    told: dict[str, Any]
    is_error: bool
    progress: list[str] = field(default_factory=list)


class McpClient:
    """One server with its client, until ``close``; ``roots``: what the client says that they are."""

    def __init__(self, folder: Path, *options: str, roots: list[Path | str] | None = None, environment=None) -> None:
        self._folder, self._options, self._roots = folder, options, roots
        self._environment = {**os.environ, "NO_COLOR": "1", **(environment or {})}
        self._ready: Future[ClientSession] = Future()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        self._over = asyncio.Event()
        self._thread.start()
        self.session = self._ready.result(SECONDS)

    async def _serve(self) -> None:
        command = own_command(sys.executable, "mcp", *self._options)
        server = StdioServerParameters(command=command[0], args=command[1:], cwd=self._folder, env=self._environment)
        named = {"list_roots_callback": self._list_roots} if self._roots is not None else {}
        try:
            async with stdio_client(server) as streams, ClientSession(*streams, **named) as session:
                self.initialized = await session.initialize()
                self._ready.set_result(session)
                await self._over.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    async def _list_roots(self, _context: object) -> types.ListRootsResult:
        return types.ListRootsResult(
            roots=[types.Root(uri=each if isinstance(each, str) else each.as_uri()) for each in self._roots or ()]
        )

    def begin(self, coroutine: Any) -> Future[Any]:
        """Have the client do something meanwhile."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool, and wait for its answer."""
        return self.begin(self.calling(tool, arguments)).result(SECONDS)

    async def calling(self, tool: str, arguments: dict[str, Any]) -> Answer:
        progress: list[str] = []

        async def told(_done: float, _total: float | None, message: str | None) -> None:
            progress.append(message or "")

        result = await self.session.call_tool(tool, arguments, progress_callback=told)
        (content,) = result.content
        return Answer(content.text, result.structured_content, result.is_error, progress)

    def error(self, tool: str, /, **arguments: Any) -> Answer:
        """The error of a call that fails."""
        answer = self.call(tool, **arguments)
        assert answer.is_error, answer.text
        assert set(answer.told) == {"code", "message", "remedy"}
        return answer

    def close(self) -> None:
        """End the server as a client does: its input ends."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(SECONDS)
        self._loop.close()


@contextmanager
def served(folder: Path = ROOT, *options: str, **named: Any):
    """A server for the time of a block."""
    client = McpClient(folder, *options, **named)
    try:
        yield client
    finally:
        client.close()

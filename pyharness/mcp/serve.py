"""The server: what the SDK hears from a client, and what it answers."""

from __future__ import annotations

import asyncio
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import ValidationError

from pyharness import __version__
from pyharness.mcp import errors, resources
from pyharness.mcp.ending import leave, told_to_end
from pyharness.mcp.registry import TOOLS, Answer, Tool
from pyharness.mcp.roots import Roots
from pyharness.mcp.service import REPORTS, Service
from pyharness.mcp.tools import all as _tools  # noqa: F401  (registers them)
from pyharness.mcp.verbs import VerbTold
from pyharness.model.errors import HarnessError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any]

_INSTRUCTIONS = """Debug a PyTorch program that is half Python and half C++: one session steps across the boundary.
Begin with `check` for a whole program (crash, nan, hang, wrong kernel, bad pass), `stack` for a process or a job that
hangs, and `start` to stop somewhere and look. Errors name the remedy. What was started ends with this connection."""


def run(roots: Sequence[str]) -> None:
    """Serve one client on standard input and output, until it leaves or a signal says that this is to end."""
    asyncio.run(_serve(Service(Roots(roots))))


async def _serve(service: Service) -> None:
    with told_to_end() as told:
        serving: asyncio.Future[None] = asyncio.ensure_future(_speak(service))
        either: list[asyncio.Future[Any]] = [serving, told]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if told.done():
            serving.cancel()
        await asyncio.to_thread(service.close)
        if told.done():
            leave(told.result())
        await service.groups.reaped()
        await serving


async def _speak(service: Service) -> None:
    server = _server(service)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _server(service: Service) -> Server[Any]:
    async def call(context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        REPORTS.set(_reporting(context))
        try:
            await _ask_for_roots(context, service)
            return await _called(service, asked)
        except (HarnessError, ValidationError) as error:
            return errors.result(error)
        except Exception as error:  # noqa: BLE001  (the client is told, and the server goes on)
            return errors.result(errors.unforeseen(error))

    async def list_tools(_context: Context, _asked: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(each) for each in TOOLS.values()])

    async def list_resources(
        _context: Context, _asked: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.listed(service))

    async def read_resource(_context: Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return resources.read(service, str(asked.uri))

    async def roots_changed(_context: Context, _asked: types.NotificationParams | None) -> None:
        service.roots.asks_client = True

    server: Server[Any] = Server(
        "pyharness",
        version=__version__,
        title="pyharness",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots_changed)
    return server


async def _called(service: Service, asked: types.CallToolRequestParams) -> types.CallToolResult:
    tool = TOOLS.get(asked.name)
    if tool is None:
        raise UsageError(f"There is no tool {asked.name!r}.", nearest(asked.name, TOOLS) or f"{', '.join(TOOLS)}.")
    answer = await tool.handler(service, tool.asked.model_validate(asked.arguments or {}))
    return _result(service, answer)


def _result(service: Service, answer: Answer) -> types.CallToolResult:
    """The first page of its text, and its data, which has the cursor of the next."""
    text, told = answer.text, answer.told
    if not told.cursor:
        text, cursor = service.pages.first(text)
        told = told.model_copy(update={"cursor": cursor})
    if isinstance(told, VerbTold):
        told = told.model_copy(update={"text": text})
    more = f'\n… more: look with cursor="{told.cursor}"' if told.cursor else ""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=f"{text}{more}")],
        structured_content=told.model_dump(mode="json"),
    )


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.text,
        input_schema=_compact(tool.asked.model_json_schema()),
        output_schema=_compact(tool.told.model_json_schema(mode="serialization")),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.harm == "none",
            destructive_hint=tool.harm == "ends",
            idempotent_hint=tool.harm == "none",
            open_world_hint=False,
        ),
    )


def _compact(schema: Any) -> Any:
    """A schema without the titles that pydantic makes of names: whoever reads it pays for each word."""
    if isinstance(schema, list):
        return [_compact(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _compact(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)}


def _reporting(context: Context) -> Callable[[str], None]:
    """Progress for the call that is handled; from any thread."""
    loop, count = asyncio.get_running_loop(), 0
    tasks: set[asyncio.Task[None]] = set()

    async def send(number: int, text: str) -> None:
        with suppress(Exception):  # the client has left
            await context.session.report_progress(number, None, text)

    def begin(text: str) -> None:
        nonlocal count
        count += 1
        task = loop.create_task(send(count, text))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def report(text: str) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(begin, text)

    return report


async def _ask_for_roots(context: Context, service: Service) -> None:
    """Ask the client for its roots, where it has some and nobody has named others."""
    if not service.roots.asks_client:
        return
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None or not context.session.can_send_request:
        service.roots.asks_client = False
        return
    with warnings.catch_warnings():  # the newest protocol has none, and then we do not come here
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        found = await context.session.list_roots()
    uris = [urlsplit(str(each.uri)) for each in found.roots]
    here = [unquote(uri.path) for uri in uris if uri.scheme == "file" and uri.netloc in {"", "localhost"}]
    service.roots.of_client(path for path in here if "\0" not in path)

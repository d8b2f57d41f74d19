"""Files that a client may read: what programs printed, reports, generated code; what is not listed is not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.exceptions import MCPError

from pyharness.host.regular_file import read_text
from pyharness.model.errors import nearest
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.mcp.debugged import Debugged
    from pyharness.mcp.service import Service

_KINDS = {".json": "application/json", ".html": "text/html", ".py": "text/x-python"}
_MOST = 1 << 20
_NOT_FOUND = -32002


def listed(service: Service) -> list[types.Resource]:
    """All that can be read now."""
    return [types.Resource(uri=uri, name=uri.partition("//")[2], mime_type=_kind(uri)) for uri, _ in _all(service)]


def read(service: Service, uri: str) -> types.ReadResourceResult:
    """One of them."""
    known = dict(_all(service))
    if uri not in known:
        raise MCPError(code=_NOT_FOUND, message=f"There is no resource {uri!r}. {nearest(uri, known)}".strip())
    text = visible(known[uri]()[:_MOST])
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=_kind(uri))])


def _all(service: Service) -> Iterator[tuple[str, Callable[[], str]]]:
    for debugged in service.sessions.values():
        if debugged.printed:
            yield f"pyharness://{debugged.name}/output.txt", debugged.printed.all
        yield from _generated(debugged)
    for number, folder in enumerate(service.reports, 1):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                yield f"pyharness://report-{number}/{name}", lambda path=path: read_text(path)  # type: ignore[misc]


def _generated(debugged: Debugged) -> Iterator[tuple[str, Callable[[], str]]]:
    """The files of generated code that its program runs."""
    debuggee = debugged.session.debuggee
    for file in debuggee.shell.breakpoints.generated_files if debuggee else []:
        yield (
            f"pyharness://{debugged.name}/generated/{file.rpartition('/')[2]}",
            lambda file=file: read_text(file),  # type: ignore[misc]
        )


def _kind(uri: str) -> str:
    return _KINDS.get(f".{uri.rpartition('.')[2]}", "text/plain")

"""``pyharness dap``: the debug adapter, for VS Code and every other DAP client."""

from __future__ import annotations

import json

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output

_EPILOG = """Without --port it speaks DAP on standard input and output, as editors start an adapter. With --port it
listens on 127.0.0.1 alone and first prints one line of JSON: host, port and token. A client gives the token in the
attribute `token` of its launch or attach. It is a new one each time, or PYHARNESS_TOKEN's (24 characters or more)."""

_EXAMPLES = (
    ("on standard input and output, as editors start an adapter", "pyharness dap"),
    ("on a free port of 127.0.0.1, for one client", "pyharness dap --port 0 --once"),
)
_STATUSES = (("0", "the client has left"),)


@click.command(cls=Verb, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Listen on this port; 0 takes a free one.")
@click.option("--once", is_flag=True, help="Serve one client and end.")
def command(port: int | None, *, once: bool) -> int:
    """Serve the Debug Adapter Protocol: one session for Python, generated code and C++."""
    from pyharness.dap.server import Server, serve_stdio

    if port is None:
        serve_stdio()
        return 0
    server = Server(port)
    try:
        server.serve(lambda line: output.write(json.dumps(line)), once=once)
    finally:
        server.close()
    return 0

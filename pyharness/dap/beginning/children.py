"""Child processes of the program, each a session of its own that the client is asked to start."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.dap.beginning.debuggee import Debuggee
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.protocol.channel import Child


def offer(session: Session, child: Child) -> None:
    """Ask the client to attach to a child, which waits for that; let it go where the client cannot or does not."""
    if not child.handle:  # a rank that is not to be debugged
        return

    def answered(message: Message) -> None:
        if not message.get("success"):
            _let_go(session, child)

    if not session.supports.get("supportsStartDebuggingRequest"):
        session.say(f"{child.name} (process {child.pid}) runs on: this client has no child sessions.\n")
        _let_go(session, child)
        return
    configuration = {
        "type": "pyharness",
        "request": "attach",
        "name": f"{child.name} ({child.pid})",
        "handle": child.handle,
        "subProcess": "debug" if child.rank is None else "leave",
        "python": sys.executable,  # of the child's adapter, where the client starts one
        **({"pathMappings": session.client.paths.given()} if session.client.paths else {}),
        **(_handed_on(session.debuggee) if session.debuggee else {}),
        **session.door,
    }
    session.ask("startDebugging", {"request": "attach", "configuration": configuration}, answered)


def _handed_on(parent: Debuggee) -> dict[str, object]:
    """What a child's session has of its parent's configuration."""
    lists = {"include": parent.included, "gdbScripts": parent.gdb_scripts}
    return {name: list(values) for name, values in lists.items() if values}


def _let_go(session: Session, child: Child) -> None:
    children = session.debuggee.shell.process.children if session.debuggee else None
    if children:
        children.let_go(child.pid)

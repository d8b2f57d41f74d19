"""debugpy in this program, served to whoever debugs over a socket that the two have already: nothing listens.

debugpy's own ways in are TCP ports; any user of the machine can connect to one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.link.own_socket import OwnSocket

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

_NOWHERE = ("pyharness", 0)
"""The address that debugpy insists on; nobody looks it up."""


def serve(link: socket.socket, on_made: Callable[[Any], None] = lambda _debugger: None) -> Any:
    """Serve the debugger at the other end of ``link``; returns pydevd's debugger when breakpoints are set.

    ``on_made`` gets it as soon as it is made. ``None`` where it was disposed meanwhile.
    """
    import debugpy.server  # where pydevd is found from then on
    import pydevd

    from pyharness.debuggee.pydevd import named_threads
    from pyharness.debuggee.pydevd import tuning as pydevd_tuning

    debugpy.configure(subProcess=False)
    named_threads.name_them()
    with _connected_to(OwnSocket(link), on_made):
        debugpy.connect(_NOWHERE)
    debugger = pydevd.get_global_debugger()
    if debugger is not None:
        pydevd_tuning.tune(debugger)
    return debugger


@contextmanager
def _connected_to(link: socket.socket, on_made: Callable[[Any], None]) -> Iterator[None]:
    """pydevd's debuggers that are made meanwhile are connected to ``link``."""
    import pydevd

    class Linked(pydevd.PyDB):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            on_made(self)

        def connect(self, _host: str, _port: int) -> None:
            self._client_socket = link
            self.initialize_network(link)

    before, pydevd.PyDB = pydevd.PyDB, Linked
    try:
        yield
    finally:
        pydevd.PyDB = before

"""debugpy in this program, served to whoever debugs over a socket that the two have already: nothing listens.

debugpy's own ways in are TCP ports; any user of the machine can connect to one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.link.own_socket import OwnSocket
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING, set_trace
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from types import ModuleType

_TENTH, _NAP = 0.1, 0.01
"""Seconds."""
_NOWHERE = ("pyharness", 0)
"""The address that debugpy insists on; nobody looks it up."""


def serve(link: socket.socket, on_made: Callable[[Any], None] = lambda _debugger: None) -> Any:
    """Serve the debugger at the other end of ``link``; returns pydevd's debugger when breakpoints are set.

    ``on_made`` gets it as soon as it is made. ``None`` where it was disposed meanwhile.
    """
    import debugpy.server.api  # where pydevd is found from then on
    import pydevd

    from pyharness.debuggee.pydevd import own_threads

    _hurry()
    _describe_nothing(debugpy.server.api)
    debugpy.configure(subProcess=False)
    own_threads.keep_quiet()
    with _connected_to(_Whole(link), on_made):
        debugpy.connect(_NOWHERE)
    return pydevd.get_global_debugger()


def _describe_nothing(api: ModuleType) -> None:
    """Spare debugpy the description of all installed packages where no log would have it: it reads their metadata."""
    from debugpy.common import log

    if log.log_dir is None and "info" not in log.stderr.levels:
        api.ensure_logging.ensured = True


@contextmanager
def _connected_to(link: socket.socket, on_made: Callable[[Any], None]) -> Iterator[None]:
    """pydevd's debuggers that are made meanwhile are connected to ``link``."""
    import pydevd

    from pyharness.debuggee.pydevd import tuning as pydevd_tuning

    class Linked(pydevd.PyDB):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            # Before it knows any breakpoint: many threads that come to one may keep this thread from going on for long.
            pydevd_tuning.tune(self)
            on_made(self)

        def connect(self, _host: str, _port: int) -> None:
            self._client_socket = link
            self.initialize_network(link)
            self.writer.empty = _Emptied(self).look

        def enable_tracing(self, *arguments: Any, **named: Any) -> None:
            """Trace this thread. One that is in here while the session ends comes too late: it is the next one's."""
            super().enable_tracing(*arguments, **named)
            if self.pydb_disposed and not MONITORING:
                set_trace(None)
                following = pydevd.get_global_debugger()
                if following not in {None, self}:
                    following.enable_tracing()

        def dispose_and_kill_all_pydevd_threads(self, wait: bool = True, timeout: float = 0.5) -> None:  # noqa: FBT001, FBT002
            """End the session. Its own threads wait for nobody: they are waited for, and would be the whole time."""
            own = threading.current_thread() in {self.reader, self.writer}
            super().dispose_and_kill_all_pydevd_threads(wait and not own, timeout)

    before, pydevd.PyDB = pydevd.PyDB, Linked
    try:
        yield
    finally:
        pydevd.PyDB = before


class _Whole(OwnSocket):
    """Sends a message in one piece: pydevd writes its header alone, and whoever reads would wake twice."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self._header = b""

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send a body behind its header; only pydevd's writer does so."""
        if data.startswith(b"Content-Length: ") and data.endswith(b"\r\n\r\n"):
            self._header = data
            return
        header, self._header = self._header, b""
        super().sendall(header + data, flags)


class _Emptied:
    """Whether a debugger that ends has nothing more to write, for which pydevd waits."""

    def __init__(self, debugger: Any) -> None:
        self._debugger, self._writer = debugger, debugger.writer
        self._last: Any = None
        """What came last when the program's own threads had ended: what daemons do after that need not be told."""

    def look(self) -> bool:
        """Whether there is nothing to wait for, be it that the other end has hung up: what is left cannot be sent."""
        waiting = self._writer._cmd_queue
        if waiting.empty() or self._writer is threading.current_thread() or not self._writer.is_alive():
            return True
        if self._debugger.has_user_threads_alive():
            return False
        with waiting.mutex:
            if self._last is None:
                self._last = waiting.queue[-1] if waiting.queue else None
            return self._last not in waiting.queue


class _Clock:
    """The module ``time``, but for short sleeps."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)

    def sleep(self, seconds: float) -> None:
        """pydevd sleeps a tenth of a second until threads run that run, and between two looks whether they ended."""
        self._clock.sleep(min(seconds, _NAP) if seconds <= _TENTH else seconds)


def _hurry() -> None:
    """Have pydevd begin and end a session without long sleeps."""
    import pydevd

    if not isinstance(pydevd.time, _Clock):
        pydevd.time = _Clock(pydevd.time)

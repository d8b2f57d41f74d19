"""A program that stands under an adapter: one step of it, and what a front end asks for after each step, timed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.dap_session.servers import stopped
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from benchmarks.dap_session.client import DapClient, Message
    from benchmarks.dap_session.servers import Place

LEVELS = 20
"""Frames that VS Code asks for after a stop."""
MOST_STEPS = 40


@dataclass
class Stand:
    """One client and the thread of its program that stands."""

    client: DapClient
    thread: int
    seconds_to_here: float = 0.0
    """From the start of the adapter to the first stop, for who notes it."""

    def step(self, command: str) -> float:
        """Seconds from the request (``next``, ``stepIn``, ``stepOut``) to the ``stopped`` event."""
        started = time.perf_counter()
        request = self.client.send(command, {"threadId": self.thread})
        self.thread = stopped(self.client)
        seconds = time.perf_counter() - started
        self.client.response(request)
        return seconds

    def frames(self, levels: int = LEVELS) -> list[Message]:
        """The innermost frames, as the adapter describes them."""
        body = self.client.request("stackTrace", {"threadId": self.thread, "startFrame": 0, "levels": levels})
        frames: list[Message] = body["stackFrames"]
        return frames

    def stack(self) -> float:
        """Seconds of one ``stackTrace``."""
        started = time.perf_counter()
        self.frames()
        return time.perf_counter() - started

    def variables(self) -> float:
        """Seconds from ``scopes`` of the innermost frame to the variables of the first of them."""
        frame = self.frames(1)[0]["id"]
        started = time.perf_counter()
        self._locals(frame)
        return time.perf_counter() - started

    def shown(self) -> float:
        """Seconds of all that VS Code asks for before it shows a stop: threads, stack, scopes, locals."""
        started = time.perf_counter()
        self.client.request("threads")
        self._locals(self.frames()[0]["id"])
        return time.perf_counter() - started

    def _locals(self, frame: int) -> list[Message]:
        scopes = self.client.request("scopes", {"frameId": frame})["scopes"]
        variables: list[Message] = self.client.request(
            "variables", {"variablesReference": scopes[0]["variablesReference"]}
        )["variables"]
        return variables

    def at(self, place: Place) -> bool:
        """Whether the innermost frame is there."""
        frame = self.frames(1)[0]
        return bool(frame["line"] == place.line and (frame.get("source") or {}).get("path") == str(place.file))

    def require(self, place: Place) -> None:
        """Make sure that a step ended there: a time to somewhere else would mean nothing."""
        if not self.at(place):
            frame = self.frames(1)[0]
            raise HarnessError(f"{self.client.name}: a step ended at {frame['name']}:{frame['line']}, not at {place}.")

    def go_on_to(self, place: Place) -> None:
        """Step over until the program stands there, untimed."""
        for _ in range(MOST_STEPS):
            if self.at(place):
                return
            self.step("next")
        self.require(place)

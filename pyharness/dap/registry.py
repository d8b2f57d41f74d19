"""Requests and capabilities: a decorator registers a handler, a second one for a request is a mistake of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message

Handler: TypeAlias = "Callable[[Session, Arguments], Message | None]"
"""The body of the response; raises ``HarnessError`` for one that fails."""


@dataclass(frozen=True)
class Request:
    """What is known of a request."""

    handler: Handler
    needs: str
    """``client``: nothing; ``program``: one that runs or ran; ``stop``: one that stands; ``change``: and may change."""


REQUESTS: dict[str, Request] = {}
CAPABILITIES: dict[str, Any] = {}
"""What ``initialize`` answers."""


def request(name: str, *, needs: str = "stop", **capabilities: Any) -> Callable[[Handler], Handler]:
    """Register the handler of request ``name``, with the capabilities that it brings."""

    def register(handler: Handler) -> Handler:
        if name in REQUESTS:
            raise ValueError(f"two handlers for {name!r}")
        REQUESTS[name] = Request(handler, needs)
        CAPABILITIES.update(capabilities)
        return handler

    return register

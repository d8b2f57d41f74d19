"""The Python half: debugpy in the program, and the breakpoints and frames that it knows."""

from __future__ import annotations

import ast
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debugger.python.asking import Asking, with_prints
from pyharness.debugger.python.dap_client import DapClient, Pending, RequestError
from pyharness.debugger.python.lines import source_breakpoint
from pyharness.model.errors import HarnessError
from pyharness.model.evaluation import checked_level
from pyharness.model.frames import Frame
from pyharness.model.source_map import place_of
from pyharness.model.text.source_line import is_told, remember
from pyharness.model.user_code import UserCode
from pyharness.protocol.pydevd import WHO

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyharness.dapwire.message import Message
    from pyharness.debugger.breaking.breakpoint import Breakpoint

_OURS = str(Path(__file__).parents[2])
_OWN = ("debuggee", "engine", "fx", "host", "inspect", "model", "native", "protocol", "reading", "report")
"""The parts of this package that run in programs."""
_LIBRARIES = ("torch", "functorch", "torchgen", "triton", "debugpy", "_distutils_hack", "cffi")
_TYPED = ("<ipython-input-*", "<python-input-*")
"""What is typed at the prompt of IPython, and at that of Python 3.13; other code without a file is generated."""
_TRIES = 3
"""How often a program that gets signals is asked who its threads are."""
_PATIENCE = 2.0
_FINDERS = "__editable___*"
"""What pip writes for an editable install: every import of the user's runs it."""
_RUNS = " (Current frame)"
"""What pydevd adds to the name of a function in a traceback that runs still."""
_NO_RELOAD = {"enable": False, "watchDirectories": ["/"]}
"""pydevd would watch the current folder, and asks for it even so: a program may run where that has been removed."""


class PythonSide:
    """What the core asks of debugpy, in terms of kernel threads."""

    def __init__(self, on_event: Callable[[Message | None], None]) -> None:
        self._on_event = on_event
        self._link: DapClient | None = None
        self._forgotten: Pending | None = None
        """What debugpy was sent last for a pause that had not come about."""
        self._breakpoints: dict[str, dict[int, list[Breakpoint]]] = {}
        """File → line → what is wanted there."""
        self._dap_thread: dict[int, int] = {}
        """LWP → debugpy's thread id."""
        self._lwp: dict[int, int] = {}
        """debugpy's thread id → LWP."""
        self.names: dict[int, str] = {}
        """LWP → name, empty for debugpy's own, of the threads that Python knew when one was asked last."""
        self.asking = Asking(lambda: self._dap)
        """What runs the user's code on a thread that stands."""
        self.stdlib = ""
        self._user_code = UserCode()
        self.number_of: Callable[[int], int] = lambda own: own
        """What we call a thread that the program calls ``own``."""
        self.deliver: Callable[[str, Message], Message] = self.request
        """How a change of breakpoints is sent; the shell knows when debugpy cannot answer."""

    @property
    def _dap(self) -> DapClient:
        if self._link is None:
            raise HarnessError("debugpy is not connected yet.", "Wait until the program has started.")
        return self._link

    @property
    def alive(self) -> bool:
        """Whether debugpy answers."""
        return self._link is not None and self._link.alive

    @property
    def transcript(self) -> list[str]:
        """What was said with debugpy, message by message."""
        return list(self._link.transcript) if self._link else []

    def connect(self, connection: socket.socket, pid: int, package: str, user_code: UserCode, stdlib: str) -> None:
        """Speak with the debugpy of process ``pid``; the event ``initialized`` tells when it takes breakpoints."""
        self.stdlib, self._user_code = stdlib, user_code
        self._link = DapClient(connection, self._heard, pid)
        self._dap.post("initialize", {"adapterID": "pyharness", "pathFormat": "path", "linesStartAt1": True})
        self._dap.post(
            "attach",
            {
                "justMyCode": False,
                "subProcess": False,
                "redirectOutput": False,
                "showReturnValue": False,
                "rules": stepping_rules(package, user_code.patterns, stdlib),
                "autoReload": _NO_RELOAD,
            },
        )

    def _heard(self, event: Message | None) -> None:
        self.asking.heard(event)
        self._on_event(event)

    def configured(self) -> None:
        """Let the program go on from ``debugpy.connect``."""
        self._dap.post("configurationDone")

    def change_breakpoints(
        self, file: str, set_: Iterable[tuple[int, Breakpoint]] = (), cleared: Iterable[tuple[int, Breakpoint]] = ()
    ) -> dict[int, Message]:
        """Set and clear breakpoints on lines of a file, in one request; line → what debugpy says of it.

        Empty where debugpy cannot answer now.
        """
        lines = self._breakpoints.setdefault(file, {})
        for line, each in cleared:
            lines[line] = [other for other in lines.get(line, []) if other is not each]
        for line, each in set_:
            lines.setdefault(line, []).append(each)
        wanted = [(line, lines[line]) for line in sorted(lines) if lines[line]]
        entries = [source_breakpoint(line, there) for line, there in wanted]
        answer = self.deliver("setBreakpoints", {"source": {"path": file}, "breakpoints": entries})
        said: list[Message] = answer.get("breakpoints", [])
        return dict(zip((line for line, _ in wanted), said, strict=False))

    def request(self, command: str, arguments: Message, seconds: float = 30.0) -> Message:
        """Send a request and wait for the body of its answer."""
        return self._dap.wait(self._dap.post(command, arguments), command, seconds)

    def scopes(self, frame: int) -> list[Message]:
        """The scopes of a frame that stands, by debugpy's number of it."""
        self.asking.check()
        found: list[Message] = self.request("scopes", {"frameId": frame})["scopes"]
        return found

    def request_in_time(self, command: str, arguments: Message) -> Message:
        """A request whose answer may be missed: a program that computes natively may keep the GIL for long."""
        pending = self._dap.post(command, arguments)
        return self._dap.wait(pending, command) if pending.answered.wait(_PATIENCE) else {}

    def request_of(self, thread: int, command: str, arguments: Message | None = None) -> Message:
        """A request about a thread that debugpy has stopped before."""
        if thread not in self._dap_thread:
            raise HarnessError(
                f"Thread {thread} is not stopped in Python code.", "Step out to Python, or ask in C++: native:EXPR."
            )
        return self.request(command, {**(arguments or {}), "threadId": self._dap_thread[thread]})

    def post(self, command: str, arguments: Message) -> None:
        """Send a request that is done when debugpy's threads can run."""
        self._dap.post(command, arguments)

    def forget_pause(self) -> None:
        """Have what debugpy was asked to pause go on, should that come about after all."""
        self._forgotten = self._dap.post("continue", {"threadId": "*"})

    def is_forgotten(self, stop: Message) -> bool:
        """Whether a pause came about before debugpy heard that nobody waits for it any more: its thread runs on.

        That may be long ago: while a thread holds the GIL in native code debugpy hears nothing.
        """
        if self._forgotten is None:
            return False
        heard = self._forgotten.response
        return heard is None or int(heard["seq"]) > int(stop["seq"])

    def thread_of(self, dap_thread: int) -> int:
        """The LWP of a stopped thread (asked of the program once)."""
        if dap_thread not in self._lwp:
            self._lwp[dap_thread] = own = self._read_names(dap_thread)
            self._dap_thread[own] = dap_thread
        return self._lwp[dap_thread]

    def known_thread(self, dap_thread: int) -> int:
        """The LWP of a thread that has stopped before, or ended since; 0 for one of which nothing is known."""
        return self._lwp.get(dap_thread, 0)

    def read_names(self, thread: int) -> None:
        """Ask for the threads' names again: some may be younger than the last answer. ``thread`` is stopped."""
        self._read_names(self._dap_thread[thread])

    def _read_names(self, dap_thread: int) -> int:
        """Ask a stopped thread who all threads are; its own number."""
        if not (frames := self._frames(dap_thread, 1)):
            raise HarnessError("A thread stands where it has no frame of Python's.", "Go on, and pause it again.")
        own, names = self._who(frames[0]["id"])
        self.names = {self.number_of(int(number)): name for number, name in names.items()}
        return self.number_of(own)

    def _who(self, frame: int) -> tuple[int, dict[str, str]]:
        """What a stopped thread says of all threads; asked again where a Ctrl-C has cut that off."""
        asked = {"expression": WHO, "frameId": frame, "context": "watch"}
        for _ in range(_TRIES):
            with suppress(RequestError, SyntaxError, ValueError):
                own, names = json.loads(ast.literal_eval(self._dap.request("evaluate", asked)["result"]))
                return own, names
        raise HarnessError("The program does not say who its threads are.", "Try again: it was interrupted.")

    def resume(self, thread: int, command: str) -> None:
        """``continue``, ``next``, ``stepIn`` or ``stepOut``; never waits for the answer."""
        self._dap.post(command, {"threadId": self._dap_thread[thread]})

    def stack(self, thread: int, levels: int = 0) -> list[Frame]:
        """The Python frames of a stopped thread, innermost first, without the harness's own."""
        return [self.frame_of(entry) for entry in self.raw_frames(thread, levels)]

    def evaluate(self, thread: int, expression: str, level: int = 0) -> str:
        """The ``repr`` of a Python expression in frame ``level`` of a stopped thread, behind what it printed."""
        self.asking.check()
        frames = self.raw_frames(thread) if level else self._frames(self._dap_thread[thread], 1)
        frame = frames[checked_level(level, len(frames))]
        try:
            body = self.asking.ask("evaluate", {"expression": expression, "frameId": frame["id"], "context": "repl"})
        except RequestError as error:
            raise RequestError(f"{self.asking.printed}{error.message}") from error
        return with_prints(self.asking.printed, str(body["result"]))

    def disconnect(self) -> None:
        """Leave the program running without debugpy."""
        if self.alive:
            pending = self._dap.post("disconnect", {"restart": False, "terminateDebuggee": False})
            pending.answered.wait(2)
            self._dap.end()

    def close(self) -> None:
        """Hang up."""
        if self._link:
            self._link.close()

    def knows(self, thread: int) -> bool:
        """Whether debugpy has stopped this thread before."""
        return thread in self._dap_thread

    def raw_frames(self, thread: int, levels: int = 0) -> list[Message]:
        """debugpy's own ``StackFrame``s of a stopped thread, without the harness's."""
        frames = self._frames(self._dap_thread[thread], levels)
        return [entry for entry in frames if "/pyharness/debuggee/" not in (_file(entry) or "")]

    def frame_of(self, entry: Message) -> Frame:
        """One of ``raw_frames`` as the rest of the project has it."""
        file = _file(entry)
        return Frame(
            "python",
            entry["name"].removesuffix(_RUNS),
            file,
            entry["line"],
            place_of(file, entry["line"]),
            plumbing=not self._user_code.has_python(file, self.stdlib),
        )

    def _frames(self, dap_thread: int, levels: int) -> list[dict[str, Any]]:
        self.asking.check_crash()
        body = self._dap.request("stackTrace", {"threadId": dap_thread, "startFrame": 0, "levels": levels})
        frames: list[dict[str, Any]] = body["stackFrames"]
        for entry in frames:
            self._learn_source(entry.get("source") or {})
        return frames

    def _learn_source(self, source: Message) -> None:
        """Have the text of what is no file, such as a notebook's cell: Python has it, for its tracebacks."""
        path, reference = source.get("path"), source.get("sourceReference")
        if path and reference and not is_told(path) and not os.path.exists(path):  # noqa: PTH110  (any name)
            with suppress(RequestError):
                remember(path, self._dap.request("source", {"sourceReference": reference})["content"])


def stepping_rules(package: str, included: Sequence[str], stdlib: str) -> list[dict[str, Any]]:
    """debugpy's rules for what a step may stop in; the first that matches a file decides."""
    rules: list[dict[str, Any]] = [{"path": path, "include": True} for each in included for path in _globs(each)]
    own = dict.fromkeys((package, _OURS))  # in a container a module of ours has the name that it has here
    rules += [{"path": f"{folder}/{part}/**", "include": False} for folder in own for part in _OWN]
    rules += [{"path": f"**/{name}customize.py", "include": False} for name in ("site", "user")]
    for folder in ("site-packages", "dist-packages"):
        rules += [{"path": f"**/{folder}/{name}/**", "include": False} for name in _LIBRARIES]
        rules += [{"path": f"**/{folder}/{name}", "include": False} for name in (_FINDERS, "typing_extensions.py")]
        rules.append({"path": f"**/{folder}/**", "include": True})
    rules += [{"path": f"{stdlib}/**", "include": False}, *({"path": each, "include": True} for each in _TYPED)]
    rules.append({"path": "<*", "include": False})
    return rules


def _globs(pattern: str) -> Iterator[str]:
    """A pattern whose ``*`` matches slashes, as debugpy writes it, where only a whole ``**`` does."""
    *folders, name = ["**" if part == "*" else part for part in pattern.split("/")]
    start = "" if pattern.startswith(("/", "*/", "**/")) else "**/"
    path = start + "/".join([*folders, name])
    yield path
    if name.endswith("*") and name != "**":
        yield f"{path}/**"


def _file(entry: dict[str, Any]) -> str | None:
    source = entry.get("source") or {}
    path: str | None = source.get("path")
    return path

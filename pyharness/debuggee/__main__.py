"""Runs the user's script as ``python SCRIPT`` would, with the harness beside it.

python -m pyharness.debuggee [--channel FD --debugpy FD] [--stops FILE] [-m] SCRIPT [ARGS...]
"""

from __future__ import annotations

import argparse
import atexit
import builtins
import os
import re
import runpy
import signal
import sys
import types
from contextlib import contextmanager, suppress
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from pyharness.debuggee import apart, collector, inspected
from pyharness.debuggee.link.ptracer import allow_ptrace
from pyharness.debuggee.unpatched import socket
from pyharness.host import bytecode
from pyharness.host.folders import current_folder
from pyharness.host.regular_file import MAX_SOURCE
from pyharness.model.application import main_of
from pyharness.model.text.python_code import as_from_the_bottom, compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.machinery import ModuleSpec
    from types import CodeType

    from pyharness.debuggee.link.conversation import Conversation

_OURS = re.compile(r"/pyharness/debuggee/|/debugpy/|/pydevd")
_CLOSED = (
    "pyharness: Nobody can debug this program: what runs before it has closed the files that the debugger gave it.\n"
    "Does a sitecustomize or a .pth file of this Python close what it has not opened?"
)
INTERRUPTED = 130
"""The exit code after an unanswered Ctrl-C."""
_COMPILED = ".pyc"
_UNCOMPILED = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the compiler raises: for bytes that are no text, and for what is nested too deeply, as well."""


def main() -> int:
    """Connect to whoever debugs, then become the script."""
    options = parse(sys.argv[1:])
    allow_ptrace(os.getppid())
    stop = False
    if options.channel is not None:
        with _not_interrupted(), bytecode.kept(__file__):
            stop = _connect(_inherited(options.channel), _inherited(options.debugpy))
    if options.channel is None:  # no controller: whoever has gdb may name lines, now or at any stop
        from pyharness.debuggee.lines import line_stops

        line_stops.start(options.stops)
    return run(options, stop=stop)


def parse(arguments: list[str]) -> argparse.Namespace:
    """What to run, and how to reach whoever debugs."""
    parser = argparse.ArgumentParser(prog="python -m pyharness.debuggee")
    parser.add_argument("--channel", type=int, metavar="FD")
    parser.add_argument("--debugpy", type=int, metavar="FD")
    parser.add_argument("--stops", metavar="FILE")
    parser.add_argument("-m", dest="module", action="store_true")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args(arguments)


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Ctrl-C before the script's first line is the controller's to answer; it has blocked the signal up to here."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _inherited(descriptor: int) -> socket.socket:
    """The socket that the controller left open for us; no process that we start has it."""
    try:
        os.set_inheritable(descriptor, False)  # noqa: FBT003  (the signature is os's)
        return socket.socket(fileno=descriptor)
    except OSError:
        raise SystemExit(_CLOSED) from None


def _connect(channel: socket.socket, link: socket.socket) -> bool:
    """Shake hands with the controller; whether it wants a stop at the script's first line."""
    from pyharness.debuggee.link import forked
    from pyharness.debuggee.link.seat import SEAT
    from pyharness.debuggee.link.session import started
    from pyharness.protocol.channel import Unfiled

    forked.let_children_go()
    with _failure_told(channel), started(channel, link) as session:
        if not session.greet():
            raise SystemExit(1)  # the controller is gone: nobody waits for this program
        SEAT.follow(lambda why: SEAT.tell(Unfiled(why)))
        atexit.register(_tell_end, session.conversation, os.getpid(), forked.children_ended())
        answer = session.ready()
        return answer is not None and answer.stop


@contextmanager
def _failure_told(channel: socket.socket) -> Iterator[None]:
    """What keeps a debugger out of this program is the controller's to say, and is no traceback of the program's."""
    from pyharness.protocol.channel import Failed

    beside = channel.dup()  # the conversation takes ``channel``, and loses it where it cannot begin
    try:
        yield
    except Exception as error:  # noqa: BLE001  (MemoryError, and whatever debugpy meets)
        with suppress(OSError):
            beside.sendall(Failed(f"{type(error).__name__}: {error}").to_line())
            beside.recv(1)  # until it was heard
        raise SystemExit(1) from None
    finally:
        beside.close()


def _tell_end(conversation: Conversation, owner: int, before: int) -> None:
    """Say what the program alone knows: ``before`` is what ``children_ended`` said before the script."""
    from pyharness.debuggee.link import forked
    from pyharness.debuggee.pydevd.frames.unseen import UNSEEN
    from pyharness.debuggee.watched.op_places import OP_PLACES
    from pyharness.protocol.channel import Ended

    if os.getpid() != owner:  # a forked child
        return
    UNSEEN.end()
    hints, others = OP_PLACES.hints(), forked.had_children(before)
    conversation.ask(Ended(hints, others, tuple(UNSEEN.at_exit), UNSEEN.traced, _has_compiled(), OP_PLACES.unwatched))


def _has_compiled() -> bool:
    """Whether torch.compile has compiled a function of the program's."""
    utils = sys.modules.get("torch._dynamo.utils")
    return bool(getattr(utils, "counters", {}).get("frames"))


def run(
    options: argparse.Namespace, *, stop: bool, on_uncaught: Callable[[BaseException], None] = lambda _error: None
) -> int:
    """Execute the script as ``__main__``; its traceback shows its frames only. Its exit code.

    ``on_uncaught`` hears what nobody has caught, before it is printed.
    """
    # Before the script's folder is looked in, and before it may empty sys.modules.
    from pyharness.debuggee.pydevd import tracing
    from pyharness.debuggee.pydevd.emptied_modules import KEPT_MODULES
    from pyharness.debuggee.pydevd.frames import unseen
    from pyharness.debuggee.pydevd.stops import uncaught

    collector.go_on()
    module = types.ModuleType("__main__")
    code = _load_module(options.script, module) if options.module else _load_file(options.script, module)
    sys.argv = [(options.module and module.__file__) or options.script, *options.arguments]
    _say_how_it_was_started(options)
    _dress(module)
    sys.modules["__main__"] = module
    KEPT_MODULES.keep()
    uncaught.watch_threads()
    try:
        if stop:
            from pyharness.debuggee.pydevd.steps import stepping

            stepping.arm_first_line()
        exec(code, module.__dict__)  # noqa: S102  (this is what running a script is)
    except SystemExit as ended:
        if sys.flags.inspect:
            _hand_to_hook(ended.with_traceback(_their_part(ended.__traceback__)))
            inspected.has_shown()
        raise
    except BaseException as error:  # noqa: BLE001  (printed as Python prints it, without our frames)
        error.__traceback__ = _their_part(error.__traceback__)
        uncaught.stop_at(error)
        on_uncaught(error)
        _hand_to_hook(error)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    finally:
        if tracing.is_connected():
            KEPT_MODULES.put_back()
            unseen.UNSEEN.script_has_ended()
            tracing.expect_end()
    return 0


def _say_how_it_was_started(options: argparse.Namespace) -> None:
    """Have ``sys.orig_argv`` be what ``python SCRIPT`` has in it: by that programs start themselves again."""
    words = getattr(sys, "orig_argv", [])  # Python 3.10 on
    words[1:] = [*(["-m"] if options.module else []), options.script, *options.arguments]


def _dress(module: types.ModuleType) -> None:
    """Give it what Python gives ``__main__``, of which our own has an example."""
    spec = module.__spec__
    module.__loader__ = spec.loader if spec else _loader_of(str(module.__file__))
    module.__dict__["__cached__"] = spec.cached if spec else None
    module.__dict__["__builtins__"] = builtins
    if "__annotations__" in vars(sys.modules["__main__"]):  # until Python 3.13
        vars(module).update(__annotations__={})


def _loader_of(file: str) -> SourceFileLoader | SourcelessFileLoader:
    """What Python says that it loads a script with, be it compiled already."""
    return (SourcelessFileLoader if file.endswith(_COMPILED) else SourceFileLoader)("__main__", file)


def become(options: argparse.Namespace) -> int:
    """``run`` for an entry of its own, whose exit code is the script's.

    Ctrl-C ends the process as it ends ``python SCRIPT``: by the signal, once Python has cleaned up; shells look at it.
    """
    status = run(options, stop=False)
    if status == INTERRUPTED:
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    return status


def _their_part(trace: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback without our frames and debugpy's: Ctrl-C may hit while we have the program wait."""
    frames: list[types.TracebackType] = []
    while trace is not None:
        if not _OURS.search(trace.tb_frame.f_code.co_filename):
            frames.append(trace)
        trace = trace.tb_next
    for earlier, later in zip(frames, [*frames[1:], None]):  # noqa: B905  (CPython 3.9 has no strict)
        earlier.tb_next = later
    return frames[0] if frames else None


def _load_file(script: str, module: types.ModuleType) -> CodeType:
    whole = os.path.join(current_folder() or "", script)  # noqa: PTH118  (the dots in it stay, as in Python)
    try:
        spec = main_of(whole)
    except ModuleNotFoundError as error:
        raise SystemExit(f"{sys.executable}: {error}") from None
    return _load_source(script, module) if spec is None else _load_application(whole, module, spec)


def _load_application(script: str, module: types.ModuleType, spec: ModuleSpec) -> CodeType:
    apart.put_first(script)
    if script not in sys.path:  # Python puts it there also where it was told to put no folder of a script's
        sys.path.insert(0, script)
    _become_spec(module, spec)
    try:
        with as_from_the_bottom():
            return cast("CodeType", spec.loader.get_code(spec.name))  # type: ignore[union-attr]
    except _UNCOMPILED as error:
        _end_uncompiled(error)


def _load_source(script: str, module: types.ModuleType) -> CodeType:
    path = Path(script).absolute()
    apart.put_first(str(path.resolve().parent))
    module.__file__ = str(path)
    module.__spec__ = None
    if path.name.endswith(_COMPILED):
        return _compiled(path)
    try:
        return compiled(_source_of(path), str(path))
    except _UNCOMPILED as error:
        _end_uncompiled(error)


def _compiled(path: Path) -> CodeType:
    try:
        code = _loader_of(str(path)).get_code("__main__")
    except (ImportError, EOFError) as error:  # of another Python, or cut off
        raise SystemExit(f"{sys.executable}: {path}: {error}") from None
    assert code is not None  # noqa: S101  (there is a file, so there is code)
    return code


def _source_of(path: Path) -> bytes:
    """The source; a pipe is read as Python reads it, a device without an end is not."""
    if path.is_file():
        return path.read_bytes()
    with path.open("rb") as stream:
        source = stream.read(MAX_SOURCE + 1)
    if len(source) > MAX_SOURCE:
        raise SystemExit(f"{path}: more than {MAX_SOURCE >> 20} MiB, which no source has")
    return source


def _load_module(name: str, module: types.ModuleType) -> CodeType:
    apart.put_named_first()
    if here := current_folder():  # Python leaves out one that was removed
        apart.put_first(str(here))
    try:  # as `python -m` and pdb find it: this knows the packages around it, and the words for each that is not there
        with as_from_the_bottom():
            _, spec, code = runpy._get_module_details(name, _NoModuleError)  # type: ignore[attr-defined]
    except _NoModuleError as error:
        raise SystemExit(f"{sys.executable}: {error}") from None
    except Exception as error:  # noqa: BLE001  (of a package around it)
        _hand_to_hook(error.with_traceback(_their_part(error.__traceback__)))
        raise SystemExit(1) from None
    _become_spec(module, spec)
    return cast("CodeType", code)


class _NoModuleError(Exception):
    """There is no such module that could run, in Python's words."""


def _become_spec(module: types.ModuleType, spec: ModuleSpec) -> None:
    module.__file__ = spec.origin
    module.__spec__ = spec
    module.__package__ = spec.parent


def _end_uncompiled(error: BaseException) -> NoReturn:
    _hand_to_hook(error.with_traceback(None))
    raise SystemExit(1)


def _hand_to_hook(error: BaseException) -> None:
    """What Python does with an exception that nobody has caught, one of the hook itself included."""
    if not hasattr(sys, "excepthook"):
        print("sys.excepthook is missing", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)
        return
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as hooks:  # noqa: BLE001
        hooks.__traceback__ = _their_part(hooks.__traceback__)
        if hooks.__context__ is error:
            hooks.__context__ = None
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(hooks), hooks, hooks.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)


if __name__ == "__main__":
    apart.leave_folder()
    sys.exit(main())

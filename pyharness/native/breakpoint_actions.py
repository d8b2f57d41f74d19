"""What a native breakpoint does where it matches: stop in gdb, in pdb, in debugpy, write a line, call a function."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.host.jit_trace import unrecorded
from pyharness.host.loader import words_of
from pyharness.model.errors import UsageError, nearest
from pyharness.model.text.visible import say
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import TypeAlias

    from pyharness.native.breakpoints import Hit

    Action: TypeAlias = str | Callable[[Hit], object]
    Answer: TypeAlias = tuple[str, int, str, str] | None
    """Python line and reason with which C++ is to call the function that gdb stops on."""

ACTIONS = ("stop", "pdb", "debugpy", "log")
_MOST_SHOWN, _MOST_ITEMS = 6, 32
DOOR: list[Callable[[Hit], Answer]] = []
"""How a debugger of ours that is there wants to be told of a stop (``debuggee/op_stops.py``)."""


def check(action: Action) -> None:
    """Raise ``UsageError`` for what is no action."""
    if not (callable(action) or action == "" or action in ACTIONS):
        raise UsageError(
            f"There is no action {action!r}.",
            nearest(str(action), ACTIONS) or f"Actions are {', '.join(ACTIONS)}, or a function of a Hit.",
        )


def act(action: Action, hit: Hit) -> Answer:
    """Do it; what C++ is to call the trap with, if anything."""
    if callable(action):
        action(hit)
        return None
    wanted = action or _default()
    if wanted == "stop":
        return DOOR[-1](hit) if DOOR else stop_with(hit, step=True)
    if wanted == "pdb":
        _pdb(hit)
    elif wanted == "debugpy":
        _debugpy(hit)
    else:
        say(line_of(hit))
    return None


def stop_with(hit: Hit, *, places: tuple[int, ...] = (), step: bool = False) -> Answer:
    """What the trap is called with, as ``csrc/trap/trap.h`` says."""
    about = {"kind": hit.kind, "name": hit.name, "before": hit.before, **_named(hit)}
    why = {"stops": places, "step": step, "notes": [hit.note or line_of(hit, place=False)], "native": about}
    return hit.file, hit.line, hit.function, json.dumps(why)


def _named(hit: Hit) -> dict[str, dict[str, Any]]:
    """What a debugger shows by the names that conditions use: tensors by their addresses, all else as a text."""
    tensors, values = dict(hit.tensors), dict[str, str]()
    for name, value in hit.others.items():
        values[name] = _short(value)
        for index, each in enumerate(value[:_MOST_ITEMS] if isinstance(value, list) else ()):
            item = f"{name}[{index}]"
            if _is_tensor(each):
                tensors[item] = _implementation(each)
            else:
                values[item] = _short(each)
    return {"tensors": tensors, "values": values}


def _implementation(tensor: Any) -> int:
    """The address of a tensor's ``c10::TensorImpl``; nothing of a subclass is asked."""
    address: int = sys.modules["torch"].Tensor._cdata.__get__(tensor)
    return address


def _default() -> str:
    """What is done where nothing was said: whoever can show the place gets it."""
    if DOOR or _traced_by_gdb():
        return "stop"
    return "pdb" if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty() else "log"


def _traced_by_gdb() -> bool:
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        tracer = next(line for line in status.splitlines() if line.startswith("TracerPid:")).split()[1]
        return "gdb" in Path(next(iter(words_of(int(tracer))), "")).name
    except (OSError, StopIteration):
        return False


# --- a line -----------------------------------------------------------------------------------------------------------


def line_of(hit: Hit, *, place: bool = True) -> str:
    """The hit in one line."""
    where = f" at {hit.file}:{hit.line} in {hit.function}" if place and hit.file else ""
    return f"{tensors_of(hit)}{where}, hit {hit.count}"


def tensors_of(hit: Hit) -> str:
    """What ran, with what went in and came out: ``aten::mul.Tensor(float32[2], 3) → float32[2]``."""
    name = f"{hit.name}.{hit.overload}" if hit.overload else hit.name
    inputs = hit.inputs or tuple(f"{key} = {value:g}" for key, value in hit.variables.items())
    result = "" if hit.before else f" → {_shown(hit.outputs)}"
    return f"{name}({_shown(inputs)}){result}"


def _shown(values: tuple[Any, ...]) -> str:
    shown = [_short(value) for value in values[:_MOST_SHOWN]]
    return ", ".join(shown + (["…"] if len(values) > _MOST_SHOWN else []))


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{_shown(tuple(value))}]"
    return _tensor_text(sys.modules["torch"].Tensor, value) if _is_tensor(value) else repr(value)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _tensor_text(kind: Any, tensor: Any) -> str:
    """``float32[2, 3]``, by torch's own properties: those of a subclass are the user's code, and may raise."""
    dtype = str(kind.dtype.__get__(tensor)).removeprefix("torch.")
    with unrecorded():
        return f"{dtype}[nested]" if kind.is_nested.__get__(tensor) else f"{dtype}{list(kind.shape.__get__(tensor))}"


# --- Python's debuggers -----------------------------------------------------------------------------------------------


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost of these frames that is the user's own code; else the innermost."""
    each = frame
    while each is not None and not is_user_python(each.f_code.co_filename):
        each = each.f_back
    return each or frame


def _pdb(hit: Hit) -> None:
    """A prompt at the line that called, before it goes on; ``next`` and the like then work as in any pdb."""
    import pdb

    frame = user_frame(hit.frame)
    if frame is None:
        say(f"{line_of(hit)} (no Python here: pdb has nothing to show)")
        return
    say(line_of(hit))
    debugger = pdb.Pdb(nosigint=True)
    debugger.reset()
    callers = [frame]
    while callers[-1].f_back is not None:
        callers.append(callers[-1].f_back)
    debugger.botframe = callers[-1]
    debugger.interaction(frame, None)
    if debugger.quitting or debugger.breaks or debugger.stoplineno != -1:
        for each in callers:
            each.f_trace = debugger.trace_dispatch
        sys.settrace(debugger.trace_dispatch)


def _debugpy(hit: Hit) -> None:
    """Stop as ``debugpy.breakpoint()`` does, in the frame that called: as soon as that frame's next line runs."""
    frame = user_frame(hit.frame)
    if "debugpy" not in sys.modules or frame is None:
        say(f"{line_of(hit)} (debugpy is not loaded)")
        return
    import pydevd

    pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)

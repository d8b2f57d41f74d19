"""Where an FX node came from: the module that was running, and the user's line that made it.

Nothing here imports torch: the harness loads it before the user's program has decided to.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from types import FrameType

    from torch.fx import Node
    from torch.fx.proxy import TracerBase

Noted = TypeVar("Noted")
KEY = "pyharness"
"""``node.meta[KEY]`` is a plain tuple ``(module, file, line)``: it is copied and pickled without this package."""


class Provenance(NamedTuple):
    """Each part is ``None`` where nobody recorded it."""

    module: str | None
    """Path of the module whose ``forward`` was running; the target itself for a ``call_module`` node."""
    file: str | None
    line: int | None


UNKNOWN = Provenance(None, None, None)
_EXPORT_ROOT = re.compile(r"^_export_root(\.|$)")
"""The name under which torch.export puts the model into a module of its own while it traces."""
_OF_BACKWARD = "fwd_nn_module_stack"
"""What torch calls the modules of the forward node whose gradient a node computes."""


def record(tracer: TracerBase, node: Node, frame: FrameType | None) -> None:
    """Note on ``node``, just made by ``tracer``, where it came from; ``frame`` is whoever asked for the node.

    A node that is made while FX runs another graph with its metadata preserved (``Transformer``) inherits.
    """
    if KEY in node.meta or _inherit(node):
        return
    place = _definition(tracer) if node.op in {"placeholder", "output"} else user_place(frame)
    if place is None:
        return
    scope = getattr(tracer, "scope", None)
    module = None if node.op == "output" or scope is None else _EXPORT_ROOT.sub("", scope.module_path)
    node.meta[KEY] = (module, *place)


def of(node: Node) -> Provenance:
    """What is known of ``node``: our own record, else what torch recorded (``torch.compile``, ``torch.export``)."""
    own = noted(node, KEY, tuple) or (noted(node, "custom", dict) or {}).get(KEY)  # the second is what torch carries on
    module, file, line = own if isinstance(own, tuple) and len(own) == len(UNKNOWN) else UNKNOWN
    trace = noted(node, "stack_trace", str)
    if not module and node.op != "output":  # the root is all that torch's own compilers know while they trace
        module = _module_of_stack(noted(node, "nn_module_stack", dict) or noted(node, _OF_BACKWARD, dict)) or module
        if module is None and node.op != "placeholder" and trace:
            module = ""  # whoever records stacks records modules, too: there was none but the root
    if file is None:
        file, line = _last_frame(trace)
    if node.op == "call_module":
        module = str(node.target)
    return Provenance(module, file, line)


def noted(node: Node, key: str, kind: type[Noted]) -> Noted | None:
    """``node.meta[key]`` where it is what torch puts there: a program may put anything there."""
    value = node.meta.get(key)
    return value if issubclass(type(value), kind) else None


def _inherit(node: Node) -> bool:
    traceback = sys.modules.get("torch.fx.traceback")
    if traceback is None or not traceback.has_preserved_node_meta():
        return False
    inherited = traceback.get_current_meta().get(KEY)
    if inherited is not None:
        node.meta[KEY] = inherited
    return inherited is not None


def _definition(tracer: TracerBase) -> tuple[str | None, int | None] | None:
    """Inputs and the result belong to the whole traced function: its ``def`` line, which torch notes on the graph."""
    fields = getattr(tracer.graph, "_co_fields", None) or {}
    file = fields.get("co_filename")
    return (file, fields.get("co_firstlineno")) if file and _kind(file) == "user" else (None, None)


def user_place(frame: FrameType | None) -> tuple[str, int] | None:
    """The nearest line that is neither torch's nor ours.

    ``None`` where torch's own compilers asked for the node: the stack then says where the compiler was called.
    """
    while frame is not None:
        kind = _kind(frame.f_code.co_filename)
        if kind == "user":
            return frame.f_code.co_filename, frame.f_lineno
        if kind == "compiler":
            return None
        frame = frame.f_back
    return None


_COMPILERS = tuple(f"{name}{os.sep}" for name in ("_dynamo", "_functorch", "_inductor"))
_DYNAMO_WRAPPER = f"_dynamo{os.sep}eval_frame.py"


@lru_cache(maxsize=4096)
def _kind(file: str) -> str:
    torch_root, plumbing = _roots()
    if file.startswith(torch_root):
        part = file[len(torch_root) :]
        # Once dynamo is loaded it wraps Tracer.trace to keep itself out of it: that is no compiler asking for a node.
        compiles = part.startswith(_COMPILERS) and part != _DYNAMO_WRAPPER
        return "compiler" if compiles else "plumbing"
    if file.startswith(("<frozen ", "<string>", "<eval_with_key>", *plumbing)):
        return "plumbing"
    stdlib = sysconfig.get_paths()["stdlib"] + os.sep
    in_stdlib = file.startswith(stdlib) and not file.startswith(stdlib + "site-packages")
    return "plumbing" if in_stdlib else "user"


@lru_cache(maxsize=1)
def _roots() -> tuple[str, tuple[str, ...]]:
    package = Path(__file__).parent.parent
    torch = Path(sys.modules["torch"].__file__ or "").parent
    return f"{torch}{os.sep}", (f"{package}{os.sep}", f"{torch.parent / 'functorch'}{os.sep}")


_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')


def _last_frame(stack_trace: str | None) -> tuple[str | None, int | None]:
    """The user's innermost frame of a stack trace as text, innermost last."""
    frames = _FRAME.findall(stack_trace) if stack_trace else []
    return next(((file, int(line)) for file, line in reversed(frames) if _kind(file) == "user"), (None, None))


_ROOT = re.compile(r"^[LG]\[[^\]]*\]")
_ITEM = re.compile(r"(?:\._modules)?\[['\"]?([^'\"\]]+)['\"]?\]")
_GETATTR = re.compile(r"^getattr\((.*), ['\"]([^'\"]*)['\"]\)(.*)$")


def _module_of_stack(stack: dict[str, Any] | None) -> str | None:
    """The innermost path of torch's ``nn_module_stack``."""
    entry = next(reversed(stack.values())) if stack else None
    path = entry[0] if isinstance(entry, tuple) else None
    return plain_path(path) if isinstance(path, str) else None


def plain_path(expression: str) -> str:
    """``blocks.0`` of what dynamo writes: ``L['self'].blocks.0``, ``getattr(G['model'].blocks, '0')``."""
    while match := _GETATTR.match(expression):
        expression = "{}.{}{}".format(*match.groups())
    return _ITEM.sub(r".\1", _ROOT.sub("", expression)).replace("._modules.", ".").lstrip(".")

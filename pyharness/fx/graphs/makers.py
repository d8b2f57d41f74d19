"""Who makes a GraphModule: the user's code, or one of torch's compilers for itself. Read from the stack."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from types import FrameType

INTERNAL = ""
"""The maker of what torch, or a check of ours, makes on its way to something else."""

_PLUMBING = ("fx/", "nn/modules/module.py", "_dynamo/eval_frame.py", "_compile.py", "utils/", "_ops.py")
_OURS = ("fx/verifying/", "fx/bisecting/", "fx/hashseeds/", "fx/exporting/")
_PATTERNS = ("fx/subgraph_rewriter.py", "fx/passes/utils/matcher")
_COMPILERS = ("_dynamo/", "_functorch/", "_inductor/", "_export/", "export/", "_higher_order_ops/", "_subclasses/")


def maker(frame: FrameType | None) -> str:
    """What to call whoever makes a GraphModule in ``frame``; ``INTERNAL`` where no code of the user's asked for it."""
    name = "torch.fx"
    while frame is not None:
        kind = _kind(frame.f_code.co_filename)
        if kind == "internal":
            return INTERNAL
        if kind == "user":
            return name
        if kind == "make_fx":
            name = "make_fx"
        frame = frame.f_back
    return name


@lru_cache(maxsize=4096)
def _kind(file: str) -> str:
    """``user``, ``plumbing`` (look at who called), ``internal`` or ``make_fx``."""
    torch, ours = _roots()
    if file.startswith(ours):
        return "internal" if file[len(ours) :].startswith(_OURS) else "plumbing"
    if not file.startswith(torch):
        return "user" if is_user_python(file) else "plumbing"
    part = file[len(torch) :]
    if part.startswith(_PATTERNS):
        return "internal"
    if part == "fx/experimental/proxy_tensor.py":
        return "make_fx"
    if part.startswith(_PLUMBING):
        return "plumbing"
    return "internal" if part.startswith(_COMPILERS) else "plumbing"


@lru_cache(maxsize=1)
def _roots() -> tuple[str, str]:
    torch = Path(sys.modules["torch"].__file__ or "").parent
    return f"{torch}{os.sep}", f"{Path(__file__).parents[2]}{os.sep}"

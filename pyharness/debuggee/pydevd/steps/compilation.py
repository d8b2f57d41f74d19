"""Steps that pass by what torch compiles: a step into a compiled call goes to what runs, not to what makes it.

Else the step would end where Dynamo traces and inductor computes indices, as in ``sympy``. So it is with triton's
interpreter (TRITON_INTERPRET=1), which makes a function of its own of a kernel, with the kernel's lines.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.steps.held import step_held
from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_MODULE = "torch._dynamo.callback"
_INTERPRETER = "triton.runtime.interpreter"


def watch() -> None:
    """From now on a step into what a line calls goes on behind each compilation, also of a backward."""
    after_import(_MODULE, _pass_by)
    after_import(_INTERPRETER, _pass_by_rewriting)


def _pass_by(module: ModuleType) -> None:
    """Stand around what torch itself stands around each compilation with, whoever compiles and on which thread."""
    handler = getattr(module, "CompilationCallbackHandler", None)
    original = getattr(handler, "install_callbacks", None)
    if original is None:
        return  # of another version: steps stop there, as without us

    @functools.wraps(original)
    @contextmanager
    def stands_for(*arguments: Any, **named: Any) -> Iterator[None]:
        with step_held(), original(*arguments, **named):
            yield

    setattr(handler, "install_callbacks", stands_for)  # noqa: B010  (its type is not known)


def _pass_by_rewriting(module: ModuleType) -> None:
    function = getattr(module, "InterpretedFunction", None)
    original = getattr(function, "rewrite", None)
    if original is None:
        return

    @functools.wraps(original)
    def stands_for(*arguments: Any, **named: Any) -> Any:
        with step_held():
            return original(*arguments, **named)

    setattr(function, "rewrite", stands_for)  # noqa: B010  (its type is not known)

"""Has inductor compile what a verification runs: its code made anew, whatever its caches hold."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.written_down import FILE, copy_of
from pyharness.model.errors import HarnessError
from pyharness.model.kernel_text import parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pyharness.model.kernel_map import KernelLine

_MOST = 1 << 16
"""Compilations of one function: those of other verifications, and of the program itself, count, too."""
_ERROR = re.compile(r"^(.*(?:error|Error):.*)$", re.MULTILINE)


@contextmanager
def anew() -> Iterator[None]:
    """Meanwhile, torch takes no graph from its caches, and random numbers are eager mode's.

    Wrappers are Python, where calls of kernels are seen; kernels are the same below one in C++. Those that were
    compiled before are used: their name is the digest of their text.
    """
    import torch._functorch.config as of_autograd
    import torch._inductor.config as of_inductor
    from torch._dynamo import config as of_dynamo

    plain = {"fx_graph_cache": False, "fx_graph_remote_cache": False, "fallback_random": True, "cpp_wrapper": False}
    with ExitStack() as stack:
        for config, wanted in (
            (of_inductor, plain),
            (of_autograd, {"enable_autograd_cache": False}),
            (of_dynamo, {"suppress_errors": False, "recompile_limit": _MOST, "accumulated_recompile_limit": _MOST}),
        ):
            known = {name: value for name, value in wanted.items() if hasattr(config, name)}
            stack.enter_context(config.patch(known))
        _forget_compiled()
        try:
            yield
        finally:
            _forget_compiled()  # what Dynamo has left out here, it would leave out in the program's own calls, too


def _forget_compiled() -> None:
    """Have Dynamo look at each function anew: one that it could not compile once it leaves out for ever, silently.

    That may be the call of any module, which all modules share.
    """
    import torch._dynamo as dynamo

    getattr(dynamo, "reset_code_caches", dynamo.reset)()


def backend() -> Callable[..., Any]:
    """inductor, as a backend of its own: Dynamo then takes nothing that it compiled with the one by name."""

    def inductor(module: Any, inputs: Any, **named: Any) -> Any:
        from torch._inductor import compile_fx

        return compile_fx.compile_fx(module, inputs, **named)

    return inductor


def compiled_copy(source: str, lines: Sequence[KernelLine]) -> Callable[..., None]:
    """A kernel for Python, as it writes its variables to a file: ``call(file, *args)``."""
    from torch._inductor.codecache import CppPythonBindingsCodeCache

    types = [each.type for each in parameters(source)]
    kernel = CppPythonBindingsCodeCache.load_pybinding(types, copy_of(source, lines))

    def call(file: Path, *args: Any) -> None:
        before = os.environ.get(FILE)
        os.environ[FILE] = str(file)
        try:
            kernel(*args)
        finally:
            os.environ.pop(FILE)
            if before is not None:
                os.environ[FILE] = before

    return call


def failure(error: BaseException) -> HarnessError | None:
    """What to say where torch could not compile; ``None`` where the error is the program's own."""
    from torch._dynamo.exc import TorchDynamoException
    from torch._inductor import exc

    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__  # type: ignore[assignment]
    for each in chain:
        if isinstance(each, (exc.CppCompileError, exc.InvalidCxxCompiler)):
            text = _ERROR.search(str(each))
            said = text[1].strip() if text else str(each).strip().split("\n")[0]
            return HarnessError(
                f"The C++ compiler failed on what inductor generated: {said}",
                "Does it compile without pyharness? CXX names another compiler.",
            )
    for each in chain:
        if isinstance(each, (TorchDynamoException, *_of_inductor(exc))):
            said = str(each).strip().split("\n")[0]
            return HarnessError(
                f"torch.compile failed: {type(chain[-1]).__name__}: {said}",
                "Without pyharness it does so, too: mend it first.",
            )
    return None


def _of_inductor(exc: Any) -> tuple[type[BaseException], ...]:
    found = getattr(exc, "InductorError", None)
    return (found,) if found else ()

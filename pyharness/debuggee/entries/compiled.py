"""What ``pyharness fx compiled`` runs: the user's script, and at its end what torch.compile made of it, as data.

python START.py compiled FOLDER REQUEST [-m] SCRIPT [ARGS...]      REQUEST: a JSON object, ``{"replace": false}``

FOLDER gets ``compiled.json`` at the end, also after an exception or ``sys.exit``: ``CompileReport.to_json``.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import program_process
from pyharness.model.kernel_files import is_cxx

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from pyharness.model.kernel_files import Kernel, Wrapper
    from pyharness.model.results.kernels import CompiledWrapper
    from pyharness.native.kernel_libraries import KernelLibrary

_EVERY = ">=0:pyharness"
"""For each compilation: this backend, as ``TORCH_COMPILE_OVERRIDE_BACKENDS`` says it."""


def main() -> int:
    """Become the script."""
    from pyharness.debuggee.__main__ import become, parse
    from pyharness.debuggee.watched import generated, kernels
    from pyharness.debuggee.watched.imports import after_import
    from pyharness.fx.backend_report import compile_report  # noqa: F401  (now: an import at the end may disturb it)
    from pyharness.host import state  # noqa: F401

    folder, request, *arguments = sys.argv[1:]
    options = parse(arguments)
    atexit.register(lambda: _write(Path(folder)))  # the first to be registered is the last to be called
    generated.install(lambda _: None)
    kernels.install(_loaded)
    after_import(kernels.INDUCTOR, _clock)
    if json.loads(request).get("replace"):
        after_import("torch._dynamo.config", _replace)
    return become(options)


def _replace(config: Any) -> None:
    if hasattr(config, "debug_backend_override") and not config.debug_backend_override:
        config.debug_backend_override = _EVERY


_wrappers: list[CompiledWrapper] = []
_times: dict[str, dict[tuple[str, int], int]] = {}
"""By a wrapper's file: the last run of each call, in nanoseconds, by the kernel's name and the line."""


def _called(wrapper: Wrapper, kernel: Kernel, function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, with a clock around it."""
    times = _times.setdefault(wrapper.file, {})

    def call(*args: Any) -> Any:
        begun = perf_counter_ns()
        result = function(*args)
        times[kernel.name, sys._getframe(1).f_lineno] = perf_counter_ns() - begun
        return result

    return call


def _clock(_module: ModuleType) -> None:
    from pyharness.fx.inductor.calls import KernelCalls

    KernelCalls(_called).begin()


@cache
def _clock_in_cxx() -> None:
    """Look at the calls of wrappers in C++, too, where the engine is there: only it sees them."""
    from pyharness.model.errors import HarnessError
    from pyharness.native.kernel_libraries import WORDS, KernelLibraries
    from pyharness.native.load import load

    try:
        engine = load("_engine")
    except HarnessError:
        return

    def lead(library: KernelLibrary) -> Any:
        nothing = dict.fromkeys(library.addresses, 0)
        return engine.tell_of_kernels(library.path, WORDS, nothing, partial(_called_in_cxx, library))

    KernelLibraries(engine, lead).begin()


def _called_in_cxx(library: KernelLibrary, name: str, back: int, _given: list[int]) -> Callable[[int], bool]:
    def ended(nanoseconds: int) -> bool:
        if site := library.site(name, back):
            _times.setdefault(site.file, {})[name, site.line] = nanoseconds
        return False

    return ended


def _loaded(wrapper: Wrapper) -> None:
    from pyharness.fx.inductor.captured import compile_id
    from pyharness.model.results.kernels import compiled_wrapper

    _wrappers.append(compiled_wrapper(wrapper, compile_id()))
    if is_cxx(wrapper.file):
        _clock_in_cxx()


def _timed(wrapper: CompiledWrapper) -> CompiledWrapper:
    from pyharness.model.results.kernels import timed

    try:
        text = Path(wrapper.file).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return wrapper
    # Debug information has the file's real path.
    times = _times.get(wrapper.file) or _times.get(os.path.realpath(wrapper.file), {})
    return timed(wrapper, text, times)


def _write(folder: Path) -> None:
    from pyharness.fx.backend_report import compile_report
    from pyharness.host.state import write_private

    if not program_process.is_here():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # impatience shall not cost the report
    report = replace(compile_report(), wrappers=tuple(_timed(each) for each in _wrappers))
    with suppress(OSError):  # the program may have taken the folder away, and must end as it would
        write_private(folder / "compiled.json", json.dumps(report.to_json()).encode())

"""What a program needs to run under a sanitizer: the runtime that its extension was built for, preloaded, and options.

AddressSanitizer and ThreadSanitizer must be there before anything allocates or starts a thread, and Python is built
without them; so their runtimes are preloaded. Which one: a library names the version that it was compiled for.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import resource
import shutil
import subprocess
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.state import state_dir
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.frozen import frozen
from pyharness.model.text.source_line import short_path
from pyharness.reading.binaries.dynamic_section import dynamic
from pyharness.reading.binaries.elf import Elf, ElfError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_OURS = Path(__file__).resolve().parent.parent.parent / "_sanitized.abi3.so"
_MOST_FILES = 50_000
_DEEPEST = 8
_WITHOUT = frozenset(
    {"torch", "nvidia", "numpy", "scipy", "triton", "sklearn", "pandas", "node_modules", "__pycache__"}
)
"""Folders that hold hundreds of libraries, none of them the user's."""
_ADDR_NO_RANDOMIZE = 0x0040000
VARIABLE = "PYHARNESS_SANITIZER"
"""Tells the program which one it runs under: the scripts of ``pyharness init`` load that build."""
_TIMEOUT = 10
_ENDS = re.compile(r"[\s:]")
_ANOTHER = 91
_ASKS = f"import ctypes, os; hasattr(ctypes.CDLL(None), '{{}}') or os._exit({_ANOTHER})"
"""Python's code that asks whether a runtime is loaded."""


@frozen
class Sanitizer:
    """One of the three."""

    option: str
    """The name that ``-fsanitize=`` has for it."""
    short: str
    """The name in its runtimes' files."""
    variable: str
    """The environment variable with its options."""
    defaults: tuple[str, ...]
    """What Python and torch need, each with its reason beside it."""

    @property
    def mark(self) -> str:
        """A function that its runtime has, and no other."""
        return "__ubsan_handle_add_overflow" if self.short == "ubsan" else f"__{self.short}_init"

    @property
    def marks(self) -> tuple[bytes, ...]:
        """How the names begin of functions that instrumented code calls."""
        return (b"__ubsan_handle_",) if self.short == "ubsan" else (f"__{self.short}_".encode(),)


SANITIZERS = {
    "asan": Sanitizer(
        "address",
        "asan",
        "ASAN_OPTIONS",
        (
            "detect_leaks=0",  # Python and torch keep memory until the process ends
            "verify_asan_link_order=0",  # a library of ours comes first, to hear of tensors' memory
            "detect_odr_violation=0",  # each extension has its own copies of what pybind11 defines
            "detect_container_overflow=0",  # torch changes containers without telling the runtime
            "alloc_dealloc_mismatch=0",  # torch, not instrumented, inlines one half of what libstdc++ has whole
            *(f"handle_{signal}=0" for signal in ("segv", "sigbus", "sigfpe", "sigill", "abort")),  # the report is ours
        ),
    ),
    "ubsan": Sanitizer("undefined", "ubsan", "UBSAN_OPTIONS", ("print_stacktrace=0",)),
    "tsan": Sanitizer(
        "thread",
        "tsan",
        "TSAN_OPTIONS",
        (
            "detect_deadlocks=0",  # of locks in torch and Python, whose code it does not see
            "report_signal_unsafe=0",  # Python's own handlers allocate
            "report_thread_leaks=0",  # torch's thread pools live as long as the process
            "report_destroy_locked=0",
            "die_after_fork=0",  # workers of a data loader are forked and start threads
            "handle_segv=0",
        ),
    ),
}


def environment_for(
    name: str,
    runtime: str | None,
    script: str,
    python_path: Iterable[str],
    before: Mapping[str, str],
    option: str = "--runtime",
) -> dict[str, str]:
    """The variables with which a program runs under a sanitizer; ``HarnessError`` says how to build for it."""
    sanitizer = SANITIZERS[name]
    if not _OURS.exists():
        raise HarnessError("pyharness/_sanitized is not built.", "In a clone: `make debug-build`.")
    if runtime is not None and not Path(runtime).is_file():
        raise UsageError(f"There is no file {runtime}.", f"{option} takes a library such as libasan.so.8.")
    found = [os.path.realpath(runtime)] if runtime else [_runtime(sanitizer, script, python_path, option)]
    ours = [_preloadable(path) for path in (str(_OURS), *found, *_standard_library())]
    preloaded = [*ours, *filter(None, [before.get("LD_PRELOAD")])]
    options = [*sanitizer.defaults, *filter(None, [before.get(sanitizer.variable)])]
    return {"LD_PRELOAD": ":".join(preloaded), sanitizer.variable: ":".join(options), VARIABLE: name}


def _preloadable(path: str) -> str:
    """The path, or that of a link to it: the loader takes spaces and colons for the ends of names."""
    if not _ENDS.search(path):
        return path
    folder = state_dir("preloaded")
    if _ENDS.search(str(folder)):
        raise UsageError(
            f"{path} cannot be preloaded: the loader takes its spaces and colons for the ends of names.",
            "Move it, or set PYHARNESS_HOME to a folder whose path has neither: a link is made there.",
        )
    link = folder / f"{hashlib.sha256(path.encode()).hexdigest()[:16]}.so"
    with suppress(FileExistsError):
        link.symlink_to(path)
    return str(link)


def python_path_of(interpreter: str) -> tuple[str, ...]:
    """Where an interpreter looks for modules; nothing where it does not say."""
    asked = [interpreter, "-c", "import sys; print(*sys.path, sep='\\n')"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=_TIMEOUT).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(line for line in told.splitlines() if Path(line).is_dir())


def is_loaded(name: str) -> bool:
    """Whether the runtime of a sanitizer is in this process."""
    return hasattr(ctypes.CDLL(None), SANITIZERS[name].mark)


def without_checks(name: str) -> str:
    """What to say where no library of this process was built for its sanitizer; empty where one was."""
    sanitizer = SANITIZERS[name]
    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    paths = {line.partition("/")[2] for line in lines if ".so" in line and "/torch/lib/" not in line}
    if any(_is_checked(Path(f"/{path}"), sanitizer) for path in paths):
        return ""
    return f"no library of this program was built with -fsanitize={sanitizer.option}: nothing was checked."


def keep_addresses(name: str) -> None:
    """Let the program that this process becomes have its libraries where ThreadSanitizer's shadow is not."""
    if name == "tsan":
        library = ctypes.CDLL(None, use_errno=True)
        library.personality(library.personality(0xFFFFFFFF) | _ADDR_NO_RANDOMIZE)  # refused in some containers


def check_start(name: str, interpreter: str, environment: Mapping[str, str]) -> None:
    """``HarnessError`` where a Python with a runtime ends before its first line, or the runtime is another one."""
    asked = [interpreter, "-I", "-S", "-c", _ASKS.format(SANITIZERS[name].mark)]
    try:
        done = subprocess.run(asked, capture_output=True, check=False, timeout=_TIMEOUT, env=dict(environment))
    except (OSError, subprocess.TimeoutExpired):
        return  # the program itself will say
    runtime = environment["LD_PRELOAD"].split(":")[1]
    if done.returncode == _ANOTHER:
        raise UsageError(
            f"{runtime} is no runtime of -fsanitize={SANITIZERS[name].option}.",
            f"$(c++ -print-file-name=lib{name}.so) is the one of your compiler.",
        )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()[:1]
        ends = f"by signal {-done.returncode}" if done.returncode < 0 else f"with {done.returncode}"
        raise UsageError(
            f"With {runtime} this Python ends before its first line, {ends}{': ' if said else '.'}{' '.join(said)}",
            _remedy(SANITIZERS[name], environment),
        )


def _remedy(sanitizer: Sanitizer, environment: Mapping[str, str]) -> str:
    """What may help a runtime that does not begin."""
    options = _ENDS.split(environment.get(sanitizer.variable, ""))
    if theirs := ":".join(each for each in options if each not in sanitizer.defaults):
        return f"Is it for your own {sanitizer.variable}={theirs}? Unset it."
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return "A runtime takes terabytes of addresses, and `ulimit -v` allows less: set it to unlimited."
    return "Another compiler's runtime may do: those of GCC 12 were tried, and Clang 14's for addresses."


def _runtime(sanitizer: Sanitizer, script: str, python_path: Iterable[str], option: str) -> str:
    own = [Path(script).resolve().parent, Path.cwd(), _jit_folder()]
    others = [Path(folder) for folder in python_path if Path(folder) not in own]
    libraries = chain(_libraries(own, _WITHOUT), _libraries(others, _WITHOUT | {"build"}))
    users = [found for path in libraries if (found := _use_of(path, sanitizer))]
    runtimes = {runtime for _path, needed in users if (runtime := _resolved(needed, sanitizer))}
    if len(runtimes) == 1:
        return runtimes.pop()
    flag = f"-fsanitize={sanitizer.option}"
    if len(runtimes) > 1:
        which = ", ".join(f"{short_path(str(path))} ({needed})" for path, needed in users)
        raise UsageError(
            f"The extensions here were built for several runtimes: {which}.",
            f"Build all of them with one compiler, or name the runtime: {option} /usr/lib/.../libasan.so.8",
        )
    if users:
        path, needed = users[0]
        raise UsageError(
            f"{short_path(str(path))} was built with {flag}, and its runtime {needed} is not on this machine.",
            f"Install it (Debian and Ubuntu: it comes with g++ or clang), or name it with {option}.",
        )
    raise UsageError(
        f"No extension of this program was built with {flag}: none below {short_path(str(own[0]))}, the current"
        " folder, or where this Python looks for modules.",
        f"Compile and link yours with {flag} -fno-omit-frame-pointer -g -O1: `pyharness init` writes a script for that"
        f" (`sh debugging/build.sh {sanitizer.short}`). Where the program builds it as it runs, name the runtime:"
        f" {option} $(c++ -print-file-name=lib{sanitizer.short}.so)",
    )


def _jit_folder() -> Path:
    """Where ``torch.utils.cpp_extension.load`` keeps what it builds."""
    return Path(os.environ.get("TORCH_EXTENSIONS_DIR") or Path.home() / ".cache" / "torch_extensions")


def _libraries(folders: Iterable[Path], without: frozenset[str]) -> Iterator[Path]:
    """The libraries below some folders, each once; ``without``: names of folders that are left out."""
    seen: set[str] = set()
    left = _MOST_FILES
    for folder in dict.fromkeys(folders):
        for place, inner, files in os.walk(folder):
            inner[:] = [name for name in inner if name not in without and not name.startswith(".")]
            if len(Path(place).parts) - len(folder.parts) >= _DEEPEST:
                inner.clear()
            left -= len(files)
            for name in files:
                path = os.path.realpath(os.path.join(place, name)) if ".so" in name else ""  # noqa: PTH118
                if path and path not in seen:
                    seen.add(path)
                    yield Path(path)
            if left < 0:
                break


def _use_of(path: Path, sanitizer: Sanitizer) -> tuple[Path, str] | None:
    """The library and the runtime that it needs; empty for one that leaves the choice to whoever preloads."""
    try:
        elf = Elf(str(path))
        needed = next((name for name in dynamic(elf).needed if _is_runtime(name, sanitizer)), None)
        if needed is None and not _calls(elf, sanitizer):
            return None
    except (ElfError, OSError):
        return None
    return path, needed or f"of clang (libclang_rt.{sanitizer.short}*.so)"


def _is_checked(path: Path, sanitizer: Sanitizer) -> bool:
    """Whether a library's code was compiled for a sanitizer, and not only linked for it."""
    try:
        return _calls(Elf(str(path)), sanitizer)
    except (ElfError, OSError):
        return False


def _calls(elf: Elf, sanitizer: Sanitizer) -> bool:
    return any(name.startswith(sanitizer.marks) for name in elf.wanted())


def _is_runtime(name: str, sanitizer: Sanitizer) -> bool:
    return re.match(rf"lib({sanitizer.short}|clang_rt\.{sanitizer.short})\b", name) is not None


def _resolved(needed: str, sanitizer: Sanitizer) -> str | None:
    """The path of a runtime by its name; ``None`` where it is not here."""
    asked = (
        ("c++", needed),
        ("clang++", f"libclang_rt.{sanitizer.short}-x86_64.so"),
        ("clang++", f"libclang_rt.{sanitizer.short}_standalone-x86_64.so"),
    )
    for compiler, name in asked if "clang" in needed else asked[:1]:
        found = _of_compiler(compiler, name)
        if found:
            return found
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/local/lib64"):
        if (path := Path(folder) / needed).exists():
            return str(path.resolve())
    return None


def _of_compiler(compiler: str, name: str) -> str | None:
    program = shutil.which((os.environ.get("CXX", "").split() or [compiler])[0] if compiler == "c++" else compiler)
    if program is None:
        return None
    asked = [program, f"-print-file-name={name}"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=_TIMEOUT).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.path.realpath(told) if told.startswith("/") and Path(told).exists() else None


def _standard_library() -> Iterator[str]:
    """The runtimes look for the function that throws as they start, and Python does not link to libstdc++."""
    found = _of_compiler("c++", "libstdc++.so.6") or "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"
    if Path(found).exists():
        yield found

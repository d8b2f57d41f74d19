"""What the system refuses, as an error with a remedy: files, threads, memory, words that are too long."""

from __future__ import annotations

import errno
from pathlib import Path

from pyharness.model.errors import HarnessError, UsageError

_NO_MORE_FILES = {
    errno.EMFILE: "This process may not open as many files as it needs",
    errno.ENFILE: "The machine opens no more files",
}
_MORE_FILES = "`ulimit -n` shows the limit, and `ulimit -n 1024` sets it for this shell."

_MORE_THREADS = "`ulimit -u` shows the limit of threads, `ulimit -v` and `ulimit -d` those of memory."
_SHORTER = "`getconf ARG_MAX` shows how long they may be together; one argument has at most 131,072 bytes. Pass a file."
_SHOWN = 60
"""Characters."""
_SHORTER_NAME = "A name has at most 255 bytes, a path 4,095."
_MORE_MEMORY = "`ulimit -v` shows the limit, and `ulimit -v unlimited` lifts it for this shell, where it may be lifted."


def of_the_system(error: Exception) -> HarnessError | None:
    """The error that says what the system lacks or refuses; ``None`` where ``error`` is of another kind."""
    if file_error := _of_files(error) if isinstance(error, OSError) else None:
        return file_error
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return HarnessError("The program's arguments or its environment are too long for the kernel.", _SHORTER)
    if isinstance(error, RuntimeError) and str(error).startswith("can't start new thread"):
        return HarnessError("This process may not have as many threads, or as much memory, as it needs.", _MORE_THREADS)
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return HarnessError("This process may not have as much memory as it needs.", _MORE_MEMORY)
    return None


def _of_files(error: OSError) -> HarnessError | None:
    if error.errno == errno.ENOENT and error.filename is None and _is_nowhere():
        return UsageError("This folder has been removed.", "Go to another folder first (cd).")
    if error.errno in _NO_MORE_FILES:
        return HarnessError(f"{_NO_MORE_FILES[error.errno]}: {error.strerror}.", _MORE_FILES)
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"'{str(error.filename)[:_SHOWN]}…' is no file: the name is too long.", _SHORTER_NAME)
    return None


def _is_nowhere() -> bool:
    try:
        Path.cwd()
    except OSError:
        return True
    return False

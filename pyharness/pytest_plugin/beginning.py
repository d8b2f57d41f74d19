"""Makes a process of pytest one whose end is told of: by whom it is supervised, and what it says of itself."""

from __future__ import annotations

import fcntl
import math
import os
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.debuggee import program_process
from pyharness.debuggee.entries.reported import Reporter
from pyharness.host.process_state import has_ended
from pyharness.model.errors import HarnessError
from pyharness.protocol.aftermath import Reported, read_now
from pyharness.pytest_plugin.files import MAIN, Journal, NowFile
from pyharness.pytest_plugin.lives import Lives
from pyharness.pytest_plugin.reports import Reports
from pyharness.pytest_plugin.supervisor import Ended, supervise
from pyharness.pytest_plugin.watching import Watching
from pyharness.pytest_plugin.workers import INPUT, Workers

if TYPE_CHECKING:
    from collections.abc import Iterator

_ABOVE = 100
"""Descriptors below are what tests expect to get."""


class _Begun:
    """The process that has begun: a pytest inside a test of another one is watched by that."""

    pid = 0


def begin(config: pytest.Config) -> None:
    """Supervise this process, and watch it; before the user's code is imported."""
    if _Begun.pid == os.getpid():
        config.pluginmanager.register(_Again(), "pyharness-again")
        return
    options = config.known_args_namespace
    seconds = options.pyharness_timeout
    if seconds is None:
        seconds = config.getini("pyharness_timeout")
    seconds = _seconds(seconds)
    kept = _writable(options.pyharness_report) if options.pyharness_report else Reporter.folder_of_program
    folder = tempfile.mkdtemp(prefix=f"pyharness-{os.getpid()}-")  # mode 0700
    reports = Reports(kept or str(Path(folder) / "reports"))
    now = _now_file(folder, MAIN)
    lives = Lives(Journal(folder), now, reports)
    program_process.rest()
    alone = _why_alone()
    if alone:
        config.add_cleanup(partial(_clear, folder))
    else:
        supervise(lives.goes_on, partial(_clear, folder))
    program_process.go_on()
    _watch(config, reports, now, _begun(Journal(folder), folder), seconds, alone=alone)
    config.pluginmanager.register(Workers(folder, reports, seconds), "pyharness-workers")
    if lives.deaths:
        from pyharness.pytest_plugin.collecting import NotAgain
        from pyharness.pytest_plugin.continuing import Continuing

        not_again = NotAgain(lives.at_import, reports)
        config.pluginmanager.register(Continuing(lives, not_again), "pyharness-continuing")
        config.pluginmanager.register(not_again, "pyharness-not-again")


def begin_worker(config: Any) -> None:
    """Watch a worker of xdist, whose controller has told it where to write."""
    told = config.workerinput.get(INPUT)
    if told is None or not Path(told["folder"]).is_dir():  # a controller without us, or on another host
        return
    reports = Reports(told["reports"], told["before"])
    ended = dict(_ended_workers(told["folder"], "collection"))
    tests = dict(_ended_workers(told["folder"], "test")) if told["again"] else {}
    if ended or tests:
        from pyharness.pytest_plugin.collecting import NotAgain

        config.pluginmanager.register(NotAgain(ended, reports, tests), "pyharness-not-again")
    name = f"{config.workerinput['workerid']}-{os.getpid()}"
    _watch(config, reports, _now_file(told["folder"], name), None, told["seconds"])


def _watch(
    config: pytest.Config, reports: Reports, now: NowFile, journal: Journal | None, seconds: float, alone: str = ""
) -> None:
    _Begun.pid = os.getpid()
    told_on = fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, _ABOVE) if alone else None  # before output is captured
    test = "" if alone else now.path
    ends = f"no other test runs: {alone}" if alone else ""
    reporter = Reporter(Reported(reports.folder, "pytest", tuple(sys.argv), test=test, told_on=told_on, ends=ends))
    try:
        reporter.begin()
        sanitized = _sanitized(reports)
    except (HarnessError, OSError) as error:
        raise pytest.UsageError(f"--pyharness: {error}") from None
    watching = Watching(config, reporter, now, journal, seconds, alone, reports)
    config.pluginmanager.register(watching, "pyharness-watching")
    if sanitized is not None:
        config.pluginmanager.register(sanitized, "pyharness-sanitized")


def _sanitized(reports: Reports) -> object | None:
    """The plugin that fails tests for what a sanitizer finds; ``None`` where none is preloaded."""
    if "LD_PRELOAD" not in os.environ:
        return None
    from pyharness.pytest_plugin.sanitizing import Sanitized

    return Sanitized.here(reports)


class _Again:
    """Plugin of a second pytest in the process."""

    @staticmethod
    def pytest_report_header() -> str:
        """Say what is not on."""
        return "pyharness: another pytest of this process is watched; a crash ends this one"


def _now_file(folder: str, name: str) -> NowFile:
    with _writes_in(folder):
        return NowFile(folder, name)


def _begun(journal: Journal, folder: str) -> Journal:
    with _writes_in(folder):
        journal.begin()
    return journal


@contextmanager
def _writes_in(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _clear(folder)
        raise pytest.UsageError(f"--pyharness: {folder}: {error.strerror}. Set TMPDIR to another folder.") from None


def _writable(folder: str) -> str:
    """The folder of the reports; found out now, and not when a test has crashed."""
    path = Path(folder).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise pytest.UsageError(f"--pyharness-report {folder}: {error.strerror}. Name another folder.") from None
    return str(path)


def _seconds(told: float | str) -> float:
    try:
        seconds = float(told)
    except ValueError:
        seconds = math.nan
    if seconds >= 0:
        return seconds
    raise pytest.UsageError(f"pyharness_timeout is no number of seconds: {told!r}. It is 0 for any time, or more.")


def _why_alone() -> str:
    """Why this process cannot be forked; empty where it can."""
    seat = sys.modules.get("pyharness.debuggee.link.seat")
    if seat is not None and seat.SEAT.session:
        return "a debugger is in this process"
    threads = len(os.listdir("/proc/self/task")) - 1  # noqa: PTH208  (names, not paths)
    if threads and not _are_of_openblas(threads):
        return "this process had threads before pytest began, of the program or of a plugin"
    if threading.current_thread() is not threading.main_thread():
        return "pytest was started beside the main thread"
    return ""


def _are_of_openblas(count: int) -> bool:
    from pyharness.pytest_plugin import openblas  # most processes have one thread

    return threading.active_count() == 1 and count <= openblas.threads()


def _clear(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _ended_workers(folder: str, doing: str) -> Iterator[tuple[str, Ended]]:
    """Workers of xdist that ended as they imported a file, or ran a test, by that: they leave what they said last."""
    for file in Path(folder).glob("*-*.now"):
        process = file.stem.rpartition("-")[2]
        now = read_now(str(file))
        if now.doing == doing and has_ended(int(process)):
            yield now.name, Ended(int(process), None)

"""Makes a process of pytest one whose end is told of: by whom it is supervised, and what it says of itself."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.debuggee.entries.reported import Reporter
from pyharness.host.process_state import has_ended
from pyharness.model.errors import HarnessError
from pyharness.protocol.aftermath import Reported, read_now
from pyharness.protocol.codec import encode
from pyharness.pytest_plugin.files import MAIN, Died, Journal, NowFile
from pyharness.pytest_plugin.supervisor import Ended, supervise
from pyharness.pytest_plugin.watching import Watching
from pyharness.pytest_plugin.workers import INPUT, Workers

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Begun:
    """The process that has begun: a pytest inside a test of another one is watched by that."""

    pid = 0


def begin(config: pytest.Config) -> None:
    """Supervise this process, and watch it; before the user's code is imported."""
    if _Begun.pid == os.getpid():
        return
    options = config.known_args_namespace
    folder = tempfile.mkdtemp(prefix=f"pyharness-{os.getpid()}-")  # mode 0700
    reports = str(Path(options.pyharness_report or Path(folder) / "reports").absolute())
    number, alone = 0, _why_alone()
    if not alone:
        number = supervise(partial(_goes_on, folder), partial(_clear, folder))
    seconds = options.pyharness_timeout
    if seconds is None:
        seconds = _seconds(config.getini("pyharness_timeout"))
    _watch(config, folder, reports, MAIN, seconds, alone=alone)
    config.pluginmanager.register(Workers(folder, reports, seconds), "pyharness-workers")
    if number:
        from pyharness.pytest_plugin.collecting import NotAgain
        from pyharness.pytest_plugin.continuing import Continuing

        continuing = Continuing(Journal(folder), reports)
        config.pluginmanager.register(continuing, "pyharness-continuing")
        config.pluginmanager.register(NotAgain(continuing.at_import, reports), "pyharness-not-again")


def begin_worker(config: Any) -> None:
    """Watch a worker of xdist, whose controller has told it where to write."""
    told = config.workerinput.get(INPUT)
    if told is None or not Path(told["folder"]).is_dir():  # a controller without us, or on another host
        return
    if ended := dict(_ended_workers(told["folder"])):
        from pyharness.pytest_plugin.collecting import NotAgain

        config.pluginmanager.register(NotAgain(ended, told["reports"]), "pyharness-not-again")
    name = config.workerinput["workerid"]
    _watch(config, told["folder"], told["reports"], f"{name}-{os.getpid()}", told["seconds"])


def _watch(config: pytest.Config, folder: str, reports: str, name: str, seconds: float, alone: str = "") -> None:
    _Begun.pid = os.getpid()
    now = NowFile(folder, name)
    reporter = Reporter(Reported(reports, "pytest", tuple(sys.argv), test="" if alone else now.path))
    try:
        reporter.begin()
    except (HarnessError, OSError) as error:
        raise pytest.UsageError(f"--pyharness: {error}") from None
    watching = Watching(config, reporter, now, Journal(folder, name), seconds, alone)
    config.pluginmanager.register(watching, "pyharness-watching")


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise pytest.UsageError(f"pyharness_timeout is no number of seconds: {text!r}") from None


def _why_alone() -> str:
    """Why this process cannot be forked; empty where it can."""
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208  (names, not paths)
        return "pytest was started in a program that has threads"
    if threading.current_thread() is not threading.main_thread():
        return "pytest was started beside the main thread"
    return ""


def _goes_on(folder: str, pid: int, code: int) -> bool:
    """Whether a test, or the import of a file of tests, has ended the process; then write that down."""
    now = read_now(os.path.join(folder, f"{MAIN}.now"))  # noqa: PTH118  (before the user's own pathlib)
    if not now.doing:
        return False
    Journal(folder).write("death", encode(Died(pid, code, now)))
    NowFile(folder, MAIN).say()
    return True


def _clear(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _ended_workers(folder: str) -> Iterator[tuple[str, Ended]]:
    """Workers of xdist that ended as they imported a file, by that: they leave what they said last."""
    for file in Path(folder).glob("*-*.now"):
        process = file.stem.rpartition("-")[2]
        now = read_now(str(file))
        if now.doing == "collection" and has_ended(int(process)):
            yield now.name, Ended(int(process), None)

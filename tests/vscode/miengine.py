"""Replays, against a real gdb, the MI commands that Microsoft's MIEngine sends for a configuration of launch.json.

The adapter itself is not to be had from the registries that this project uses. The order is that of MIEngine's
``DebuggedProcess.cs`` (``GetInitializeCommands``, ``ResumeFromLaunch``, ``HandleBreakModeEvent``) and ``Debugger.cs``.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

from kit.paths import ROOT
from pyharness.gdbmi.client import GdbClient, GdbError
from pyharness.gdbmi.records import Stream, quote

PATIENCE = 60


def launch_json():
    """This repository's launch.json, without its comments."""
    text = (ROOT / ".vscode/launch.json").read_text(encoding="utf-8")
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def configuration(name, **variables):
    """A configuration with VS Code's variables replaced; one that is not given is an error."""
    wanted = next(one for one in launch_json()["configurations"] if one["name"] == name)
    known = {"workspaceFolder": str(ROOT), **variables}

    def value(match):
        return known[match[1].removeprefix("input:")]

    return json.loads(re.sub(r"\$\{([\w:]+)\}", value, json.dumps(wanted)))


class _Gdb(GdbClient):
    """gdb whose console output can be waited for."""

    said = ""

    def __init__(self, on_notice):
        self.heard = threading.Condition()
        super().__init__(on_notice)

    def _dispatch(self, record):
        super()._dispatch(record)
        if isinstance(record, Stream):
            with self.heard:
                self.said += record.text
                self.heard.notify_all()

    def wait_for(self, text):
        with self.heard:
            assert self.heard.wait_for(lambda: text in self.said, PATIENCE), f"gdb never said {text!r}: {self.said}"


class MIEngine:
    """One session of type cppdbg; ``stop()`` waits for the next one that VS Code is told."""

    def __init__(self, wanted):
        self.configuration = wanted
        self.core = "coreDumpPath" in wanted
        self.state = "not connected"
        self.connected = False
        self.initial_break = None
        self._entry = None
        self.pids = []
        self.stops = queue.Queue()
        self._notices = queue.Queue()
        self.gdb = _Gdb(self._notices.put)
        threading.Thread(target=self._handle, daemon=True).start()

    def _handle(self):
        """What gdb says, on a thread of its own, as MIEngine's worker does."""
        while True:
            notice = self._notices.get()
            if notice is None:
                self.stops.put(None)
            elif notice.kind == "thread-group-started":
                self.pids.append(int(notice.values["pid"]))
            elif notice.kind == "running":
                self.state = "running"
            elif notice.kind == "stopped":
                self._on_stopped(notice.values)
            self._notices.task_done()

    def _on_stopped(self, values):
        if str(values.get("reason", "")).startswith("exited"):
            self.state = "exited"
            return
        self.state = "stopped"
        if "frame" not in values:  # a library was loaded: MIEngine clears the terminal, once, and goes on
            self.gdb.command("-gdb-set stop-on-solib-events 0")
            self.gdb.command("-exec-continue")
        elif not self.connected:
            self.initial_break = values
        elif self._entry and values.get("bkptno") == self._entry:
            self.gdb.command(f"-break-delete {self._entry}")
            self.gdb.command("-exec-continue")
        else:
            self.stops.put(values)

    # --- what MIEngine sends

    def command(self, text):
        result = self.gdb.command(text)
        self._notices.join()
        return result

    def console(self, text, *, ignore_failures=False):
        """MIEngine refuses a console command while it believes that the program runs."""
        assert self.state in {"stopped", "not connected"}, f"{text!r} while the program is {self.state}"
        try:
            self.command(f"-interpreter-exec console {quote(text)}")
        except GdbError:
            if not ignore_failures:
                raise

    def run(self, entry):
        text, ignore = entry["text"], entry.get("ignoreFailures", False)
        if text.startswith("-"):
            self.command(text)
        else:
            self.console(text, ignore_failures=ignore)

    def initialize(self):
        """Everything before VS Code is told that the session is there."""
        wanted = self.configuration
        load_all = wanted.get("symbolLoadInfo", {}).get("loadAll", True)
        self.command("-gdb-set mi-async on")
        for entry in wanted.get("setupCommands", []):
            self.run(entry)
        self.console("set pagination off")
        self.console("set debuginfod enabled off", ignore_failures=True)
        self.command(f"-gdb-set auto-solib-add {'on' if load_all else 'off'}")
        self.command(f"-gdb-set solib-search-path {Path(wanted['program']).parent}:")
        if not self.core:  # because gdb runs in VS Code's terminal
            self.command("-gdb-set stop-on-solib-events 1")
        for entry in wanted.get("customLaunchSetupCommands", []):
            self.run(entry)
        if "customLaunchSetupCommands" not in wanted:
            self._connect(wanted)
        return self

    def _connect(self, wanted):
        """The default commands, which custom ones replace."""
        if not self.core:
            self.command(f"-environment-cd {wanted['cwd']}")
            for name in ("PYTHONPATH", "PYTHONHOME"):  # VS Code's gdb has them; ours has none of Python's variables
                if name in os.environ:
                    self.console(f"set environment {name} {os.environ[name]}")
        self.command(f"-file-exec-and-symbols {wanted['program']}")
        if self.core:
            self.command(f"-target-select core {wanted['coreDumpPath']}")
            return
        self.command(f"-exec-arguments {' '.join(wanted['args'])}")
        with suppress(GdbError):
            self._entry = self.command("-break-insert -f main")["bkpt"]["number"]

    def set_breakpoint(self, place):
        """Whether it was bound at once."""
        return self.command(f"-break-insert -f {place}")["bkpt"].get("addr") != "<PENDING>"

    def resume(self):
        """configurationDone: a stop that came before is continued from, else ``launchCompleteCommand`` is sent."""
        self.connected = True
        if self.initial_break is not None:
            assert not self.initial_break.get("reason"), "VS Code would show this stop instead of going on"
            self.command("-exec-continue")
        elif self.core:
            self.stops.put(self.command("-thread-info"))
        else:
            ways = {"exec-continue": "-exec-continue", "exec-run": "-exec-run"}
            self.command(ways[self.configuration.get("launchCompleteCommand", "exec-run")])

    def stop(self):
        """The next stop that VS Code is told."""
        try:
            stop = self.stops.get(timeout=PATIENCE)
        except queue.Empty:
            stop = None
        assert stop is not None, "no stop came"
        return stop

    def frames(self, stop):
        thread = stop.get("thread-id") or stop.get("current-thread-id")
        return self.command(f"-stack-list-frames --thread {thread} 0 1000")["stack"]

    def carry_on(self):
        self.command("-exec-continue")

    def terminate(self):
        """Shift+F5: a running program is interrupted by a signal, then ``kill``, then gdb is ended."""
        if self.state == "running":
            os.kill(self.pids[0], signal.SIGTRAP)
            self.stop()
        self.command("kill")
        self.gdb.close()

    @property
    def transcript(self):
        return "\n".join(self.gdb.transcript)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.gdb.close()
        if kind is not None:
            sys.stderr.write(self.transcript[-6000:])

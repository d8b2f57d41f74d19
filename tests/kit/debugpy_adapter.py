"""A stock debugpy as an editor has it: its adapter process, spoken to over its standard streams."""

import socket
import subprocess
import sys

from pyharness.debugger.python.dap_client import DapClient


class DebugpyAdapter(DapClient):
    """Ends with its adapter."""

    def __init__(self, on_event):
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "debugpy.adapter"]
            self._process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
        super().__init__(ours, on_event, self._process.pid)

    def close(self):
        super().close()
        self._process.wait()

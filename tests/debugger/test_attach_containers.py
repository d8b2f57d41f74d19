"""A process in a PID namespace of its own numbers itself otherwise: its number there is somebody else's here."""

import subprocess
import sys
from pathlib import Path

import pytest

import pyharness
from kit import needs
from pyharness.model.errors import HarnessError

SCRIPT = "import time; print('ready', flush=True); time.sleep(60)"
APART = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


def test_it_is_refused():
    command = [*needs.surroundings(APART, "PID namespaces"), sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as outer:
        try:
            assert outer.stdout.readline() == "ready\n"
            (inner,) = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
            with pytest.raises(HarnessError, match="is in a PID namespace of its own") as raised:
                pyharness.attach(int(inner))
            assert "nsenter" in raised.value.remedy
        finally:
            outer.kill()

"""Processes that we share something with, and not all: PID and network namespaces, users."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pyharness
from kit import needs
from kit.paths import ROOT
from pyharness.model.errors import HarnessError

SCRIPT = "import time; print('ready', flush=True); time.sleep(60)"
APART = ["unshare", "--fork", "--kill-child"]


@pytest.mark.parametrize(
    ("how", "why"), [(["--pid", "--mount-proc"], "a PID namespace"), (["--net"], "a network name")]
)
def test_a_container_is_refused(how, why):
    """Its process's number in there is somebody else's here, and the other cannot reach us."""
    command = [*needs.surroundings([*APART, *how], "namespaces"), sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as outer:
        try:
            assert outer.stdout.readline() == "ready\n"
            (inner,) = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
            with pytest.raises(HarnessError, match=f"is in {why}") as raised:
                pyharness.attach(int(inner))
            assert "nsenter" in raised.value.remedy
        finally:
            outer.kill()


def test_a_user_who_cannot_read_our_files(tmp_path):
    needs.root("another user is needed")
    script = tmp_path / "nobody.py"
    script.write_text(f"import os; os.setgid(65534); os.setuid(65534); {SCRIPT}")
    away = tmp_path / "away"
    away.mkdir(mode=0o700)
    package = shutil.copytree(ROOT / "pyharness", away / "pyharness", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import sys, pyharness; pyharness.attach(int(sys.argv[1]))"
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as nobody:
        assert nobody.stdout.readline() == "ready\n"
        command = [sys.executable, "-c", code, str(nobody.pid)]
        environment = {**os.environ, "PYTHONPATH": str(package.parent)}
        done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
        nobody.kill()
    unreadable = "Permission denied" in done.stderr
    assert unreadable or "may its user not read Python's own files" in done.stderr  # nor the standard library, here

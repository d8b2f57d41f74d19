"""Microsoft's DebugClient, which VS Code's own adapters are tested with, debugs one program in both languages."""

import shutil
import subprocess
from pathlib import Path

import pytest
from client_session import ROOT

from kit import needs

HERE = Path(__file__).parent
pytestmark = pytest.mark.timeout(600)  # installs Node.js and npm, where there is none yet


@pytest.fixture(scope="session")
def modules():
    """The folder of DebugClient."""
    folder = ROOT / ".setup" / "dap-clients"
    done = subprocess.run(
        [HERE / "install.sh", folder], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        needs.downloaded(done.stderr.strip() or f"install.sh: {done.returncode}")
    return folder / "node_modules"


def test_debug_client(session, modules):
    said = session.run(
        shutil.which("node"), HERE / "debug_client.js", modules, session.pyharness, session.program, session.line
    )
    assert "DebugClient: passed" in said

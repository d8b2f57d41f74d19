"""nvim-dap, in a headless neovim, debugs one program in both languages."""

import os
import shutil
from pathlib import Path

import pytest
from client_session import ROOT

HERE = Path(__file__).parent
PLUGIN = Path(os.environ.get("PYHARNESS_NVIM_DAP") or ROOT / ".setup" / "nvim-dap")

needs_neovim = pytest.mark.skipif(
    not shutil.which("nvim"), reason="there is no neovim (Debian, Ubuntu: apt-get install neovim)"
)
needs_nvim_dap = pytest.mark.skipif(
    not (PLUGIN / "lua" / "dap.lua").exists(),
    reason="nvim-dap is in no package registry: clone it (0.7.0 to 0.10.0) and name the folder in $PYHARNESS_NVIM_DAP",
)


@needs_neovim
@needs_nvim_dap
def test_nvim_dap(session):
    said = session.run(
        *("nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n"),
        *("--cmd", f"set runtimepath^={PLUGIN}"),
        *("-c", f"luafile {HERE / 'nvim_dap.lua'}"),
        PYHARNESS=str(session.pyharness),
        PROGRAM=str(session.program),
        LINE=str(session.line),
    )
    assert "nvim-dap: passed" in said

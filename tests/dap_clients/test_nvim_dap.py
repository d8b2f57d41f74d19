"""nvim-dap, in a headless neovim, debugs one program in both languages."""

import os
from pathlib import Path

from client_session import ROOT

from kit import needs

HERE = Path(__file__).parent
PLUGIN = Path(os.environ.get("PYHARNESS_NVIM_DAP") or ROOT / ".setup" / "nvim-dap")

needs_neovim = needs.program("nvim", "apt-get install neovim")
needs_nvim_dap = needs.file(
    PLUGIN / "lua" / "dap.lua",
    "nvim-dap is in no package registry: clone it (0.7.0 to 0.10.0) and name the folder in $PYHARNESS_NVIM_DAP",
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

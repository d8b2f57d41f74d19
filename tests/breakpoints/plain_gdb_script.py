"""Commands for a gdb that is alone, without debugpy or a controller, and what it must say in this order."""

import os
import subprocess
import sys

import breakpoint_build
import pytest

needed = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="gdb does not start with the address sanitizer preloaded"
)
FIRST = ("set pagination off", "set debuginfod enabled off", f"source {breakpoint_build.ROOT}/pyharness/ingdb/load.py")


def run(commands, environment, folder):
    """What gdb printed."""
    script = folder / "script.gdb"
    script.write_text("\n".join([*FIRST, *map(str, commands), ""]))
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-x", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**environment, "PYHARNESS_PYTHON": sys.executable},
    )
    return done.stdout + done.stderr


def says(text, *parts):
    """Each of ``parts`` is there, after those before it."""
    position = 0
    for part in parts:
        found = text.find(part, position)
        assert found >= 0, f"{part!r} is not there (after what came before it) in\n{text}"
        position = found + len(part)

"""The debug build is what a debugger wants: asserts, unoptimized code, symbols, frame pointers, an index."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kit import needs

pytestmark = [pytest.mark.timeout(1200), pytest.mark.rotated_tests(turns=6)]  # the debug build, where there is none yet

ASK = "import dataclasses, json, pyharness.native as n; print(json.dumps(dataclasses.asdict(n.build_info())))"
FUNCTION = "pyharness::bind_build_info"


@pytest.fixture(scope="module")
def info(debug_build: Path) -> dict[str, object]:
    environment = {**os.environ, "PYHARNESS_BUILD": debug_build.name}
    return json.loads(subprocess.check_output([sys.executable, "-c", ASK], env=environment))


def gdb(module: Path, *commands: str) -> str:
    parts = [part for command in commands for part in ("-ex", command)]
    return subprocess.check_output(["gdb", "-nx", "-batch", *parts, str(module)], text=True)


def configured(build: Path, name: str) -> str:
    match = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1) if match else ""


def test_asserts_are_on(info):
    assert info["asserts"]
    assert info["torch_debug_asserts"]


def test_it_says_what_it_is(info, debug_module):
    import torch

    assert info["build_type"] == "debug"
    assert not info["optimized"]
    assert info["torch_version"] == torch.__version__
    assert info["file"] == str(debug_module)
    assert re.match(r"(gcc|clang) \d+", str(info["compiler"]))


def test_an_injected_ndebug_is_undone(debug_build):
    """Ours is the last word on the command line, after $CXXFLAGS and what distributions inject."""
    commands = json.loads((debug_build / "compile_commands.json").read_text(encoding="utf-8"))
    for entry in commands:
        if entry["file"].endswith("/csrc/build_info.cpp"):
            flags = [flag for flag in shlex.split(entry["command"]) if flag.endswith("NDEBUG")]
            assert flags[-1] == "-UNDEBUG"
            return
    pytest.fail("csrc/build_info.cpp is not built")


def test_gdb_sees_source_lines_and_variables(debug_module):
    assert "build_info.cpp" in gdb(debug_module, f"info line {FUNCTION}")
    assert "Symbol m is " in gdb(debug_module, f"info scope {FUNCTION}")


def test_functions_keep_a_frame_pointer(debug_module):
    assert re.search(r"mov\s+%rsp,%rbp", gdb(debug_module, f"disassemble {FUNCTION}"))


def test_the_index_is_baked_in(debug_build, debug_module):
    tools = ["PYHARNESS_LLD_INDEXES", "PYHARNESS_GDB_ADD_INDEX"]
    if not any(configured(debug_build, tool) not in {"", "0"} | {f"{tool}-NOTFOUND"} for tool in tools):
        needs.skip("neither a linker nor a gdb here can make an index")
    assert ".gdb_index" in subprocess.check_output(["readelf", "-SW", str(debug_module)], text=True)


def test_no_source_includes_torch_extension(root):
    """torch/extension.h costs each source half a minute."""
    sources = [path for path in (root / "csrc").rglob("*") if path.suffix in {".h", ".cpp"}]
    assert sources
    assert [path for path in sources if re.search(r"#include\s*<torch/extension\.h>", path.read_text("utf-8"))] == []

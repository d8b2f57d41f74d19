"""Stacks through libraries that gdb has not read: the same as gdb's own when it has read them."""

import json
import os
import subprocess
from pathlib import Path

import native_build
import pytest

from kit.paths import ROOT

TAIL_CALL = 3  # gdb.TAILCALL_FRAME
HERE = Path(__file__).parent
SOURCE = ROOT / "tests/programs/native_unread.c"


def built(folder, *flags):
    """A program whose library has hard frames."""
    library, program = folder / "libhard.so", folder / "program"
    compiler = ["gcc", "-g", *flags, str(SOURCE)]
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", library], check=True)
    subprocess.run([*compiler, "-DMAIN", "-rdynamic", "-o", program, library, f"-Wl,-rpath,{folder}"], check=True)
    return program


def whole_frames(stack):
    """A stack without inlined frames and frames of tail calls: they are not on the stack, symbols tell of them."""
    kept = [frame for frame in stack if frame[6] != TAIL_CALL]
    return [frame for above, frame in zip([None, *kept], kept, strict=False) if not above or above[1] != frame[1]]


@pytest.mark.parametrize(
    "flags", [("-O0",), ("-O2",), ("-O2", "-fomit-frame-pointer", "-fcf-protection=full"), ("-O1", "-Wl,-z,lazy")]
)
def test_hard_frames_are_unwound_as_gdb_does_with_symbols(tmp_path, flags):
    answer = tmp_path / "answer.json"
    environment = os.environ | {"NATIVE_ANSWER": str(answer), "PYHARNESS_HOME": str(tmp_path / "home")}
    program = built(tmp_path, *flags)
    said = native_build.gdb_runs(tmp_path, HERE / "native_unread.py", program=program, environment=environment)
    assert answer.exists(), said
    found = json.loads(answer.read_text())
    assert found["read"] == [False, True]
    mine, theirs = whole_frames(found["ours"]), whole_frames(found["theirs"])
    assert [frame[:2] for frame in mine] == [frame[:2] for frame in theirs], said
    for ours, their in zip(mine, theirs, strict=True):
        assert ours[2:5] == their[2:5], (ours, their)  # rbp, rbx, r12: what the compiler keeps variables in
    names = [frame[5] for frame in found["ours"]]
    assert {"here", "without_information", "compare", "enter", "main"} <= set(names), names
    assert found["walked"] == names[1:3]

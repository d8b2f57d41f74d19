"""A client that leaves while the engine is built, a minute or two, is answered at once, and the build ends with it."""

import os
import site
import stat
import sys

import pytest
from adapters import adapters_in

from kit import wheel
from kit.paths import PROGRAMS

PYHARNESS = (sys.executable, "-S", "-m", "pyharness", "dap")
NEVER_DONE = """#!/bin/sh
case " $* " in *" -o "*) exec 3>"$COMPILES"; exec sleep 1000 ;; esac
exec g++ "$@"
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """What the wheel has: no engine, but its sources."""
    return wheel.unpacked(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def compiles(tmp_path, package, monkeypatch):
    """A FIFO that is opened when the compiler works, which does not end."""
    compiler, fifo = tmp_path / "compiler", tmp_path / "compiles"
    compiler.write_text(NEVER_DONE)
    compiler.chmod(stat.S_IRWXU)
    os.mkfifo(fifo)
    monkeypatch.chdir(tmp_path)  # where no other pyharness is
    monkeypatch.delenv("PYHARNESS_BUILD", raising=False)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("COMPILES", str(fifo))
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(package), *site.getsitepackages()]))
    return fifo


@pytest.mark.parametrize("leaves", ["terminate", "disconnect", "hang up"])
def test_a_client_leaves_while_the_engine_is_built(leaves, compiles, tmp_path):
    with adapters_in(tmp_path) as adapters:
        client = adapters.stdio(PYHARNESS)
        client.request("initialize", adapterID="pyharness", pathFormat="path")
        client.post("launch", program=str(PROGRAMS / "op_eager.py"))
        client.event("initialized")
        asked = client.post("setFunctionBreakpoints", breakpoints=[{"name": "op:aten::mul"}])
        compiles.open("rb").close()
        if leaves == "hang up":
            client.hang_up()
        else:
            answer = client.response(client.post(leaves))
            assert answer["success"], answer
            refused = client.response(asked)["body"]["breakpoints"][0]
            assert "nobody waits for it" in refused["message"]
        client.hang_up()
        assert adapters.wait_gone(seconds=10) == {}
        assert "on_cancel_request" not in adapters.story()

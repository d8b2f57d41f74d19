"""Small libraries as a compiler, a linker and strip leave them, and checks run one by one on what is really there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kit import needs
from pyharness.doctor.machine import Machine, Wanted, machine_checks

SOURCE = """#include <cassert>
#include <string>
namespace c10 { namespace detail {
[[noreturn]] void torchCheckFail(const char*, const char*, unsigned, const std::string&);
} }
extern "C" int wants_torch(int n) {
  if (n > 3) c10::detail::torchCheckFail("f", "g", 1, std::string("x"));
#ifndef QUIET
  assert(n);
#endif
  return n;
}
"""


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """``compiled(NAME, *OPTIONS)``: a folder of its own with op.cpp and NAME; made once for all that ask the same."""
    compiler = needs.a_program("c++")
    made: dict[tuple[str, ...], Path] = {}

    def build(name: str, *options: str) -> Path:
        key = (name, *options)
        if key not in made:
            folder = tmp_path_factory.mktemp("extension")
            (folder / "op.cpp").write_text(SOURCE)
            made[key] = folder / name
            command = [compiler, "-shared", "-fPIC", *options, "op.cpp", "-o", name]
            subprocess.run(command, cwd=folder, check=True)
        return made[key]

    return build


@pytest.fixture
def examined(monkeypatch):
    """``examined(CHECK, ...)``: the findings of one check of the machine, by name; options are those of ``Wanted``."""
    monkeypatch.delenv("PYHARNESS_GDB", raising=False)
    machines = []

    def look(check, **wanted):
        machine = Machine(Wanted(**wanted))
        machines.append(machine)
        registered = next(one for one in machine_checks if one.look is check)
        return {one.check: one for one in registered(machine)}

    yield look
    for machine in machines:
        machine.pool.shutdown()


@pytest.fixture
def executable(tmp_path):
    """``executable(NAME, TEXT)``: a shell script in a folder of its own."""

    def write(name: str, text: str) -> Path:
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return file

    return write

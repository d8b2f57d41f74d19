"""The recorder's ring buffer, compiled without torch: under the thread sanitizer, and under the address sanitizer."""

import os
import subprocess
from pathlib import Path

import pytest

from kit.paths import ROOT

SOURCE = Path(__file__).with_name("ring_stress.cpp")
EVENTS = 200_000 * int(os.environ.get("PYHARNESS_STRESS", "1"))


def fixed_addresses():
    """What runs a program without randomized addresses; a container may forbid that, and new sanitizers do without."""
    command = ["setarch", "--addr-no-randomize"]
    return command if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0 else []


@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_a_ring_that_others_copy_while_it_is_written(sanitizers, tmp_path):
    program = tmp_path / "ring_stress"
    flags = ["-std=c++20", "-O2", "-g", f"-fsanitize={sanitizers}", "-Wno-tsan", f"-I{ROOT}"]
    subprocess.run(["g++", *flags, str(SOURCE), "-o", str(program)], check=True)
    # Without a preloaded sanitizer of the test run's own, and where the sanitizer's shadow expects everything.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    command = [*fixed_addresses(), str(program), str(EVENTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    copies, kept, lost = (int(part.split()[0]) for part in done.stdout.split(", "))
    assert copies > 1
    assert kept + lost == EVENTS

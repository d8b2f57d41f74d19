"""``pyharness fx`` with code of the user's that takes its process along: one sentence says what it was."""

import contextlib
import json
import signal
from pathlib import Path

import pytest

from kit.command import Command, environment_of
from kit.processes import ends_within

pytestmark = pytest.mark.rotated_tests(turns=5)


NET = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

class Crashing(torch.nn.Module):
    def forward(self, x):
        return die(x)

class Branching(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x

def die(x):
    import ctypes
    ctypes.string_at(0)

torch.fx.wrap("die")

def branching():
    import pyharness.fx
    return pyharness.fx.trace(Branching(), concrete_args={"x": torch.ones(1)})

def inputs():
    return torch.ones(2)
"""
PASSES = """
import os, signal
import net

def same(gm):
    return gm

def killer(gm):
    net.die(0)

def killed(gm):
    os.kill(os.getpid(), signal.SIGKILL)

def stays(gm):
    print("stays", flush=True)
    signal.pause()

PASSES = [same, killer]
"""
SEGV = "ended its process by SIGSEGV (Segmentation fault)."


def written(folder):
    for name, text in (("net.py", NET), ("passes.py", PASSES), ("at_once.py", "import net\nnet.die(0)\n")):
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path)


@pytest.mark.rotated
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("verify", "net.py:Net", "passes.py:killer"), f"The pass killer {SEGV}"),
        (("verify", "net.py:Net", "passes.py:killed"), "The pass killed ended its process by SIGKILL (Killed)."),
        (
            ("verify", "net.py:Crashing", "passes.py:same"),
            f"A run of net.py:Crashing, or of what passes.py:same makes of it, {SEGV}",
        ),
        (("verify", "at_once.py:Net", "passes.py:same"), f"/at_once.py {SEGV}"),
        (("bisect", "net.py:Net", "passes.py:PASSES"), f"The pass killer {SEGV}"),
        (("determinism", "passes.py:killer", "net.py:Net", "--seeds", "2"), f"passes.py:killer {SEGV}"),
    ],
)
def test_what_crashed_is_named(pyharness, folder, words, message):
    done = pyharness("fx", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    first, second = done.stderr.removeprefix("pyharness: ").splitlines()[-2:]
    assert message in first
    assert second == (
        "Somebody killed it, or the machine ran out of memory: `dmesg` says so."
        if "SIGKILL" in message
        else "Without pyharness it does so, too: PYTHONFAULTHANDLER=1 shows the line of Python."
    )


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What one that crashes says as JSON, and where it does."""
    folder = written(tmp_path_factory.mktemp("killed"))
    environment = {**environment_of(folder / "state"), "PYTHONFAULTHANDLER": "1"}
    words = ("fx", "verify", "net.py:Net", "passes.py:killer", "--json")
    with contextlib.closing(Command(environment, folder)) as command:
        yield command(*words)


def test_the_remedy_shows_the_line(killed):
    line = PASSES.split("net.die(0)", maxsplit=1)[0].count("\n") + 1
    assert f'passes.py", line {line} in killer' in killed.stderr


def test_json(killed):
    assert (killed.returncode, json.loads(killed.stdout)["error"]["message"]) == (1, f"The pass killer {SEGV}")


@pytest.mark.rotated
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_tells_us_to_end_ends_both(pyharness, folder, number):
    started = pyharness.start("fx", "verify", "net.py:Net", "passes.py:stays", cwd=folder)
    assert started.stdout.readline() == "stays\n"
    other = int(Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text())
    started.send_signal(number)
    out, error = started.communicate()
    assert (started.returncode, out, error) == (128 + number, "", "")
    assert ends_within(other, 20)


@pytest.mark.rotated
@pytest.mark.parametrize("verb", ["verify", "bisect", "determinism"])
def test_a_model_that_cannot_be_traced(pyharness, folder, verb):
    names = ["net.py:Branching", "passes.py:same"]
    done = pyharness("fx", verb, *(reversed(names) if verb == "determinism" else names), cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        "Give a GraphModule in its place, on the command line a function that gives one:"
        " pyharness.fx.trace(module, leaves=..., concrete_args=...) makes it."
    )

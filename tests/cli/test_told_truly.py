"""What goes wrong is told as what it is: whose code, which part of a file, which process, what lacks."""

import re
import subprocess
import sys
import time

import pytest

from kit import needs
from kit.command import PYHARNESS
from kit.paths import PROGRAMS
from pyharness.host.process_state import is_kernel_thread, lives_on

pytestmark = pytest.mark.rotated_tests(turns=6)


NET = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
class Wide(Net):
    def __init__(self, width):
        super().__init__()
def fuse(gm):
    return gm
def failing(gm):
    raise ValueError("mine")
def made():
    raise KeyError("mine too")
def wanting(n):
    return (torch.ones(n),)
PASSES = [fuse]
inputs = (torch.ones(2),)
"""
FAULTS = {
    "determinism net.py:Net net.py:fuse": (2, "fuse gives no module by itself: it must be given gm."),
    "determinism net.py:fuse": (2, "It must be given a GraphModule."),
    "determinism net.py:failing net.py:Net": (1, "failing raises ValueError: mine"),
    "verify net.py:fuse net.py:Net": (2, "fuse gives no module by itself: it must be given gm."),
    "verify net.py:Wide net.py:fuse": (2, "Wide gives no module by itself: it must be given width."),
    "verify net.py:Net net.py:failing": (1, "failing raises ValueError: mine"),
    "verify net.py:made net.py:fuse": (1, "made raises KeyError: 'mine too'"),
    "verify net.py:Net net.py:fuse --inputs net.py:wanting": (2, "The function of the inputs takes arguments."),
    "verify net.py:Net net.py:fuse --inputs net.py:made": (1, "made raises KeyError: 'mine too'"),
    "bisect net.py:PASSES net.py:Net": (2, "list gives a list, no module."),
    "bisect net.py:fuse net.py:Net": (2, "fuse gives no module by itself: it must be given gm."),
}


@pytest.mark.rotated
@pytest.mark.parametrize(("line", "told"), FAULTS.items(), ids=FAULTS)
def test_arguments_in_the_wrong_order_and_code_that_raises(typed, tmp_path, line, told):
    (tmp_path / "net.py").write_text(NET)
    done = typed("fx", *line.split())
    assert done.returncode == told[0], done.stderr
    assert told[1] in done.stderr
    assert "bug in pyharness" not in done.stderr
    assert "/pyharness/" not in done.stderr, "no line of ours"


@pytest.fixture(scope="module")
def whole_core(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cores")
    code = "print('on', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == "on\n"
        made = ["gcore", "-o", str(folder / "core"), str(process.pid)]
        subprocess.run(made, capture_output=True, check=True)
        process.kill()
    return (folder / f"core.{process.pid}").read_bytes()


def core_notes(core):
    """Where the notes of a core lie, and how long they are."""
    table, count = int.from_bytes(core[32:40], "little"), int.from_bytes(core[56:58], "little")
    for start in range(table, table + 56 * count, 56):
        if int.from_bytes(core[start : start + 4], "little") == 4:
            numbers = [int.from_bytes(core[start + at : start + at + 8], "little") for at in (8, 32)]
            return numbers[0], numbers[1]
    raise AssertionError("a core without notes")


@pytest.mark.rotated
@pytest.mark.parametrize("part", [17, 64, 2000, 0.01, 0.5])
def test_a_core_that_lacks_its_end(pyharness, whole_core, tmp_path, part):
    size = part if isinstance(part, int) else int(len(whole_core) * part)
    (tmp_path / "core").write_bytes(whole_core[:size])
    done = pyharness("stack", tmp_path / "core")
    assert done.returncode in {1, 2}
    assert f"is damaged or truncated: it has {size:,} bytes of " in done.stderr
    assert "not a core" not in done.stderr
    assert "Was the disk full" in done.stderr


def test_nothing_is_left_of_a_core_without_its_header(pyharness, tmp_path):
    stub = tmp_path / "stub"
    stub.write_bytes(b"\x7fELF")
    done = pyharness("stack", stub)
    assert f"{stub} is damaged or truncated: it has 4 bytes of 64." in done.stderr
    assert "shows what is left" not in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("byte", [0x00, 0xC9, 0xFF])
def test_a_core_with_damaged_notes(pyharness, whole_core, tmp_path, byte):
    start, length = core_notes(whole_core)
    core = bytearray(whole_core)
    core[start : start + length] = bytes([byte]) * length
    (tmp_path / "core").write_bytes(core)
    done = pyharness("stack", tmp_path / "core")
    assert done.returncode == 1
    assert "is damaged" in done.stderr
    assert "codec" not in done.stderr
    assert "not a core" not in done.stderr


def test_a_name_in_a_core_that_is_no_text(pyharness, whole_core, tmp_path):
    start, length = core_notes(whole_core)
    notes = whole_core[start : start + length].replace(b"/lib", b"/l\xc9b")
    (tmp_path / "core").write_bytes(whole_core[:start] + notes + whole_core[start + length :])
    done = pyharness("stack", tmp_path / "core")
    assert "codec" not in done.stderr
    assert "bug in pyharness" not in done.stderr


@pytest.mark.parametrize("verb", ["stack", "attach", "doctor"])
def test_a_thread_of_the_kernel(pyharness, verb):
    if not is_kernel_thread(2):
        needs.skip("no thread of the kernel is seen in this container")
    done = pyharness(verb, "2")
    assert done.returncode == 2
    assert "Process 2 is a thread of the kernel (" in done.stderr
    assert "capabilit" not in done.stderr.lower()


@pytest.mark.parametrize("verb", ["stack", "attach", "doctor"])
def test_a_process_whose_main_thread_has_ended(pyharness, verb):
    """The others run on: it has not ended, and Linux lets nobody attach to it."""
    code = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); print(flush=True); "
    )
    code += "ctypes.CDLL(None).pthread_exit(None)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        deadline = time.monotonic() + 10
        while lives_on(process.pid) is None:
            assert time.monotonic() < deadline
        try:
            done = pyharness(verb, str(process.pid))
            said = done.stdout + done.stderr
            assert f"The main thread of process {process.pid}" in said
            assert "has ended, and others run on" in said
            if verb == "stack":
                thread = re.search("`pyharness stack ([0-9]+)`", said)[1]
                assert "sleep" in pyharness("stack", thread).stdout
        finally:
            process.kill()


def test_a_node_of_code_that_has_no_file(environment):
    """Nothing on the machine can be written: that is told once, and not that no graph was made."""
    hide = needs.READ_ONLY_TEMPORARY
    alone = ["unshare", "--mount", "--", "sh", "-c", hide]
    needs.surroundings(alone, "no folder can be hidden here (unshare --mount)")
    command = [*alone, *PYHARNESS, "step", str(PROGRAMS / "fx_plain.py"), "--at", "fx:linear"]
    env = {**environment, "PYHARNESS_HOME": "/proc/nope"}
    done = subprocess.run(command, env=env, cwd="/proc", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "ran")
    message, remedy = done.stderr.splitlines()[-2:]  # on a busy machine it says before what it waits for
    assert message.startswith("pyharness: Nothing can stop at fx:linear: the generated code of Net has no file: ")
    assert "PYHARNESS_HOME" in remedy


def test_a_script_and_a_condition_that_are_nested_too_deeply(pyharness, tmp_path):
    (tmp_path / "deep.py").write_text("-" * 100_000 + "1\n")
    (tmp_path / "ok.py").write_text("x = 1\n")
    program = pyharness("step", "deep.py", "--at", "py:deep.py:1")
    assert (program.returncode, "Error" in program.stderr.splitlines()[0]) == (1, True), "as Python says it"
    condition = pyharness("step", "ok.py", "--at", f"py:ok.py:1 if {'-' * 20_000}1")
    assert condition.returncode == 2
    assert "bug in pyharness" not in program.stderr + condition.stderr


HOSTILE = """import torch
class Hostile(torch.Tensor):
    @property
    def shape(self):
        raise RuntimeError("no shape")
    @property
    def dtype(self):
        raise ValueError("no dtype")
    def __repr__(self):
        return "hostile"
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
nested.sin()
hostile = torch.ones(3).as_subclass(Hostile)
hostile.cos()
print("end")
"""


@pytest.mark.parametrize(("op", "text"), [("sin", "sin(float32[nested])"), ("cos", "cos(float32[3])")])
def test_an_op_stops_whatever_its_tensors_say_of_themselves(pyharness, tmp_path, op, text):
    (tmp_path / "hostile.py").write_text(HOSTILE)
    done = pyharness("step", tmp_path / "hostile.py", "--at", f"op:aten::{op}")
    assert f"breakpoint · native · aten::{op}" in done.stdout
    assert text in done.stdout
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_a_subclass_is_shown_by_torchs_own_properties(pyharness, tmp_path):
    (tmp_path / "hostile.py").write_text(HOSTILE)
    shown = pyharness(
        "debug", tmp_path / "hostile.py", "-c", "b py:hostile.py:14", "-c", "c", "-c", "locals", stdin=None
    )
    assert "hostile = Tensor float32 [3] cpu [1.0, 1.0, 1.0]" in shown.stdout


VERBS = [("debug",), ("run",), ("run", "--nan"), ("step",), ("trace",), ("fx", "show"), ("fx", "compiled")]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_script_whose_name_begins_with_a_dash_is_told_how_to_be_named(typed, tmp_path, verb):
    (tmp_path / "-dash.py").write_text("print(3)\n")
    done = typed(*verb, "--", "-dash.py")
    assert done.returncode == 2
    assert done.stderr == (
        "pyharness: Python takes '-dash.py' for an option, and runs no script of that name.\nWrite ./-dash.py\n"
    )


@pytest.mark.parametrize("verb", [verb for verb in VERBS if "--nan" not in verb], ids=" ".join)
def test_a_module_whose_name_begins_with_a_dash_is_none(typed, verb):
    done = typed(*verb, "-m", "-dash")
    assert done.returncode == 2
    assert "There is no module '-dash'" in done.stderr


def test_a_name_that_is_offered_can_be_typed(typed, tmp_path):
    (tmp_path / "-dash.py").write_text("print(3)\n")
    assert "Did you mean ./-dash.py?" in typed("step", "dash.py").stderr


@pytest.mark.parametrize("verb", [*VERBS, ("step", "--at", "py:../here.py:1")], ids=" ".join)
def test_a_script_named_from_a_folder_that_is_gone(typed, tmp_path, monkeypatch, verb):
    (tmp_path / "here.py").write_text("print(3)\n")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = typed(*verb, "../here.py")
    assert done.returncode == 2
    assert "../here.py is named from the current folder, which is not there any more." in done.stderr


def test_a_handle_of_a_program_that_has_ended(typed):
    done = typed("debug", "train-14330")
    assert done.returncode == 2
    assert "no program that is called so runs: it has ended, perhaps." in done.stderr

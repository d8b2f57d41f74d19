"""``pyharness run --nan``: the program ends at its first bad value, which is reported."""

import subprocess
import sys
from pathlib import Path

import pytest

from kit import inductor
from kit.command import PYHARNESS

pytestmark = pytest.mark.rotated_tests(turns=8)


BAD = """import torch

def loss(x):
    return torch.log(x).sum()

print("begun")
loss(torch.tensor([2.0, -1.0]))
print("went on")
"""
SWALLOWED = BAD.replace("loss(torch", "try: loss(torch").replace(
    '\nprint("went', '\nexcept RuntimeError: pass\nprint("went'
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))

    def finish(text):
        script = tmp_path / "program.py"
        script.write_text(text)
        command = [*PYHARNESS, "run", "--nan", str(script), "--its-own"]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    return finish


@pytest.mark.always
def test_a_bad_value_ends_it_and_is_reported(run):
    done = run(BAD)
    assert done.returncode == 1
    assert done.stdout == "begun\n"
    assert "NonFiniteError: aten::log made the first NaN" in done.stderr
    assert 'program.py", line 4, in loss' in done.stderr
    assert "The first NaN was made by aten::log: its inputs had none." in done.stderr
    assert "return torch.log(x).sum()" in done.stderr.partition("The first NaN")[2]


COMPILED = """import torch
from torch import nn

class Gate(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x) * torch.log(x) + 1

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()

    def forward(self, x):
        return self.gate(x.abs()) + self.gate(x)

with torch.no_grad():
    torch.compile(Net())(torch.tensor([[2.0, 3.0, -1.0]]))
print("went on")
"""


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_of_a_compiled_program_the_node_in_the_kernel_is_named(run, tmp_path, monkeypatch, cache):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "torch"))
    if cache == "warm":  # by a run without us
        (tmp_path / "program.py").write_text(COMPILED)
        subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, check=True, timeout=120)
    done = run(COMPILED)
    assert (done.returncode, done.stdout) == (1, "")
    assert "NonFiniteError: log_1 in cpp_fused_" in done.stderr
    report = done.stderr.partition("The first NaN was made by node log_1 in the kernel cpp_fused_")[2]
    assert "program.py:6 " in report
    assert "module gate" in report
    assert "log_1[0, 2] of arg0_1 = -1.0" in report
    assert ".log()" in report


def test_the_status_says_it_whatever_the_program_makes_of_it(run):
    done = run(SWALLOWED)
    assert (done.returncode, done.stdout) == (1, "begun\nwent on\n")
    assert "The first NaN was made by aten::log" in done.stderr


@pytest.mark.rotated
@pytest.mark.parametrize(("text", "status"), [("", 0), ("sys.exit(3)", 3), ("raise SystemExit", 0)])
def test_a_clean_program_keeps_its_status_and_is_told_so(run, text, status):
    done = run(f"import sys, torch\nprint(torch.ones(2).log().sum().item(), sys.argv[1:])\n{text}")
    assert (done.returncode, done.stdout) == (status, "0.0 ['--its-own']\n")
    assert "pyharness: no NaN or Inf was made" in done.stderr


def test_a_program_without_torch_is_told_so(run):
    done = run("print('no torch')")
    assert (done.returncode, done.stdout) == (0, "no torch\n")
    assert "torch was not imported" in done.stderr


def test_a_file_beside_the_script_is_not_taken_for_pythons(pyharness, tmp_path):
    folder = tmp_path / "beside"
    folder.mkdir()
    for name in ("typing", "re", "functools", "numbers"):
        (folder / f"{name}.py").write_text("raise ImportError('the script has this name')\n")
    (folder / "program.py").write_text("print('no torch')\n")
    done = pyharness("run", "--nan", folder / "program.py")
    assert (done.returncode, done.stdout) == (0, "no torch\n")
    assert "Traceback" not in done.stderr
    assert "torch was not imported" in done.stderr


def test_of_compiled_code_the_node_the_module_and_the_users_line_are_told(run):
    bad = "import torch\n\nclass Log(torch.nn.Module):\n    def forward(self, x):\n        return torch.log(x)\n\n"
    done = run(f"{bad}torch.compile(torch.nn.Sequential(Log()), backend='pyharness')(-torch.ones(2))")
    assert done.returncode == 1
    told = done.stderr.partition("The first NaN was made by aten::log")[2]
    assert "module 0, fx node log" in told
    assert "program.py:5" in told.partition("made from")[2].splitlines()[0]


LEAVES = """import os, sys, torch
def bad():
    try:
        torch.zeros(2) / 0
    except Exception:
        print("caught", flush=True)
if "fork" in sys.argv:
    if os.fork() == 0:
        bad()
        os._exit(0)
    os.wait()
else:
    bad()
    if "exec" in sys.argv:
        os.execv(sys.executable, [sys.executable, "-c", "print('new')"])
    os._exit(0)
"""


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize("way", ["_exit", "exec", "fork"])
def test_a_finding_is_told_where_python_does_not_end_by_itself(pyharness, tmp_path, way):
    (tmp_path / "leaves.py").write_text(LEAVES)
    done = pyharness("run", "--nan", tmp_path / "leaves.py", "--", way)
    assert done.stdout.startswith("caught\n")
    assert done.stderr.count("The first NaN was made by aten::div.Tensor") == 1
    assert ("whose ops are not among these" in done.stderr) == (way == "fork")


def test_a_finding_is_told_when_it_is_made(pyharness, tmp_path):
    (tmp_path / "dies.py").write_text(
        "import os, torch\ntry:\n    torch.log(torch.zeros(2))\nexcept Exception:\n    os.kill(os.getpid(), 9)\n"
    )
    done = pyharness("run", "--nan", tmp_path / "dies.py")
    assert done.returncode == -9
    assert done.stderr.count("The first Inf was made by aten::log") == 1


def test_a_child_does_not_tell_what_its_parent_has_found(pyharness, tmp_path):
    (tmp_path / "goes_on.py").write_text(
        "import multiprocessing, os, sys, torch\n"
        "try:\n    torch.zeros(2) / 0\nexcept Exception:\n    pass\n"
        "child = multiprocessing.get_context('fork').Process(target=print)\nchild.start()\nchild.join()\n"
        "if os.fork() == 0:\n    sys.exit(0)\n"
        "print(child.exitcode, os.wait()[1])\n"
    )
    done = pyharness("run", "--nan", tmp_path / "goes_on.py")
    assert (done.returncode, done.stdout.split()) == (1, ["0", "0"]), done.stderr
    assert done.stderr.count("The first NaN was made by aten::div.Tensor") == 1
    assert "no NaN" not in done.stderr


JOB = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(3) * (float("nan") if dist.get_rank() == 1 and {sends} else 1.0)
dist.all_reduce(x)
y = x * 2
if dist.get_rank() == 0 and {makes}:
    torch.log(torch.zeros(2))
dist.barrier()
"""


NO_OP = "no op that was seen made it.\n  Another rank may have sent it: all ranks need --nan"


@pytest.mark.parametrize(
    ("sends", "watched", "said"),
    [
        (False, "0,1", "rank 0: The first Inf was made by aten::log: its inputs had none.\n"),
        (True, "0", "rank 0: The first NaN came with c10d::allreduce_: this rank's part had none.\n  Another rank may"),
    ],
)
def test_in_a_job_it_says_which_rank(tmp_path, sends, watched, said):
    done = run_job(tmp_path, JOB.format(sends=sends, makes=not sends), watched)
    assert done.returncode != 0
    assert said in done.stderr, done.stderr
    assert ("Another rank may have sent it" in done.stderr) == sends


def run_job(folder, text, watched="0,1"):
    """A job of two ranks, of which some run under ``run --nan``."""
    (folder / "job.py").write_text(text)
    ours = " ".join(PYHARNESS)
    (folder / "rank.sh").write_text(
        f"case {watched} in *$RANK*) exec {ours} run --nan job.py;; *) exec {sys.executable} job.py;; esac\n"
    )
    launch = [Path(sys.executable).with_name("torchrun"), "--standalone", "--nproc-per-node", "2", "--no-python"]
    words = [*map(str, launch), "sh", "rank.sh"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


COLLECTIVES = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
large = torch.full((4,), 3e38)
rubbish = torch.zeros(4).view(torch.int32).fill_(-1).view(torch.float32)
"""


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dist.all_reduce(torch.full((4,), 4e4, dtype=torch.half))", "c10d::allreduce_: this rank's part had none."),
        ("dist.all_reduce(large, async_op=True).wait()", "c10d::allreduce_: this rank's part had none."),
        ("with dist._coalescing_manager(): dist.all_reduce(large)", "c10d::allreduce_coalesced_: this rank's part"),
        ("dist.reduce_scatter_tensor(torch.empty(2), large), large + 1", "c10d::_reduce_scatter_base_: this rank's"),
        ("dist.send(rubbish, 1) if rank == 0 else (dist.recv(large, 0), large + 1)", f"c10d::recv_: {NO_OP}"),
        ("dist.broadcast(rubbish, 0)", f"c10d::broadcast_: {NO_OP}"),
    ],
)
def test_what_a_collective_brings_is_seen_when_its_work_is_done(tmp_path, line, said):
    done = run_job(tmp_path, f"{COLLECTIVES}{line}\n")
    assert f"came with {said}" in done.stderr, done.stderr
    assert f"  line       job.py:{COLLECTIVES.count(chr(10)) + 1} in <module>" in done.stderr
    assert "NonFiniteError: c10d::" in done.stderr


def test_what_a_collective_overwrites_may_be_anything(tmp_path):
    """A broadcast's target is memory that nobody wrote, and an infinity that is sent is meant."""
    more = (
        "dist.broadcast(torch.ones(4) if rank == 0 else rubbish, 0)\n"
        "dist.broadcast(torch.full((4,), -torch.inf) if rank == 0 else torch.ones(4), 0)\n"
        "dist.all_gather([rubbish.clone(), rubbish.clone()], torch.ones(4))\n"
        "dist.all_reduce(torch.full((4,), -torch.inf), dist.ReduceOp.MAX)\n"
        "dist.barrier()\n"
    )
    done = run_job(tmp_path, COLLECTIVES + more)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no NaN or Inf was made") == 2, done.stderr

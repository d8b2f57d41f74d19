"""``pyharness trace`` of all ranks of a job: each writes files of its own, and ``--merge`` shows them as one."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kit.command import PYHARNESS
from kit.hosts import Hosts
from kit.rotation import always
from pyharness.model.errors import HarnessError
from pyharness.model.results import trace_file
from pyharness.report import tables

pytestmark = pytest.mark.rotated_tests(turns=5)

JOB = """
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
for _ in range(4):
    time.sleep(0.05 * dist.get_rank())
    model(torch.ones(2, 8)).sum().backward()
dist.barrier()
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder in which two ranks have written, and what they printed."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "late.py").write_text(JOB)
    launch = [Path(sys.executable).with_name("torchrun"), "--nproc-per-node", "2", "--master-port", "0", "--standalone"]
    words = [*launch, "--no-python", *PYHARNESS, "trace", "--save", "out.trace", "--html", "page.html", "late.py"]
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_each_rank_has_files_of_its_own(recorded):
    folder, printed = recorded
    for rank in (0, 1):
        assert re.search(rf"^rank {rank}: late\.py: \d+ ops, .*$", printed, re.MULTILINE)
        assert (folder / f"out-rank{rank}.trace").is_file()
        assert (folder / f"page-rank{rank}.html").is_file()
    assert "by op" not in printed


def test_together_they_say_for_whom_the_others_wait(recorded, pyharness):
    files = [recorded[0] / f"out-rank{rank}.trace" for rank in (0, 1)]
    page = recorded[0] / "all.html"
    done = pyharness("trace", "--merge", *files, "--html", page)
    assert done.returncode == 0, done.stderr
    assert re.match(r"late\.py, ranks 0-1: ", done.stdout)
    row = next(line for line in done.stdout.splitlines() if line.startswith("c10d::allreduce_ in backward"))
    assert re.search(r" 4 +[\d.]+ ms +[\d.]+ ms +rank 1 \(\d+\.\d%\)$", row)
    assert "rank 1 MainThread" in page.read_text()
    whole = json.loads(pyharness("trace", "--merge", *files, "--json").stdout)
    assert set(whole["ranks"].values()) == {0, 1}


def test_the_clocks_of_two_hosts_are_compared(tmp_path, pyharness, environment):
    (tmp_path / "late.py").write_text(JOB)
    saved = str(tmp_path / "out.trace")
    where = ["--nnodes", "2", "--nproc-per-node", "1", "--master-addr", "alpha", "--master-port", "29500"]
    env = {**environment, "GLOO_SOCKET_IFNAME": "v0", "OMP_NUM_THREADS": "1"}
    with Hosts(tmp_path, "alpha", "beta") as hosts:
        started = []
        for index, name in enumerate(hosts.names):
            launch = [sys.executable, "-m", "torch.distributed.run", *where, "--node-rank", str(index), "--no-python"]
            words = [*hosts.words(index), *launch, *PYHARNESS, "trace", "--save", saved, str(tmp_path / "late.py")]
            own = {**env, "PYHARNESS_HOME": str(tmp_path / f"home-{name}")}
            started.append(subprocess.Popen(words, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        for process in started:
            said = process.communicate(timeout=120)[1]
            assert process.returncode == 0, said
    done = pyharness("trace", "--merge", *(tmp_path / f"out-rank{rank}.trace" for rank in (0, 1)))
    assert re.search(r"^the clock of beta is .* (behind|ahead), measured to within .*\.$", done.stdout, re.MULTILINE)


def is_refused(data):
    """Whether it is no recording; one that is taken can be shown."""
    try:
        trace = trace_file.load(json.dumps(data).encode())
    except HarnessError as error:
        return "not a trace, or not a whole one" in error.message
    return not list(tables.lines(trace, tables.Manner()))


@always
def test_a_recording_is_shown_alone_and_a_damaged_one_refused(pyharness, tmp_path):
    (tmp_path / "plain.py").write_text("import torch\ntorch.ones(3).add(1)\n")
    assert pyharness("trace", "--save", "one.trace", "plain.py", cwd=tmp_path).returncode == 0
    shown = pyharness("trace", "--merge", "one.trace", cwd=tmp_path)
    assert "aten::add" in shown.stdout
    assert "one.trace is of no rank" in pyharness("trace", "--merge", "one.trace", "one.trace", cwd=tmp_path).stderr
    good = json.loads((tmp_path / "one.trace").read_text())
    damaged = [{**good, key: value} for key in good for value in (None, "x", {}, [[1]], 1e400, -1)]
    for place in range(len(good["events"][0])):
        first = [[] if at == place else each for at, each in enumerate(good["events"][0])]
        damaged.append({**good, "events": [first, *good["events"][1:]]})
    refused = sum(map(is_refused, damaged))
    assert refused > len(damaged) / 2


@always
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--merge"], "Which files?"),
        (["--merge", "-m", "json", "x"], "--merge runs nothing, and takes no -m."),
        (["--merge", "--inner-ops", "x"], "--merge runs nothing, and takes no --inner-ops."),
        (["--merge", "nothing.trace"], "nothing.trace cannot be read: No such file or directory."),
        (["--merge", "wrong.trace"], "wrong.trace: The file is not a trace, or not a whole one"),
        (["--merge", "other.trace"], "its format is 'pyharness trace 1'"),
        (["--merge", "wrong.trace", "--html", "wrong.trace"], "would overwrite the program."),
    ],
)
def test_what_cannot_be(pyharness, tmp_path, words, said):
    (tmp_path / "wrong.trace").write_text('["no recording"]')
    (tmp_path / "other.trace").write_text('{"format": "pyharness trace 1"}')
    done = pyharness("trace", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr

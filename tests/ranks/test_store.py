"""``pyharness ranks --store``: the ranks of several hosts, asked through the store that their launcher has."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from torch.distributed import TCPStore

from kit.command import PYHARNESS
from kit.hosts import Hosts
from kit.paths import PROGRAMS
from kit.processes import carrying
from kit.ranked_job import free_port
from pyharness.protocol import store as keys
from pyharness.ranks.processes import Table
from pyharness.ranks.store.wire import TcpStore

FAULTS = PROGRAMS / "ranks" / "faults.py"
PORT = 29500
TIMES = re.compile(r"(at most|for|thread) \d+( ms| s)?")


def answering(hosts, index):
    """The processes of a host that answer, without those that look for them."""
    return [process for process in hosts.running(index, "answers") if os.getsid(process) == process]


@contextmanager
def closing_descriptor(descriptor):
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def until_it_says(process, *texts, of=None):
    """What it says until it has said all of these, one after the other."""
    said = []
    for text in texts:
        for line in iter((of or process.stdout).readline, ""):
            said.append(line)
            if text in line:
                break
        else:
            raise AssertionError(f"{text} was not said: {''.join(said)}{process.stderr.read()}")
    return said


@pytest.fixture
def hosts(tmp_path):
    with Hosts(tmp_path, "alpha", "beta") as made:
        yield made


@pytest.fixture
def job(hosts, environment, tmp_path):
    """Two ranks on each host, which torchrun has started; rank 1 keeps the GIL, all others wait for it."""
    env = {**environment, "OMP_NUM_THREADS": "1", "PYHARNESS_STORE": "1"}
    where = ("--nnodes", "2", "--nproc-per-node", "2", "--master-addr", "alpha", "--master-port", str(PORT))
    started = []
    for index, name in enumerate(hosts.names):
        launcher = [sys.executable, "-m", "torch.distributed.run", *where, "--node-rank", str(index), "--no-python"]
        command = [*hosts.words(index), *launcher, *PYHARNESS, "run", str(FAULTS), "gil_kept"]
        own = {**env, "PYHARNESS_HOME": str(tmp_path / name)}  # processes have the same numbers on both
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(command, env=own, **quiet))
    yield
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.rotated_tests(turns=3, number=1)
@pytest.mark.timeout(200)
@pytest.mark.usefixtures("job")
@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize(("end", "patience"), [(signal.SIGKILL, 2), (signal.SIGSTOP, 9)], ids=["ends", "hangs"])
def test_two_hosts(hosts, pyharness, tmp_path, end, patience):
    """Where one of the two that answer for alpha is taken away the other one does; beta has none then."""

    beside = {"command": [*hosts.words_beside(1), *PYHARNESS]}

    def asked(*words):
        """A person who is on neither host."""
        return pyharness("ranks", "--store", f"{hosts.address(0)}:{PORT}", *words, **beside)

    def watched(*words):
        return pyharness.start("ranks", "--store", f"{hosts.address(0)}:{PORT}", *words, **beside)

    until = time.monotonic() + 90
    while "Ranks 0,2-3 wait for it" not in (both := asked()).stdout:
        assert time.monotonic() < until, both.stdout + both.stderr
        time.sleep(0.5)
    assert (both.returncode, both.stderr) == (1, "")
    assert both.stdout.startswith("4 ranks of faults.py (world 4) on 2 hosts; each stood for at most ")

    files = [tmp_path / "alpha.json", tmp_path / "beta.json"]
    for index, file in enumerate(files):
        file.write_text(pyharness("ranks", "--json", command=[*hosts.words(index), *PYHARNESS]).stdout)
    merged = pyharness("ranks", "--merge", *files)
    assert TIMES.sub("", merged.stdout) == TIMES.sub("", both.stdout)

    found = json.loads(asked("--json").stdout)
    assert [rank["host"] for rank in found["ranks"]] == ["alpha", "alpha", "beta", "beta"]
    watch = watched("--watch", "0.5")
    assert until_it_says(watch, "stands since")[-1].endswith("ranks 0-3\n")
    watch.send_signal(signal.SIGINT)
    assert watch.wait(30) == 130

    first, second = answering(hosts, 0)
    for process in (first, *answering(hosts, 1)):
        os.kill(process, end)
    one = asked("--timeout", patience)
    assert one.returncode == 1
    assert f"beta (rank 2 and those beside): no answer within {patience} s, so its ranks are not shown." in one.stderr
    assert "[2-3] not found here" in one.stdout
    assert "sleeps in gil_kept" in one.stdout

    watch = watched("--watch", "0.5", "--timeout", 9)
    until_it_says(watch, "[2-3] not found here")
    with closing_descriptor(os.pidfd_open(second)) as its_end:
        for rank in hosts.running(0, "gil_kept"):
            os.kill(rank, signal.SIGKILL)
        assert select.select([its_end], [], [], 30)[0]
    assert until_it_says(watch, "The job has ended.")
    assert watch.wait(30) == 0


BEGINS_ANEW = """
import os, subprocess, sys, time
def first():
    while not os.path.exists("go"):
        time.sleep(0.1)
    if os.environ["RANK"] == "1":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
        sys.exit(3)
    time.sleep(100)
def second():
    time.sleep(100)
first() if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0" else second()
"""


@pytest.mark.rotated_tests(turns=3, number=0)
def test_a_job_that_torchrun_begins_anew(pyharness, tmp_path):
    """One that watches sees both tries; what a rank of the first one has left behind is no rank of the second."""
    (tmp_path / "anew.py").write_text(BEGINS_ANEW)
    port = free_port()
    where = ("--nproc-per-node", "2", "--master-port", port, "--max-restarts", "1", "--monitor-interval", "0.2")
    torchrun = (sys.executable, "-m", "torch.distributed.run", *map(str, where), "--no-python")
    launcher = pyharness.start(*PYHARNESS, "run", "--store", "anew.py", command=torchrun)
    assert launcher.stderr is not None
    until_it_says(launcher, "all ranks: ", of=launcher.stderr)
    watch = pyharness.start("ranks", "--store", f"localhost:{port}", "--watch", "0.5")
    until_it_says(watch, "first()", "stands since")
    (tmp_path / "go").touch()
    seen = until_it_says(watch, "second()", "stands since")
    assert [line for line in seen if " of anew.py " in line][-1].startswith("2 ranks of anew.py (world 2)")
    assert not any("no answer" in line for line in seen)
    assert pyharness("ranks", launcher.pid).stdout.startswith("2 ranks of anew.py (world 2)")
    launcher.terminate()
    until_it_says(watch, "The job has ended.")
    assert watch.wait(30) == 0
    for left, _ in carrying(f"MASTER_PORT={port}"):
        os.kill(left, signal.SIGKILL)


LIVES = "import os, sys; print(os.environ.get('PYHARNESS_STORE'), flush=True); input()"


def test_a_store_may_come_late_and_come_back(pyharness, tmp_path):
    """A rank of no launcher's, without torch; the store is its first rank's in other jobs."""
    (tmp_path / "lives.py").write_text(LIVES)
    port = free_port()
    told = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    rank = pyharness.start("run", "--store", "lives.py", env={**pyharness.environment, **told})
    assert rank.stdout.readline() == "None\n"
    for _ in range(2):
        server = TCPStore("localhost", port, is_master=True, wait_for_workers=False)
        with TcpStore("localhost", port) as store:
            assert store.wait(keys.HOSTS, 60)
        shown = pyharness("ranks", "--store", f"localhost:{port}")
        assert shown.stdout.splitlines()[1:3] == ["[0]  <module>  lives.py:1  " + LIVES, "[0]  waits for input"]
        assert (shown.returncode, shown.stderr) == (0, "")
        del server
    (beside,) = [one.pid for one in Table().processes.values() if one.words[-2:] == ("answers", str(rank.pid))]
    with closing_descriptor(os.pidfd_open(beside)) as its_end:
        assert rank.communicate("\n", timeout=60)[1].endswith(f"all ranks: pyharness ranks --store localhost:{port}\n")
        assert select.select([its_end], [], [], 30)[0]


def test_programs_that_nobody_can_ask(pyharness, tmp_path):
    (tmp_path / "ends.py").write_text("print('ran')")
    alone = pyharness("run", "--store", "ends.py")
    assert "no rank answers through a store: no launcher has told this program its rank." in alone.stderr
    nowhere = pyharness("run", "--store", "ends.py", env={**pyharness.environment, "RANK": "0"})
    assert "no rank of this host answers through a store: MASTER_ADDR and MASTER_PORT do not say" in nowhere.stderr
    off = pyharness("run", "ends.py", env={**pyharness.environment, "PYHARNESS_STORE": "0"})
    assert "store" not in off.stderr
    assert {shown.stdout for shown in (alone, nowhere, off)} == {"ran\n"}

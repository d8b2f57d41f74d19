"""Ranks of a real Slurm: their rank is known from what ``srun`` says, and daemons of Slurm's start them."""

import contextlib
import json
import shlex
import subprocess
import sys
import time

import pytest

from kit.command import PYHARNESS
from kit.hosts import CARD, Hosts
from kit.marks import place
from kit.paths import PROGRAMS
from kit.processes import carrying
from kit.ranked_job import free_port
from kit.slurm import nodes_of, slurm_of, this_machine
from pyharness.model.ranks.launchers import told_rank

SCRIPT = PROGRAMS / "ranks" / "slurm_faults.py"
BLAMED = "culprit: rank 1 never came to all_reduce #4 of default_pg. It sleeps in sleeps ("
pytestmark = [pytest.mark.timeout(200), pytest.mark.rotated_tests(turns=6)]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    with slurm_of(tmp_path_factory.mktemp("slurm"), this_machine()) as made:
        yield made


@pytest.fixture
def command(pyharness, slurm, port):
    return _below(pyharness, slurm, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))


def _below(pyharness, slurm, **told):
    """``pyharness ...`` where Slurm's commands are; what runs there knows the job's store."""
    pyharness.environment = {**pyharness.environment, **slurm.environment, "OMP_NUM_THREADS": "1", **told}
    return pyharness


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def started(command):
    """``started(WORD...)``: what runs until the end of the test."""
    with contextlib.ExitStack() as stack:

        def start(*words, **more):
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            env = {**command.environment, **more}
            process = subprocess.Popen([*map(str, words)], env=env, cwd=command.folder, **quiet)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            return process

        yield start


def test_a_step_that_hangs(command, slurm, started, port, tmp_path):
    """Found by srun's number, from within its job, through its store; and its reports."""
    command.environment["PYHARNESS_STORE"] = "1"
    started(sys.executable, "-c", "import time; time.sleep(300)", RANK="0", MASTER_PORT="1")  # another job
    srun = started("srun", "-n", "3", *PYHARNESS, "run", "--report", tmp_path / "out", "--hang", "4", SCRIPT, "sleeps")
    until = time.monotonic() + 90
    while "Ranks 0,2 wait for it" not in (seen := command("ranks", srun.pid, "--json")).stdout:
        assert time.monotonic() < until, seen.stdout + seen.stderr
    found = json.loads(seen.stdout)
    assert (found["launcher"], found["world"], found["verdict"]["culprits"]) == (srun.pid, 3, [1])

    (number,) = slurm.jobs()
    step = ("srun", "--jobid", number, "--overlap", "--nodes", "1", "--ntasks", "1", *PYHARNESS, "ranks")
    (tmp_path / "host.json").write_text(command("--json", command=step).stdout)
    together = command("ranks", "--merge", tmp_path / "host.json").stdout
    assert together.startswith("3 ranks of slurm_faults.py (world 3); ")
    assert BLAMED in together
    assert BLAMED in command("ranks", "--store", f"127.0.0.1:{port}").stdout

    while not (reports := list((tmp_path / "out").glob("ranks-hang-*.txt"))):
        assert time.monotonic() < until, list((tmp_path / "out").iterdir())
        time.sleep(0.1)
    assert len(reports) == 1
    # On a busy machine a rank may have stood for so long before: who is to blame is not asked here.
    assert reports[0].read_text().startswith("3 ranks of slurm_faults.py (world 3); ")


@pytest.mark.rotated_tests(turns=6, number=2)
def test_two_nodes(pyharness, tmp_path):
    """The guide's commands look on each node of the job, or through its store; quit ends what runs elsewhere."""
    with Hosts(tmp_path, "alpha", "beta") as hosts, slurm_of(tmp_path, nodes_of(hosts)) as slurm:
        command = _below(pyharness, slurm, MASTER_ADDR="alpha", MASTER_PORT="29500", GLOO_SOCKET_IFNAME=CARD)
        there = hosts.words(0)
        job = ("srun", "--chdir", tmp_path, "--nodes", "2", "--ntasks", "4", *PYHARNESS, "run", "--store", SCRIPT)
        command.start(*map(str, job), "sleeps", command=there)
        until = time.monotonic() + 90
        store = ("ranks", "--store", "alpha:29500")
        while "Ranks 0,2-3 wait for it" not in (seen := command(*store, command=[*there, *PYHARNESS])).stdout:
            assert time.monotonic() < until, seen.stdout + seen.stderr
            time.sleep(0.5)
        assert seen.stdout.startswith("4 ranks of slurm_faults.py (world 4) on 2 hosts; ")
        look = f"{shlex.join(PYHARNESS)} ranks --json > {tmp_path}/$(hostname).json"
        step = ("--overlap", "--nodes", "2", "--ntasks", "2", "sh", "-c", look)
        (number,) = slurm.jobs()
        command("--jobid", number, *step, command=[*there, "srun"])
        together = command("ranks", "--merge", tmp_path / "alpha.json", tmp_path / "beta.json").stdout
        assert together.startswith("4 ranks of slurm_faults.py (world 4) on 2 hosts; ")
        assert BLAMED in together
        slurm.said("scancel", number)
        assert slurm.has_ended()

        words = (
            "debug",
            "--ranks",
            "0",
            "--",
            "srun",
            "--nodes",
            "2",
            "--ntasks",
            "4",
            sys.executable,
            SCRIPT,
            "sleeps",
        )
        done = command(*words, command=[*there, *PYHARNESS], stdin=None, input="ranks\nquit\n")
        assert done.returncode == 0, done.stderr
        assert "entry · python · <module>" in done.stdout
        assert "3  have not called in: they have not begun, or run on another host" in done.stdout
        assert slurm.has_ended(), slurm.said("squeue")
        assert not [one for index in range(2) for one in hosts.running(index, str(SCRIPT))]


@pytest.mark.parametrize(
    ("told", "rank"),
    [
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "3", "SLURM_STEP_ID": "0", "SLURM_LOCALID": "1"}, (2, 3, 1)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "3"}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"}, None),
    ],
    ids=["a task", "a batch script", "alone in its step"],
)
def test_what_slurm_says_to_each(told, rank):
    assert told_rank(told) == rank


def test_a_rank_below_srun_is_debugged_and_nothing_is_left(command, slurm, port):
    job = ("srun", "-n", "3", sys.executable, SCRIPT, "sleeps")
    lines = "ranks\np os.environ['RANK'] * 3\nquit\n"
    where = place("main", SCRIPT)
    done = command("debug", "--ranks", "2", "--at", where, "--", *job, stdin=None, input=lines)
    assert done.returncode == 0, done.stderr
    assert "stands in <module>" in done.stdout
    assert "'222'" in done.stdout
    assert "0-1  not debugged" in done.stdout
    assert slurm.has_ended(), slurm.said("squeue")
    assert not list(carrying(f"MASTER_PORT={port}"))

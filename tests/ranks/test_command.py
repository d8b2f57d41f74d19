"""``pyharness ranks``: jobs of every launcher, what is shown, files put together, and what is said of bad input."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from kit.made_job import a_job
from kit.paths import PROGRAMS
from kit.ranked_job import RankedJob, free_port
from pyharness.ranks.finding import find
from pyharness.ranks.processes import Table
from pyharness.reading.live.rank import group_of

FAULTS = PROGRAMS / "ranks" / "faults.py"
SPAWNS = PROGRAMS / "ranks" / "spawns.py"
pytestmark = [pytest.mark.timeout(200), pytest.mark.rotated_tests(turns=11)]


@pytest.fixture
def await_fault(pyharness):
    """What ``pyharness ranks WORD...`` says once it blames somebody."""

    def shown(*words):
        end = time.monotonic() + 90
        # On a busy machine another rank may be late, too, for a while.
        while (result := pyharness("ranks", *words)).returncode != 1 or not _of_one(result.stdout):
            assert time.monotonic() < end, result.stdout + result.stderr
            time.sleep(0.5)
        return result.stdout

    return shown


def _of_one(shown):
    if shown.startswith("{"):
        return len(json.loads(shown)["verdict"]["culprits"]) == 1
    return "culprit: " in shown


@pytest.fixture
def launched():
    """A launcher and all that it starts, ended with the test."""
    started = []

    def start(*words, **more):
        env = {**os.environ, "OMP_NUM_THREADS": "1", "MASTER_PORT": str(free_port()), **more}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen([sys.executable, *map(str, words)], env=env, start_new_session=True, **quiet))
        return started[-1]

    yield start
    for process in started:
        ranks = Table().descendants(process.pid)  # each of torchrun's is in a session of its own
        for pid in (process.pid, *(one.pid for one in ranks)):
            os.kill(pid, signal.SIGKILL)
        process.wait()


@pytest.mark.always
def test_the_tree_and_the_culprit(await_fault):
    with RankedJob(FAULTS, "sleeps", size=4) as job:
        shown = await_fault(str(job.ranks[2].pid))
        assert job.ranks[0].poll() is None
    lines = shown.splitlines()
    assert lines[0].startswith("4 ranks of faults.py (world 4); each stood for at most ")
    assert any(line.startswith("[0-3]    main  ") and "faults.py:" in line for line in lines)
    assert any(line.startswith("[0,2-3]  ├ train  ") and "faults.py:" in line for line in lines)
    assert "[0,2-3]  │ waits in all_reduce #4 of default_pg  float32 [4, 8]" in lines
    assert "[1]        sleeps" in lines
    assert "culprit: rank 1 never came to all_reduce #4 of default_pg. It sleeps in sleeps (" in shown


def test_torchrun_by_its_pid_and_in_json(await_fault, launched):
    """Slurm has started torchrun, and calls it a rank."""
    rendezvous = ("--nproc-per-node", "3", "--master-port", free_port())
    by_srun = {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
    launcher = launched("-m", "torch.distributed.run", *rendezvous, FAULTS, "computes", **by_srun)
    found = json.loads(await_fault(str(launcher.pid), "--json"))
    assert (found["world"], found["launcher"], found["verdict"]["culprits"]) == (3, launcher.pid, [1])
    assert [rank["number"] for rank in found["ranks"]] == [0, 1, 2]
    pending = [one for one in found["ranks"][0]["groups"][0]["collectives"] if one["state"] != "completed"]
    assert [(one["operation"], one["sequence"], one["inputs"], one["dtypes"]) for one in pending] == [
        ("all_reduce", 4, [[4, 8]], ["float32"])
    ]
    assert pending[0]["place"].endswith("tests/programs/ranks/faults.py:30")


def test_ranks_that_multiprocessing_started(await_fault, launched):
    launcher = launched(SPAWNS)
    shown = await_fault(str(launcher.pid), "--threads")
    assert "culprit: rank 2 never came to barrier #1 of default_pg. It waits for an event" in shown
    assert 'times thread "gloo_tcp_loop", of ranks 0-2' in shown


STARTED = """import sys, time
import torch, torch.distributed as dist
rank, world, port = map(int, sys.argv[1:])
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
time.sleep(100 * rank)
dist.all_reduce(torch.ones(3))
time.sleep(100)
"""
SHELL = 'from subprocess import run; run(["sh", "-c", {line!r}])'


def of_a_shell(script, *ranks):
    """Runs a script as ranks below one shell, which says nothing of that in their environment."""
    one = "{} {} {} & "
    return SHELL.format(line="".join(one.format(sys.executable, script, rank) for rank in ranks) + "wait")


def test_ranks_of_a_shell_are_known_by_their_process_group(await_fault, launched, tmp_path):
    (tmp_path / "started.py").write_text(STARTED)
    port = free_port()
    job = launched("-c", of_a_shell(tmp_path / "started.py", f"0 2 {port}", f"1 2 {port}"), RANK="", WORLD_SIZE="")
    shown = await_fault(str(job.pid))
    assert "2 ranks of started.py (world 2)" in shown
    assert "culprit: rank 1 never came to all_reduce #1 of default_pg. It sleeps" in shown


def test_two_jobs_of_one_shell_are_not_one(launched, tmp_path):
    (tmp_path / "started.py").write_text(STARTED)
    ports = free_port(), free_port()
    job = launched("-c", of_a_shell(tmp_path / "started.py", *(f"0 1 {port}" for port in ports)), RANK="")
    end = time.monotonic() + 60
    while len(ranks := [one for one in Table().descendants(job.pid) if group_of(one.pid)]) < len(ports):
        assert time.monotonic() < end
        time.sleep(0.3)
    assert [len(find(str(one.pid)).members) for one in ranks] == [1, 1]


def test_a_page(pyharness, tmp_path):
    written = pyharness("ranks", "--merge", write(tmp_path / "a.json", a_job(4, culprit=1)), "--html", "a.html")
    assert "a.html: " in written.stdout
    assert "pyharness ranks" in (pyharness.folder / "a.html").read_text()
    over = pyharness("ranks", "--merge", str(tmp_path / "a.json"), "--html", str(tmp_path / "a.json"))
    assert "would overwrite" in over.stderr


def test_a_watch_says_what_moves(pyharness):
    with RankedJob(FAULTS, "sleeps") as job:
        job.judged(lambda verdict: verdict.is_fault)
        watch = pyharness.start("ranks", str(job.ranks[0].pid), "--watch", "0.5")
        said = iter(watch.stdout.readline, "")
        assert next(line for line in said if "stands since" in line)
    assert "The job has ended." in [line.strip() for line in said]
    assert watch.wait(60) == 0
    assert "--watch shows the tree, and takes no --json." in pyharness("ranks", "--watch", "1", "--json").stderr


def test_core_files_of_all_ranks(pyharness, tmp_path):
    with RankedJob(FAULTS, "native_lock", size=2) as job:
        job.judged(lambda verdict: verdict.is_fault)
        for process in job.ranks:
            writes = ["-p", str(process.pid), "-ex", f"gcore {tmp_path}/core.{process.pid}"]
            command = ["gdb", "-nx", "-batch", "-iex", "set auto-solib-add off", *writes]  # it needs no symbols
            subprocess.run(command, check=True, capture_output=True, env={**os.environ, "DEBUGINFOD_URLS": ""})
    cores = sorted(map(str, tmp_path.glob("core.*")))
    shown = pyharness("ranks", "--core", *cores, "--json")
    found = json.loads(shown.stdout)
    assert [rank["number"] for rank in found["ranks"]] == [0, 1]
    assert found["verdict"]["culprits"] == [1]
    assert "It waits for a mutex in native_lock (" in found["verdict"]["sentence"]
    assert "is not a core file" in pyharness("ranks", "--core", __file__).stderr


def write(path, job, ranks=slice(None)):
    path.write_text(json.dumps(replace(job, ranks=job.ranks[ranks]).to_json()))
    return str(path)


def test_files_of_two_hosts_are_one_job(pyharness, tmp_path):
    job = a_job(8, culprit=5)
    parts = [write(tmp_path / "a.json", job, slice(4)), write(tmp_path / "b.json", job, slice(4, None))]
    alone, both = pyharness("ranks", "--merge", parts[0]), pyharness("ranks", "--merge", *parts)
    assert "[4-7] not found here" in alone.stdout
    assert both.returncode == 1
    assert both.stdout.splitlines()[0] == "8 ranks of train.py (world 8)"
    assert "culprit: rank 5 never came to all_reduce #2 of default_pg. It sleeps in layer5" in both.stdout


def test_a_thousand_ranks_are_a_page(pyharness, tmp_path):
    shown = pyharness("ranks", "--merge", write(tmp_path / "a.json", a_job(1024, culprit=700)))
    lines = shown.stdout.splitlines()
    assert len(lines) <= 60
    assert "33 more ways" in shown.stdout or "32 more ways" in shown.stdout
    assert any(line.startswith("[700]") and line.endswith("sleeps") for line in lines)
    assert "culprit: rank 700 never came to" in shown.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "holds no JSON"),
        ("[" * 100_000, "holds no JSON"),
        ("[]", "is no output of `pyharness ranks --json`"),
        ('{"format": "pyharness ranks 99"}', "is a file of another version: 'pyharness ranks 99'"),
        ('{"format": "pyharness ranks 1", "name": "x", "launcher": 0, "ranks": [3]}', "is damaged (TypeError"),
        ('{"format": "pyharness ranks 1", "name": "x", "launcher": 0, "ranks": [{}]}', "is damaged (KeyError"),
    ],
)
def test_a_file_that_is_none(pyharness, tmp_path, text, said):
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    result = pyharness("ranks", "--merge", str(path))
    assert result.returncode in {1, 2}
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda job: job["ranks"][0]["groups"][0].update(description=[[]]), "groups[0].description is not a text"),
        (lambda job: job["ranks"][1]["threads"][0]["stack"][0].update(function=True), ".function is not a text: True"),
        (lambda job: job["ranks"][1].update(raised={}), "the job.ranks[1].raised is not a text"),
        (lambda job: job.update(name=None), "the job.name is not a text: None"),
    ],
)
def test_a_value_of_another_type(pyharness, tmp_path, change, said):
    job = a_job(2).to_json()
    change(job)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(job))
    result = pyharness("ranks", "--threads", "--merge", str(path))
    assert result.returncode == 1
    assert said in result.stderr


def test_what_is_no_job(pyharness):
    nothing = pyharness("ranks", "no-such-program-anywhere")
    assert nothing.returncode == 2
    assert "No distributed job of yours has 'no-such-program-anywhere' in a command line." in nothing.stderr
    assert "There is no process 4194304 of yours." in pyharness("ranks", "4194304").stderr
    assert "2 jobs are named, and one can be shown." in pyharness("ranks", "1", "2").stderr
    assert "--merge needs files." in pyharness("ranks", "--merge").stderr
    assert "nan is no number of seconds." in pyharness("ranks", "--watch", "nan").stderr
    with subprocess.Popen(["sleep", "60"]) as other:
        assert f"Process {other.pid} is no rank, and has started none." in pyharness("ranks", str(other.pid)).stderr
        other.kill()


def test_a_process_that_is_no_rank_is_shown_alone(pyharness):
    with subprocess.Popen([sys.executable, "-c", "print('up', flush=True); input()"], stdin=-1, stdout=-1) as process:
        process.stdout.readline()
        shown = pyharness("ranks", str(process.pid))
        process.communicate()
    assert shown.returncode == 0
    assert "[1 without a rank]  waits for input" in shown.stdout

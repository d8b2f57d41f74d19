"""``pyharness step --ranks``: the same steps in several ranks of a job, at once."""

import json
import sys
from pathlib import Path

import pytest

from kit.marks import place
from kit.paths import PROGRAMS
from kit.processes import carrying
from kit.ranked_job import free_port

SCRIPT = PROGRAMS / "ranks" / "trains.py"
pytestmark = [pytest.mark.timeout(150), pytest.mark.rotated_tests(turns=9)]


@pytest.fixture
def port():
    """The port of the job's store, which is the mark of its processes, too."""
    return free_port()


@pytest.fixture
def step(pyharness, environment, port):
    """``step(OPTIONS, ...)`` on a job of two ranks."""
    words = (Path(sys.executable).with_name("torchrun"), "--nproc-per-node", 2, "--master-port", port, SCRIPT, 20)

    def run(*options):
        env = {**environment, "OMP_NUM_THREADS": "1"}
        return pyharness("step", *map(str, options), "--", *map(str, words), env=env)

    return run


@pytest.mark.always
def test_each_rank_takes_the_steps_and_what_it_shows_is_in_one_piece(step):
    done = step("--ranks", "all", "--at", place("reduce", SCRIPT), "--print", "rank", "--over", "--stack")
    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        assert f"   rank = {rank}\n" in done.stdout
    pieces = done.stdout.split("1  breakpoint · python · train · ")[1:]
    assert len(pieces) == 2
    assert all("   rank = " in piece.partition("2  step")[0] for piece in pieces)
    assert done.stdout.count("2  step · python · train") == 2
    assert done.stdout.count("the program ended with exit code 0") == 2


def test_a_log_point_for_one_rank_is_missed_by_no_other(step):
    done = step("--ranks", "all", "--log", f"{place('loss', SCRIPT)} if rank == 1", "rank {rank} is at {step}")
    assert done.stdout.count("rank 1 is at ") > 1
    assert "rank 0 is at" not in done.stdout
    assert "without reaching" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_for_a_script(step):
    done = step("--ranks", "1", "--at", f"{place('loss', SCRIPT)} hits 2", "--print", "(rank, step)", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["exit_code"]) == (0, 0), done.stderr
    assert list(told["ranks"]) == ["1"]
    assert told["ranks"]["1"]["stops"][0]["printed"] == {"(rank, step)": "(1, 1)"}


def test_the_status_is_the_jobs_where_another_rank_has_failed(pyharness, environment, port, tmp_path):
    """torchrun ends the rank that waits by SIGTERM."""
    script = tmp_path / "fails.py"
    script.write_text(
        "import os, time\nif os.environ['RANK'] == '1':\n    time.sleep(3)\n    raise SystemExit(3)\ntime.sleep(90)\n"
    )
    words = (Path(sys.executable).with_name("torchrun"), "--nproc-per-node", "2", "--master-port", str(port), script)
    done = pyharness(
        "step", "--ranks", "0", "--at", "py:fails.py:2", "--continue", "--json", "--", *map(str, words), env=environment
    )
    told = json.loads(done.stdout)
    assert (told["ranks"]["0"]["exit_code"], told["exit_code"], done.returncode) == (-15, 1, 1)


def test_a_rank_that_is_not_there_and_the_end_after_the_last_step(step, port):
    done = step("--ranks", "5", "--at", place("loss", SCRIPT))
    assert done.returncode == 1
    assert "rank 5: The job has ended (exit code 0), and rank 5 is not there.\nRanks 0-1 came." in done.stderr
    done = step("--ranks", "0", "--at", place("loss", SCRIPT), "--kill")
    assert done.returncode == 0, done.stderr
    assert "step 0" not in done.stdout
    assert not list(carrying(f"MASTER_PORT={port}"))


def test_all_ranks_have_come_where_there_are_as_many_as_the_launcher_said(step, port):
    """The job is to be ended, so that its end tells nothing."""
    done = step("--ranks", "all", "--at", place("loss", SCRIPT), "--kill")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the session ended the program") == 2
    assert not list(carrying(f"MASTER_PORT={port}"))


SESSION = """
[program]
script = "{script}"
args = "20"
job = ["torchrun", "--nproc-per-node", "2", "--master-port", "{port}"]
ranks = "all"
exit_code = {code}

[[step]]
at = "{at}"
print = "rank"
expect = {{ function = "train", printed = {{ rank = "{rank}" }} }}
"""


@pytest.mark.rotated
@pytest.mark.parametrize(("rank", "code", "status"), [("[01]", 0, 0), ("1", 0, 1), ("[01]", 3, 1)])
def test_a_session_file_expects_the_same_of_each_and_an_end_of_the_job(
    pyharness, environment, port, tmp_path, rank, code, status
):
    file = tmp_path / "ranks.toml"
    file.write_text(SESSION.format(script=SCRIPT, port=port, at=place("reduce", SCRIPT), rank=rank, code=code))
    done = pyharness("session", "run", file, env={**environment, "OMP_NUM_THREADS": "1"})
    assert done.returncode == status, done.stderr
    assert done.stdout.count("✗ not as expected") == (rank == "1")
    assert ("The job ended with 0; line 7 of the file expects 3." in done.stderr) == (code == 3)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('job = ["torchrun"]', "job needs ranks"),
        ('job = "torchrun -n 2"\nranks = "0"', 'job is a list of words.\njob = ["torchrun", "-n", "2"]'),
        ('ranks = "some"', "'some' names no ranks."),
        ('python = "p"\nranks = "0"', "ranks take no python."),
    ],
)
def test_a_session_file_that_says_half_of_it(pyharness, tmp_path, lines, says):
    file = tmp_path / "wrong.toml"
    file.write_text(f'[program]\nscript = "{SCRIPT}"\n{lines}\n')
    done = pyharness("session", "run", file)
    assert done.returncode == 2
    assert f"wrong.toml:3: {says}" in done.stderr

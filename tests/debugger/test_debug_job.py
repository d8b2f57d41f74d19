"""``debug_job``: ranks of a distributed job as programs, each driven from Python."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyharness
from kit.marks import line_of, place
from kit.paths import PROGRAMS
from kit.ranked_job import free_port
from pyharness.debuggee.link.ranks import is_launcher
from pyharness.model.errors import HarnessError, UsageError

SCRIPT = PROGRAMS / "ranks" / "trains.py"
TORCHRUN = Path(sys.executable).with_name("torchrun")
pytestmark = [pytest.mark.timeout(150), pytest.mark.rotated_tests(turns=6)]


@pytest.fixture
def output(tmp_path):
    """The file with what the job prints."""
    return tmp_path / "output"


@pytest.fixture
def job(output, monkeypatch):
    """``job(SECONDS, size=3, ranks=...)``: a job that prints into a file."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    def start(seconds, size=3, **options):
        words = (TORCHRUN, "--nproc-per-node", str(size), "--master-port", str(free_port()), SCRIPT, str(seconds))
        return pyharness.debug_job(*words, stdout=output.open("w"), **options)

    return start


def test_one_that_stands_for_longer_than_the_timeout_costs_nobody_anything(job, output):
    with job(3, ranks=1) as running:
        program = running.rank(1)
        program.run_to(place("reduce", SCRIPT))
        assert program.evaluate("rank") == "1"
        time.sleep(7)
        assert program.over().reason == "step"
        assert running.ranks == (1,)
        with pytest.raises(UsageError, match="Rank 0 is not debugged"):
            running.rank(0, 1)
        assert running.wait() == 0
    assert output.read_text().count("step ") == 3


def test_all_at_once_they_may_wait_for_each_other(job):
    with job(30, size=2, ranks=[0, 1]) as running:
        beside_it = f"py:{SCRIPT.name}:{line_of('reduced', SCRIPT)}"
        stops = running.each(lambda rank: rank.run_to(f"{beside_it} hits 2"))
        assert {rank: stop.frame.function for rank, stop in stops.items()} == {0: "train", 1: "train"}
        assert running.each(lambda rank: rank.evaluate("(rank, step)")) == {0: "(0, 1)", 1: "(1, 1)"}
        assert running.each(pyharness.Program.finish) == {0: 0, 1: 0}
        assert running.wait() == 0


def test_the_block_ends_the_job(job):
    with job(30, size=2, ranks="0") as running:
        running.rank(0).run_to(place("loss", SCRIPT))
        launcher = running.pid
    assert not Path(f"/proc/{launcher}").exists()
    assert running.exit_code != 0


def test_a_rank_that_never_comes(job):
    with job(30, size=2, ranks=5) as running:
        with pytest.raises(HarnessError, match="and rank 5 is not there"):
            running.rank(5)
        assert running.wait() == 0


@pytest.mark.parametrize("ranks", ["x", [], [-1], True, 1.5, [None]])
def test_ranks_that_are_none(ranks):
    with pytest.raises(UsageError, match="ranks"):
        pyharness.debug_job("true", ranks=ranks)


def test_a_program_that_is_not_there():
    with pytest.raises(UsageError, match="There is no program 'nosuch'"):
        pyharness.debug_job("nosuch")
    with pytest.raises(UsageError, match="/nosuch"):
        pyharness.debug_job("true", cwd="/nosuch")
    with pyharness.debug_job("sh", "-c", "exit 3", stdout=subprocess.DEVNULL) as running:
        assert running.wait() == 3


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        (["python", "/opt/bin/torchrun", "train.py"], True),
        (["python", "-X", "dev", "-m", "torch.distributed.run", "train.py"], True),
        (["python", "-u", "train.py", "--launcher", "torchrun"], False),
        (["python", "-m", "package.train", "torchrun"], False),
        (["python", "-c", "pass"], False),
    ],
)
def test_what_starts_ranks_is_none(monkeypatch, words, is_one):
    monkeypatch.setattr(sys, "orig_argv", words)
    assert is_launcher() == is_one

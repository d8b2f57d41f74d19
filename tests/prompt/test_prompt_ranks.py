"""Ranks of a job at one prompt: some are debugged, the others take part, and no timeout ends a rank that waits."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kit.command import PYHARNESS
from kit.dialogue import blocks
from kit.marks import line_of, place
from kit.paths import PROGRAMS
from kit.processes import carrying, ends_within
from kit.ranked_job import free_port
from kit.terminal import Terminal
from pyharness.prompt.commands import all as _commands  # noqa: F401  (registers them)
from pyharness.prompt.job.listing import completed
from pyharness.prompt.job.members import RANKS

SCRIPT = PROGRAMS / "ranks" / "trains.py"
TORCHRUN = Path(sys.executable).with_name("torchrun")
pytestmark = [pytest.mark.timeout(150), pytest.mark.rotated_tests(turns=11)]


def torchrun(*words, ranks=3):
    return (str(TORCHRUN), "--nproc-per-node", ranks, "--master-port", free_port(), SCRIPT, *words)


@pytest.fixture
def job(pyharness, environment):
    """``job(COMMANDS, OPTIONS, WORDS)``: what ``pyharness debug --ranks`` makes of commands from a pipe."""

    def run(commands, options, words):
        env = {**environment, "OMP_NUM_THREADS": "1"}
        lines = "".join(f"{each}\n" for each in commands)
        return pyharness("debug", "--ranks", *options, "--", *map(str, words), stdin=None, input=lines, env=env)

    return run


def losses(output):
    return [line for line in output.splitlines() if line.startswith("step ") and " · " not in line]


def test_a_rank_that_is_held_for_twice_the_timeout_costs_nobody_anything(job):
    """The issue of every debugger: the others wait for the one that stands, and give up."""
    plain = subprocess.run(
        list(map(str, torchrun(4, ranks=4))), capture_output=True, text=True, check=True, timeout=100
    )
    done = job(
        ["shell sleep 8.5", "p rank", "delete 1", "c"], ["2", "--at", place("loss", SCRIPT)], torchrun(4, ranks=4)
    )
    assert done.returncode == 0, done.stderr
    assert len(losses(done.stdout)) == 3
    assert losses(done.stdout) == losses(plain.stdout)
    assert blocks(done.stdout.replace("(ph rank 2)", "(ph)"))["p rank"].strip() == "2"
    assert done.stdout.rstrip().endswith("The job ended with 0.")


@pytest.mark.always
def test_a_step_over_a_collective_lets_the_others_take_part(job):
    beside_it = f"py:{SCRIPT.name}:{line_of('reduce', SCRIPT)} hits 2"
    done = job(["ranks", "next", "c"], ["1", "--at", beside_it], torchrun(30))
    shown = blocks(done.stdout.replace("(ph rank 1)", "(ph)"))
    assert "* 1  process " in shown["ranks"]
    assert "stands in train" in shown["ranks"]
    assert "0,2  not debugged" in shown["ranks"]
    assert "step · python · train" in shown["next"]
    assert done.returncode == 0, done.stderr


def test_all_of_them_take_a_step_together(job):
    commands = ["rank 0", "rank 1", "all: next", "all: p rank", "rank 0: p rank + 40", "all: c"]
    done = job(commands, ["all", "--at", f"{place('reduce', SCRIPT)} hits 3"], torchrun(30, ranks=2))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("1  breakpoint  py:") == 1, "the other rank says the same"
    assert done.stdout.count("· python · train") >= 4
    said = done.stdout.partition("all: p rank\n")[2].partition("(ph")[0]
    assert "rank 0\n0\n" in said or said.startswith("0\n")
    assert "rank 1\n1\n" in said or said.startswith("1\n")
    assert "rank 0\n40\n" in done.stdout


def test_a_place_that_is_set_later_holds_in_ranks_that_run(job):
    """Rank 1 stands; rank 0, which waits for it, gets the place too, and comes to it."""
    commands = ["rank 1", "rank 0", "delete 1", "rank 0: c", f"break {place('timeout', SCRIPT)}", "all: c", "c", "c"]
    done = job(commands, ["0-1", "--at", place("loss", SCRIPT)], torchrun(30, ranks=2))
    assert done.returncode == 0, done.stderr
    assert "rank 0 waits 1.728e+06 s" in done.stdout, "while a debugger is there"
    assert done.stdout.count("2  breakpoint · python · train") == 2


def test_ranks_that_no_environment_names_are_known_where_they_make_their_group(job):
    done = job(["p rank", "c"], ["2", "--at", f"{place('loss', SCRIPT)} hits 2"], (SCRIPT, 4, "spawn", free_port()))
    assert blocks(done.stdout.replace("(ph rank 2)", "(ph)"))["p rank"].strip() == "2"
    assert done.returncode == 0, done.stderr


def stops_by_rank(output):
    """The rank that each stop is of, which is said before it where the prompt goes to another one."""
    for line in output.splitlines():
        if words := re.match(r"rank (\d+)$|\(ph rank (\d+)\)", line):
            rank = int(words[1] or words[2])
        elif " · " in line:
            yield rank, line.split(" · ")[2].strip()


def test_a_condition_on_the_rank_holds_in_that_rank_alone(job):
    """No environment names the ranks; ``say`` has no variable of that name."""
    places = [f"py:{SCRIPT}:say if rank == 1", "op:aten::square when rank == 2 and dim(in0) == 1 hits 2"]
    options = ["all", *(word for each in places for word in ("--at", each))]
    done = job(["c", "c"], options, (SCRIPT, 30, "spawn", free_port()))
    assert sorted(stops_by_rank(done.stdout)) == [(1, "say"), (2, "aten::square")]
    assert done.returncode == 0, done.stderr


def test_the_first_prompt_is_at_the_first_line(job):
    done = job(["bt", "help", "quit"], ["1"], torchrun(30, ranks=2))
    assert "  all: COMMAND " in done.stdout
    assert "  until, unt" in done.stdout
    assert "<module>" in blocks(done.stdout.replace("(ph rank 1)", "(ph)"))["bt"]
    assert done.returncode == 0, done.stderr


def test_an_exception_that_nobody_catches_is_a_stop(job):
    done = job(["bt", "p rank", "quit"], ["1", "--post-mortem"], torchrun(30, "fails", ranks=2))
    shown = blocks(done.stdout.replace("(ph rank 1)", "(ph)"))
    assert "1  exception · python · train" in done.stdout
    assert "ValueError: on one rank" in done.stdout
    assert shown["p rank"].strip() == "1"
    assert shown["bt"].split()[1:3] == ["python", "train"]


def test_the_prompt_goes_back_to_a_rank_that_stands_where_the_other_one_has_ended(job, tmp_path):
    """What -c says is done before what a file says, as without ranks."""
    file, script = tmp_path / "commands", tmp_path / "alone.py"
    file.write_text("rank 1\np rank + 40\nquit\n")
    script.write_text("import os\nimport time\nrank = int(os.environ['RANK'])\ntime.sleep(4 * rank)\nlast = 1\n")
    options = ["0,1", "--at", f"py:{script}:5 if rank == 0", "-c", "p rank + 20", "-x", str(file)]
    done = job([], options, (TORCHRUN, "--nproc-per-node", 2, "--master-port", free_port(), script))
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout.replace("(ph rank 0)", "(ph)"))
    values = (shown[f"p rank + {more}"].split()[-1] for more in (20, 40))  # the other rank may say that it begins
    assert tuple(values) == ("20", "40")
    assert "the program ended with exit code 0" in shown["rank 1"]


def test_ctrl_c_twice_and_a_yes_end_the_job(environment, tmp_path):
    script = tmp_path / "sleeps.py"
    number = tmp_path / "number"  # a file: Ctrl-C throws away what a terminal has not handed over yet
    script.write_text(
        f"import os, time\nopen({str(number)!r}, 'w').write(str(os.getpid()))\nprint('lies', 'down', flush=True)\n"
        "time.sleep(120)\n"
    )
    at = Terminal(
        [*PYHARNESS, "debug", "--ranks", "0", "--", sys.executable, str(script)], {**environment, "RANK": "0"}
    )
    try:
        at.wait_for("(ph rank 0)")
        at.type("c\n")
        at.wait_for("lies down")
        pauses = 0
        while not at.waits_for_either("rank 0 has not come to a stop yet. End the job?", "pause ·", pauses, "\x03\x03"):
            pauses += 1  # it came to its stop between the two
            at.type("c\n")
        at.type("y\n")
        assert at.ends() == 0
        assert ends_within(int(number.read_text()), 5)
    finally:
        at.end()


def test_detach_leaves_the_job_which_has_its_own_timeout_again(job, tmp_path):
    words = torchrun(33, ranks=2)
    script = tmp_path / "job.sh"
    script.write_text(f"exec {' '.join(map(str, words))} > {tmp_path / 'out'} 2>&1")
    done = job(["detach"], ["1", "--at", place("loss", SCRIPT)], ("sh", script))
    assert done.returncode == 0, done.stderr
    assert "The job runs on without a debugger (process " in done.stdout
    pid = int(done.stdout.rpartition("(process ")[2].partition(")")[0])
    assert ends_within(pid, 60)
    said = (tmp_path / "out").read_text()
    assert len(losses(said)) == 3
    assert "rank 0 waits 33 s" in said
    assert "rank 1 waits 33 s" in said


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize("leaves", [["quit"], ["no such command"], []])
def test_nothing_is_left_behind(job, leaves):
    words = torchrun(30, ranks=2)
    done = job(leaves, ["0", "--at", place("loss", SCRIPT)], words)
    assert done.returncode == (1 if leaves[:1] == ["no such command"] else 0)
    port = str(words[4])
    assert not list(carrying(f"MASTER_PORT={port}")), done.stderr


@pytest.mark.parametrize(
    ("ranks", "words", "says", "remedy", "status"),
    [
        ("x", ["true"], "'x' names no ranks.", "0,2-5", 2),
        ("0", ["nosuchprogram"], "There is no program 'nosuchprogram'.", "torchrun, mpirun, srun", 2),
        ("0", [], "Which job?", "torchrun", 2),
        ("0 --debug-kernels", ["true"], "Ranks take no --debug-kernels.", "pyharness debug SCRIPT", 2),
        ("0 --python python3", ["true"], "--python names the interpreter of -m MODULE", "behind --", 2),
        ("0", ["sh", "-c", "exit 3"], "The job ended with 3, and no rank", "RANK in its environment", 1),
    ],
)
def test_what_is_no_job(job, ranks, words, says, remedy, status):
    done = job(["c"], ranks.split(), words)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr
    assert remedy in done.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("rank 7", "Rank 7 is not there."),
        ("rank 0", "Rank 0 is not debugged: it runs on."),
        ("rank x", "'x' is no rank."),
        ("rank", "'rank' names no rank, or no command."),
        ("all next", "'all next' names no rank, or no command."),
        ("run", "`run` is of one program."),
        ("all: quit", "'quit' is nothing that a rank does."),
    ],
)
@pytest.mark.rotated(turns=5)
def test_what_cannot_be_done(job, line, says):
    done = job([line], ["1", "--at", place("loss", SCRIPT)], torchrun(30, ranks=2))
    assert done.returncode == 1
    assert says in done.stderr


def test_a_line_goes_on_with_what_the_job_or_the_rank_knows():
    rank = SimpleNamespace(session=SimpleNamespace(debuggee=None, points=()))
    told = SimpleNamespace(current=rank, ranks={0: rank, 12: rank}, members=RANKS)

    def texts(line):
        return [each.text for each in completed(told, line)]

    assert texts("ra") == ["ranks", "rank "]
    assert texts("rank 1") == ["12"]
    assert texts("al") == ["all: "]
    assert texts("all: ne")[0] == "next"

"""Jobs that hang: who is to blame is named, and with what."""

import re

import pytest

from kit.marks import line_of
from kit.names import qualified
from kit.paths import PROGRAMS
from kit.ranked_job import RankedJob

SCRIPT = PROGRAMS / "ranks" / "faults.py"
pytestmark = [pytest.mark.timeout(200), pytest.mark.rotated_tests(turns=9)]
LACKS, CAME = "Rank 1 never came to all_reduce #4 of default_pg. It ", "Rank 1 came to #4 of default_pg with "
HANGS = {
    "sleeps": "sleeps in sleeps (",
    "computes": "computes in computes (",
    "native_lock": "waits for a mutex in native_lock (",
    "gil_kept": "waits for the GIL, which thread ",
    "python_lock": "waits for a Python lock in python_lock (",
    "asks": "waits for input in asks (",
    "stopped": "is stopped by a signal (Ctrl-Z or SIGSTOP) in stopped (",
    "raises": "has raised ValueError('on one rank'), and ends, and waits for its threads.",
    "loader_worker": "waits for its data loader in loader_worker (",
    "forked_worker": "waits for its data loader in forked_worker (",
    "compiles": "sleeps while torch.compile compiles in compiles.<locals>.slow (",
    "children": "waits for a child process in children (",
}
OTHERWISE = {
    "swapped": "broadcast float32 [3] of root 0 (",
    "other_shape": "all_reduce float32 [2] (",
    "other_root": "broadcast float32 [8] of root 1 (",
}
NUMBERED = {"uneven_batches": 12, "unused_parameter": 7}


@pytest.fixture
def verdict():
    def found(fault):
        with RankedJob(SCRIPT, fault) as job:
            # On a busy machine another rank may be late, too, for a while.
            return job.judged(lambda verdict: verdict.is_fault and len(verdict.culprits) <= 2)[1]

    return found


@pytest.mark.rotated_tests(turns=1, number=0)  # one of them in each turn
@pytest.mark.rotated(turns=17)
@pytest.mark.parametrize("fault", HANGS)
def test_a_rank_that_never_came(verdict, fault):
    said = verdict(fault)
    assert (said.kind, said.culprits, said.waiting) == ("absent", (1,), (0, 2))
    assert said.sentence.startswith(LACKS + HANGS[fault])
    assert "Ranks 0,2 wait for it" in said.sentence
    if fault in {"loader_worker", "forked_worker"}:
        assert f"sleeps in {qualified('Slow.__getitem__')} (" in said.sentence
        assert f"faults.py:{line_of('slow_item', SCRIPT)})" in said.sentence


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize("fault", OTHERWISE)
def test_a_rank_that_came_with_another_call(verdict, fault):
    said = verdict(fault)
    assert (said.kind, said.culprits) == ("mismatch", (1,))
    assert said.sentence.startswith(CAME + OTHERWISE[fault])


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize("fault", NUMBERED)
def test_ranks_that_part_in_distributed_data_parallel(verdict, fault):
    said = verdict(fault)
    assert (said.kind, said.culprits) == ("mismatch", (1,))
    assert said.sentence.startswith(f"Rank 1 came to #{NUMBERED[fault]} of default_pg with barrier (")
    assert "rank 1 had fewer batches, or a parameter that got no gradient" in said.sentence


def test_a_barrier_of_one(verdict):
    said = verdict("barrier_of_one")
    assert (said.kind, said.culprits, said.waiting) == ("mismatch", (0,), (0, 1, 2))
    assert said.sentence.startswith("Rank 0 came to #4 of default_pg with barrier (")


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize(
    ("fault", "first", "second"),
    [
        ("subgroup", "broadcast #1 of group 1", "all_reduce #4 of default_pg"),
        ("crossed", "all_reduce #1 of group 1", "all_reduce #1 of group 2"),
        ("recv_without_send", "recv", "all_reduce #4 of default_pg"),
    ],
)
def test_ranks_that_wait_for_each_other(verdict, fault, first, second):
    said = verdict(fault)
    assert (said.kind, said.culprits) == ("crossed", (0, 1))
    assert f"rank 0 in {first} for rank 1, in {fault} (" in said.sentence
    assert f"rank 1 in {second} for rank 0, in " in said.sentence


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize(
    ("fault", "call"),
    [("recv_of_one_that_sleeps", "recv"), ("monitored_barrier", "monitored_barrier"), ("new_group", "new_group")],
)
def test_calls_that_no_record_has_are_known_by_their_stacks(fault, call):
    """How long a rank has waited, the kernel's scheduler tells: since the last look at most, in which it ran."""
    with RankedJob(SCRIPT, fault) as job:
        said = job.judged(lambda verdict: verdict.is_fault, every=4)[1]
    assert (said.kind, said.culprits, said.waiting) == ("absent", (1,), (0, 2))
    assert said.sentence.startswith(f"Rank 1 never came to {call}. It sleeps in {fault} (")


def test_a_message_that_was_asked_for_before_is_not_called_no_wait():
    with RankedJob(SCRIPT, "message_apart") as job:
        said = job.judged(lambda verdict: verdict.waiting == (0, 2))[1]  # before, one of these may be to come
    assert (said.kind, said.culprits) == ("alone", ())
    assert said.sentence.startswith("Ranks 0,2 wait in a call of torch.distributed, for whom cannot be told")


def test_ranks_that_keep_no_record():
    """Their stacks are compared, at two looks."""
    with RankedJob(SCRIPT, "sleeps", env={"TORCH_FR_BUFFER_SIZE": "0"}) as job:
        said = job.judged(lambda verdict: verdict.is_fault)[1]
    assert (said.kind, said.culprits, said.by_stacks) == ("absent", (1,), True)
    assert said.sentence.startswith("Ranks 0,2 wait in all_reduce; rank 1 did not come. It sleeps in sleeps (")


@pytest.mark.rotated(turns=3)
@pytest.mark.parametrize(
    ("fault", "does"),
    [
        ("never_begins", r"It sleeps in main \("),
        ("dies", "It (was not found: it )?has ended"),  # as long as nobody has asked how, the process is there
    ],
)
def test_a_rank_that_never_comes_to_the_rendezvous(verdict, fault, does):
    said = verdict(fault)
    assert (said.kind, said.culprits, said.waiting) == ("absent", (1,), (0, 2))
    assert re.match(rf"Rank 1 never came to the rendezvous store\. {does}", said.sentence)

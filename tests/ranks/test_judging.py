"""The verdict on jobs that nobody has run, of which little is there to be read."""

from dataclasses import replace

import pytest

from kit.made_job import a_job
from pyharness.model.ranks.job import Job
from pyharness.ranks.blame.judging import judge

CRASH = "SIGSEGV at address 0x0"


def crashed(number):
    """What a core file of a rank shows, or of a program that is none."""
    rank = a_job(2, culprit=1).ranks[1]
    threads = (replace(rank.threads[0], signal=CRASH),)
    return replace(rank, number=number, command="core.7", groups=(), threads=threads)


@pytest.mark.parametrize(("number", "name", "culprits"), [(1, "Rank 1", (1,)), (None, "core.7", ())])
def test_the_core_file_of_one_rank_alone_is_a_fault(number, name, culprits):
    verdict = judge(Job("core files", (crashed(number),)))
    assert verdict.is_fault
    assert verdict.culprits == culprits
    assert verdict.sentence.startswith(f"{name} has crashed: {CRASH}, in layer1 (")

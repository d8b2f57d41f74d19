"""What one look at a job after another says."""

from dataclasses import replace

from kit.made_job import a_job
from pyharness.ranks.watching import Watch

SECOND = 1.0


def looked_at(job, at, *late):
    """The job, with the ranks that ``late`` names looked at a second after the others."""
    ranks = [replace(rank, taken=at + SECOND * (rank.number in late)) for rank in job.ranks]
    return replace(job, ranks=tuple(ranks))


def said(watch, job):
    return [line.text for line in watch.lines(job)]


def test_ranks_whose_hosts_answered_one_after_the_other_stand_on_one_line():
    watch, job = Watch(), a_job(4, culprit=1)
    assert not said(watch, looked_at(job, 90.0, 2, 3))
    (line,) = said(watch, looked_at(job, 95.0, 0))
    assert line.startswith("stands since ")
    assert line.endswith(":31 or longer: ranks 0-3")


def test_a_rank_that_has_moved_stands_since_then():
    watch, job = Watch(), a_job(3, culprit=1)
    said(watch, looked_at(job, 90.0))
    ranks = [replace(rank, moved=rank.number == 2) for rank in job.ranks]
    moved = said(watch, looked_at(replace(job, ranks=tuple(ranks)), 95.0))
    assert moved[0] == "moved since the last look: rank 2"
    assert moved[1].endswith(":30 or longer: ranks 0-1")
    later = said(watch, looked_at(job, 99.0))
    assert [line.rpartition(" or")[0][-3:] for line in later] == [":30", ":35"]
    assert [line.rpartition(": ")[2] for line in later] == ["ranks 0-1", "rank 2"]

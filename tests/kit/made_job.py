"""A job of ranks that nobody has run, as it is read."""

from dataclasses import replace

from pyharness.model.frames import Frame
from pyharness.model.ranks.collective import Collective, Group
from pyharness.model.ranks.job import Job
from pyharness.model.ranks.rank import Rank
from pyharness.model.threads import ThreadStack


def a_job(size: int, host: str = "one", culprit: int | None = None, name: str = "layer") -> Job:
    """Ranks that wait in the second collective, but for one that sleeps."""

    def rank(number: int) -> Rank:
        first, second = (Collective("all_reduce", count, created=1.0 + count) for count in (1, 2))
        made = (replace(first, state="completed"), *(() if number == culprit else (second,)))
        inner = Frame("native", "clock_nanosleep" if number == culprit else "c10d::Work::wait", plumbing=True)
        own = Frame("python", f"{name}{number % 40}", f"/model/train{number % 40}.py", number % 40 + 1)
        frames = (inner, own, Frame("python", "main", "/model/train.py", 3))
        group = Group("0", "default_pg", (), made)
        return Rank(
            number, host, 100 + number, world=size, threads=(ThreadStack(1, "", frames),), groups=(group,), taken=90.0
        )

    return Job("train.py", tuple(rank(number) for number in range(size)))

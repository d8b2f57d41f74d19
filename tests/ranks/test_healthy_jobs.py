"""Jobs that run: nobody is blamed."""

import threading

import pytest

from kit.paths import PROGRAMS
from kit.ranked_job import RankedJob

SCRIPT = PROGRAMS / "ranks" / "healthy.py"
pytestmark = pytest.mark.timeout(200)
JOBS = (
    *("steady", "slow_steps", "one_is_slower", "loader", "subgroups", "messages", "data_parallel", "async_calls"),
    *("checkpoint", "evaluation", "barriers", "imports"),
)


@pytest.mark.rotated_tests(turns=3, number=0)
@pytest.mark.rotated(turns=36)
@pytest.mark.parametrize("recorder", ["2000", "0"])
@pytest.mark.parametrize("job", JOBS)
def test_nobody_is_blamed(job, recorder):
    with RankedJob(SCRIPT, job, env={"TORCH_FR_BUFFER_SIZE": recorder}) as started:
        begun = threading.Timer(0, started.ranks[0].stdout.readline)
        begun.start()
        begun.join(90)
        for _ in range(4):
            verdict = started.judged(lambda _verdict: True)[1]
            assert not verdict.culprits, verdict.sentence

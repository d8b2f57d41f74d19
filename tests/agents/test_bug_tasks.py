"""A client without a model finds twelve planted bugs: each line in a few calls, with few tokens."""

import pytest

from benchmarks.finding import tasks


@pytest.mark.rotated(turns=18)
@pytest.mark.parametrize("task", tasks.TASKS, ids=lambda task: task.name)
def test_the_planted_line_is_found(task, server, bugs):
    def call(tool, arguments):
        answer = server.call(tool, **arguments)
        assert not answer.is_error, answer.text
        return answer.text

    with tasks.running(task, bugs) as pids:
        texts = tasks.find(task, pids, call)
    server.call("end")  # the session that it has begun, if any
    said = "\n".join(texts)
    assert task.place in said, said
    assert len(texts) <= tasks.MOST_CALLS
    assert tasks.tokens(said) <= tasks.MOST_TOKENS

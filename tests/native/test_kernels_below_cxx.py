"""Kernels that a wrapper in C++ calls, which Python does not see: recorded, and searched for the first bad value."""

import threading
from pathlib import Path

import pytest
import torch
import torch._dynamo  # a program that compiles has imported it

import pyharness
from kit import inductor, marks

pytestmark = pytest.mark.rotated_tests(turns=3, number=1)


TABLE = torch.randn(4, 7, generator=torch.Generator().manual_seed(0))


def looked_up(x, table, index):
    weights = torch.softmax(table[index] * 2, -1)
    return (weights - x).log() + 1  # @looked_up


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The function below a wrapper in C++, whose sizes are known at each call only."""
    folder = tmp_path_factory.mktemp("below")
    with pytest.MonkeyPatch.context() as patch, torch._inductor.config.patch(cpp_wrapper=True):
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(folder / "torch"))
        patch.setenv("PYHARNESS_HOME", str(folder / "home"))
        torch._dynamo.reset()
        function = torch.compile(looked_up, dynamic=True)

        def call(rows=5, last=3, above=-1.0):
            index = torch.arange(rows) % 4
            index[-1] = last
            with torch.no_grad():
                return function(torch.full((rows, 7), above), TABLE, index)

        with pyharness.record():  # maps are made as code is
            call()
        yield call
    torch._dynamo.reset()


def kernels_of(trace):
    return [event for event in trace.events if event.is_kernel]


def test_each_call_is_an_event_with_its_nodes(compiled):
    with pyharness.record() as recording:
        compiled()
        first = recording.count
        compiled(rows=9)
    called = kernels_of(recording.trace)
    assert first < recording.count
    assert all(event.name.startswith("cpp_fused_") and "@" not in event.name for event in called)
    assert {event.module for event in called} == {""}, "as below a wrapper in Python"
    assert {"index", "log"} <= {node for event in called for node in event.nodes}
    assert len(called) == 2 * len({event.name for event in called})
    caller = called[0].stack[0]
    text = Path(caller.file).read_text().split("\n")[caller.line - 1].strip()
    assert (caller.function, caller.node) == ("inductor_entry_impl", called[0].nodes[-1])
    assert text.startswith(f"{called[0].name}(")
    assert called[0].stack[1].file != caller.file, "whoever called the wrapper comes next"


def test_nothing_is_seen_of_what_runs_when_it_has_ended(compiled):
    with pyharness.record() as recording:
        pass
    compiled()
    assert not kernels_of(recording.trace)


@pytest.mark.parametrize("rows", [5, 12])
def test_the_first_bad_value_is_named(compiled, rows):
    findings = []
    with pyharness.find_nan(action=findings.append) as search:
        compiled(rows=rows)
        assert not findings
        compiled(rows=rows, above=0.1)
    assert search.kernels
    (finding,) = findings
    place = finding.kernel
    assert (finding.made, finding.values, place.node.rstrip("_0123456789")) == (True, ("nan",), "log")
    assert (place.origin_file, place.origin_line) == (__file__, marks.line_of("looked_up", __file__))
    assert Path(place.file).read_text().split("\n")[place.line - 1].strip() == place.text
    assert ".log()" in place.text
    weights = torch.softmax(TABLE * 2, -1)
    assert place.element == tuple((weights < 0.1).nonzero()[0].tolist())
    assert (finding.stack[0].language, finding.stack[0].function) == ("native", "inductor_entry_impl")
    assert [str(each.info) for each in finding.outputs if each.bad] == [f"float32[{rows}, 7]"]


def test_the_error_is_raised_where_python_called(compiled):
    with pytest.raises(pyharness.NonFiniteError) as raised, pyharness.find_nan():
        compiled(above=0.1)
    assert raised.value.finding.name.startswith("cpp_fused_")
    assert any(entry.name == "call" for entry in raised.traceback)


def test_one_that_throws_ends_as_an_op_does(compiled):
    with pyharness.record() as recording, pyharness.find_nan() as search:
        with pytest.raises((RuntimeError, IndexError), match="index out of bounds"):
            compiled(last=17)
        compiled()
    assert search.finding is None
    called = kernels_of(recording.trace)
    assert {event.depth for event in called if "log" in event.nodes} == {called[0].depth}, "the first call has ended"


def test_threads_call_while_recordings_come_and_go(compiled):
    ended = threading.Event()
    wrong = []

    def run(rows):
        expected = compiled(rows=rows)
        while not ended.is_set():
            if not torch.equal(compiled(rows=rows), expected):
                wrong.append(rows)

    threads = [threading.Thread(target=run, args=(rows,)) for rows in (3, 6)]
    for each in threads:
        each.start()
    counts = []
    for _ in range(30):
        with pyharness.record() as recording, pyharness.record():
            compiled()
        counts.append(len(kernels_of(recording.trace)))
    ended.set()
    for each in threads:
        each.join()
    assert not wrong
    assert min(counts) >= 2

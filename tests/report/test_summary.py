"""Where the time went: shares add up, nested time is counted once, forward and backward stand beside each other."""

import pytest
from synthetic import SHAPES, Maker, stack_of, training

from pyharness.report import units
from pyharness.report.summary import Summary
from pyharness.report.tables import Manner, lines


def rows(trace, by, **options):
    return {(row.name, row.shapes) if options else row.name: row for row in Summary(trace).rows(by, **options)}


def nested():
    """A linear of 100 with an addmm of 60 in module a.b; its node of 300, within which an op of 50 ran again in a.c."""
    maker = Maker()
    outer = maker.add("aten::linear", 100, stack=stack_of("a.b"), memory=64)
    maker.add("aten::addmm", 60, stack=stack_of("a.b"), parent=outer.number, memory=64)
    maker.clock = 1000
    node = maker.add("AddmmBackward0", 300, stack=stack_of("a.b"), kind="node", reentrant=1, graph_task=1, memory=10)
    maker.add("aten::gelu", 50, stack=stack_of("a.c"), parent=node.number, reentrant=1, graph_task=1, memory=10)
    return maker.trace()


def test_a_module_has_all_that_ran_below_it_once():
    table = rows(nested(), "module")
    assert list(table) == ["(model)", "a", "a.b", "a.c"]
    whole, part, other = table["a"], table["a.b"], table["a.c"]
    assert (whole.forward.total, whole.backward.total, whole.own) == (100, 300, 0)
    assert (part.forward.total, part.backward.total, part.own) == (100, 250, 350)
    assert (other.forward.total, other.backward.total) == (0, 50)
    assert (whole.count, whole.memory) == (4, 74)


def test_own_times_add_up_to_the_whole():
    summary = Summary(training(400))
    assert summary.whole == sum(row.own for row in summary.rows("module")) > 0
    assert summary.whole == sum(row.own for by in ("op", "node") for row in summary.rows(by))
    top = [event.duration for event in summary.trace.events if event.parent is None]
    assert summary.whole == sum(top)


def test_an_op_has_its_total_with_and_its_own_time_without_what_is_nested():
    table = rows(nested(), "op")
    assert (table["aten::linear"].total, table["aten::linear"].own) == (100, 40)
    assert (table["aten::addmm"].total, table["aten::addmm"].own) == (60, 60)
    assert "AddmmBackward0" not in table
    assert rows(nested(), "node")["AddmmBackward0"].own == 250


def test_an_op_within_its_like_is_not_counted_twice():
    maker = Maker()
    outer = maker.add("aten::to", 100, stack=(), memory=8)
    maker.add("aten::to", 80, stack=(), parent=outer.number, memory=8)
    row = rows(maker.trace(), "op")["aten::to"]
    assert (row.count, row.total, row.own, row.memory) == (2, 100, 100, 8)


def test_what_no_module_called_is_a_row():
    maker = Maker()
    maker.add("aten::mul", 100, stack=stack_of(None)[2:])
    assert list(rows(maker.trace(), "module")) == ["(no module)"]


def test_shapes_keep_calls_apart():
    maker = Maker()
    for infos in (SHAPES, SHAPES, SHAPES[:1], ()):
        maker.add("aten::mul", 100, stack=(), inputs=infos)
    table = rows(maker.trace(), "op", shapes=True)
    assert {shapes: row.count for (_, shapes), row in table.items()} == {
        "float32[4, 16, 64], float32[64]": 2,
        "float32[4, 16, 64]": 1,
        "": 1,
    }


def text(trace, **manner):
    return [line.text for line in lines(trace, Manner(**manner))]


def test_the_head_says_what_was_recorded_and_what_was_lost():
    maker = Maker()
    maker.add("aten::mul", 1_500_000, stack=())
    maker.add("aten::add", 1_500_000, stack=(), thread=7)
    head = text(maker.trace(lost=1234, threads={1: "MainThread", 7: ""}))
    assert head[0] == "train.py: 2 ops, 0 autograd nodes, 0 backward passes, 1.50 ms"
    assert head[1] == "2 threads: MainThread (1), 7 (1)"
    assert head[2] == "1,234 events lost: more than a thread's buffer holds (--capacity); the first are missing."


def test_many_threads_are_counted():
    maker = Maker()
    for thread in range(1, 8):
        maker.add("aten::mul", 10, stack=(), thread=thread)
    assert text(maker.trace())[1] == ("7 threads: thread 1 (1), thread 2 (1), thread 3 (1), thread 4 (1), and 3 more")


def test_forward_and_backward_stand_beside_each_other():
    shown = text(nested(), by=("module",))
    assert shown[2].split() == ["by", "module", "events", "forward", "backward", "total", "share", "self"]
    assert shown[5].split() == ["a.b", "3", "100", "ns", "250", "ns", "350", "ns", "87.5%", "350", "ns"]
    assert shown[6].split() == ["a.c", "1", "50", "ns", "50", "ns", "12.5%", "50", "ns"]


def test_rows_over_the_limit_are_counted():
    shown = text(training(300), by=("module",), limit=4)
    assert shown[-2] == "… 46 more (--limit)"
    assert len(shown) == 2 + 1 + 4 + 1 + 1


@pytest.mark.parametrize("width", [30, 60, 80, 100])
def test_lines_keep_to_the_terminal_where_numbers_allow(width):
    trace = training(100, shapes=True)
    table = text(trace, width=width, shapes=True, memory=True)[2:]
    assert max(map(len, table)) <= max(width, 24 + 60)


def test_a_name_that_is_too_long_keeps_its_end():
    maker = Maker()
    maker.add("aten::mul", 10, stack=stack_of("a.very.long.path.of.modules.that.ends.in.query"))
    row = text(maker.trace(), by=("module",), width=80)[-2]
    assert row.startswith("…")
    assert ".that.ends.in.query " in row


def test_an_empty_trace_has_no_tables():
    head, remark = text(Maker().trace())
    assert head == "train.py: 0 ops, 0 autograd nodes, 0 backward passes, 0 ns"
    assert remark.startswith("No op ran in this process")


@pytest.mark.parametrize(
    ("nanoseconds", "shown"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (999.7, "1.00 us"),
        (12_340, "12.3 us"),
        (99_960, "100 us"),
        (999_999, "1.00 ms"),
        (4_560_000, "4.56 ms"),
        (7_200_000_000_000, "7200 s"),
    ],
)
def test_times_have_three_digits(nanoseconds, shown):
    assert units.duration(nanoseconds) == shown


def test_sizes_and_counts():
    assert [units.size(value) for value in (5, 1536, 3 << 20)] == ["5 B", "1.50 KiB", "3.00 MiB"]
    assert [units.number(value, "pass", "passes") for value in (1, 2000)] == ["1 pass", "2,000 passes"]


def test_a_name_with_a_newline_stays_in_its_row():
    maker = Maker()
    maker.add("aten::mul", 10, stack=stack_of("a\nb"), thread=1)
    maker.add("aten::mul", 10, stack=stack_of("c"), thread=2)
    shown = text(maker.trace(threads={1: "x\ny", 2: "z"}))
    assert not any("\n" in line for line in shown)
    assert shown[1] == "2 threads: x\\ny (1), z (1)"
    assert any(line.startswith("a\\nb ") for line in shown)

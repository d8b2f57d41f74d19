"""The MI parser, over lines recorded from gdb 13 and over lines that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyharness.gdbmi.records import Notice, Prompt, Result, Stream, parse, quote

STOPPED = (
    '*stopped,reason="breakpoint-hit",disp="keep",bkptno="1",frame={addr="0x00007f6b1c",func="rms_norm_cpu",'
    'args=[{name="x",value="..."},{name="eps",value="1.0e-05"}],file="rms_norm.cpp",line="41"},'
    'thread-id="1",stopped-threads=["1"],core="0"'
)


def test_a_stop_with_its_frame():
    record = parse(STOPPED)
    assert isinstance(record, Notice)
    assert (record.channel, record.kind) == ("*", "stopped")
    assert record.values["frame"]["args"][1] == {"name": "eps", "value": "1.0e-05"}
    assert record.values["stopped-threads"] == ["1"]


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ("(gdb) ", Prompt()),
        ("12^done", Result(12, "done", {})),
        (
            '3^error,msg="No symbol \\"q\\" in current context."',
            Result(3, "error", {"msg": 'No symbol "q" in current context.'}),
        ),
        ('~"h\\303\\251\\n"', Stream("~", "hé\n")),
        ('&"warning: \\t\\\\x\\n"', Stream("&", "warning: \t\\x\n")),
        ("=thread-group-started", Notice("=", "thread-group-started", {})),
        (
            '^done,stack=[frame={level="0"},frame={level="1"}]',
            Result(None, "done", {"stack": [{"level": "0"}, {"level": "1"}]}),
        ),
        ('^done,bkpt={number="1"},{number="1.1"}', Result(None, "done", {"bkpt": {"number": "1"}})),
        ("^done,list=[],tuple={}", Result(None, "done", {"list": [], "tuple": {}})),
    ],
)
def test_records(line, record):
    assert parse(line) == record


@pytest.mark.parametrize(
    "line", ["", "loss 0.3", '*stopped,reason="', "^done,x=", "=x,a=[", "1234567890123456789012^done", '~"open']
)
def test_what_is_not_mi_is_text_of_the_program(line):
    assert parse(line) == Stream("@", line)


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs",), blacklist_characters="\r\n")))
def test_no_line_crashes_the_parser(text):
    parse(text)


@given(st.text(alphabet='{}[]",=^*~\\ab1'))
def test_no_bracket_soup_crashes_the_parser(text):
    parse("^done," + text)


def test_nesting_is_bounded():
    assert isinstance(parse("^done,a=" + "[" * 100_000), Stream)


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs", "Cc"))))
def test_a_quoted_argument_reads_back(text):
    assert parse("~" + quote(text)) == Stream("~", text)

"""Lines that are almost MI: the parser makes a record of each, and the client still hears the answers between them."""

import sys
from pathlib import Path

import pytest
from garbled import garbled

from pyharness.gdbmi.client import GdbClient, GdbError, GdbLostError
from pyharness.gdbmi.records import Notice, Prompt, Result, Stream, parse

COUNT = 50_000
ROUNDS, NOISE = 100, 200

GDB = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from garbled import garbled

noise = garbled({ROUNDS * NOISE}, seed=2)
for line in sys.stdin:
    token = line[: -len(line.lstrip("0123456789"))]
    lines = [next(noise) for _ in range({NOISE})]
    answer = '^error,msg="no"' if "refuse" in line else '^done,heard="' + token + '"'
    lines += [] if "vanish" in line else [token + answer, token + '^done,heard="twice"']
    sys.stdout.buffer.write("\\n".join(lines + [""]).encode("utf-8", "surrogateescape"))
    sys.stdout.flush()
    if "exit" in line or "vanish" in line:
        break
"""


@pytest.fixture
def gdb(tmp_path, monkeypatch):
    """A client of something that says mostly nonsense, and all notices that came of it."""
    script = tmp_path / "gdb"
    script.write_text(GDB)
    script.chmod(0o755)
    monkeypatch.setenv("PYHARNESS_GDB", str(script))
    notices = []
    client = GdbClient(notices.append)
    client.notices = notices  # type: ignore[attr-defined]
    yield client
    client.close()


def test_every_line_is_a_record():
    kinds = {type(parse(line)) for line in garbled(COUNT)}
    assert kinds == {Notice, Prompt, Result, Stream}


def test_what_is_no_mi_is_kept_as_it_is():
    assert all(record.text in {line, line.rstrip("\r\n")} for line in garbled(COUNT) if is_text(record := parse(line)))


def is_text(record):
    return isinstance(record, Stream) and record.channel == "@" and not record.text.startswith("@")


def test_answers_are_heard_between_nonsense(gdb):
    for number in range(1, ROUNDS - 1):
        if number % 3:
            assert gdb.command("-ask") == {"heard": str(number)}
        else:
            with pytest.raises(GdbError, match=r"^no$"):
                gdb.command("-refuse")
    assert gdb.close()
    assert any(notice is not None and notice.kind == "stopped" for notice in gdb.notices)
    assert gdb.notices.count(None) == 1


def test_a_gdb_that_is_gone_amid_nonsense_is_said(gdb):
    with pytest.raises(GdbLostError):
        gdb.command("-vanish")
    with pytest.raises(GdbLostError):
        gdb.command("-ask")

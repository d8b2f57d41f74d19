"""The transcript that people read: pure."""

from pyharness.model.frames import Frame, FxPlace
from pyharness.model.stops import Stop
from pyharness.model.transcript import Begun, Checked, Ended, Failure, Mismatch, Printed, Transcript
from pyharness.session.transcript_text import Manner, entry_lines


def text(entry, **manner):
    parts = [entry]
    if isinstance(entry, Stop):
        parts[:0] = [Begun(entry), *(Printed(*each) for each in entry.printed.items())]
    return [line.text for part in parts for line in entry_lines(part, 1, Manner(**manner))]


def test_a_stop_shows_its_place_source_values_and_stack(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gen.py").write_text("def forward(x):\n\ty = norm(x)\n\treturn y\n")
    frame = Frame("python", "forward", str(tmp_path / "gen.py"), 2, FxPlace("norm", "blocks.0", "/m/model.py:41"))
    plumbing = Frame("native", "dispatch", library="/l/torch.so", plumbing=True)
    stop = Stop("step", frame, 7, "it ran nothing", {"y": "tensor([1,\n2])", "z": "<error: no z>"}, (frame, plumbing))
    lines = text(stop)
    assert lines[:3] == [
        "1  step · python · forward · gen.py:2",
        "   fx: norm ← blocks.0, /m/model.py:41",
        "   it ran nothing",
    ]
    assert lines[3:6] == ["     1 │ def forward(x):", "   → 2 │     y = norm(x)", "     3 │     return y"]
    assert lines[6:9] == ["   y = tensor([1,", "       2])", "   z = <error: no z>"]
    assert not any("dispatch" in line for line in lines)
    assert any("dispatch" in line for line in text(stop, full=True))


def test_a_note_names_the_caller_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = Frame("native", "mul(x)")
    note = f"mul(float32[2]), hit 1, called from {tmp_path}/a train.py:4"
    assert "   mul(float32[2]), hit 1, called from a train.py:4" in text(Stop("breakpoint", frame, 1, note=note))


def test_addresses_are_left_out_unless_asked_for():
    stop = Stop("step", Frame("native", "f"), 1, printed={"p": "(float *) 0x55d0a1b2c3d0", "q": "0xff"})
    assert "   p = (float *) 0x…" in text(stop)
    assert "   q = 0xff" in text(stop)
    assert "   p = (float *) 0x55d0a1b2c3d0" in text(stop, raw=True)
    steady = Transcript((stop,)).to_json()["stops"][0]
    assert "thread" not in steady
    assert steady["printed"]["p"] == "(float *) 0x…"
    assert Transcript((stop,)).to_json(raw=True)["stops"][0]["thread"] == 1


def test_what_was_not_as_expected_is_shown_side_by_side():
    lines = text(Checked(1, 12, (Mismatch("line", "3", "4"), Mismatch("printed.x", "~1", "2\n3"))))
    assert lines[0].strip() == "✗ not as expected (line 12)"
    assert [line.split() for line in lines[1:6]] == [
        ["line", "wanted", "3"],
        ["got", "4"],
        ["printed.x", "wanted", "~1"],
        ["got", "2"],
        ["3"],
    ]


def test_the_status_is_the_error_then_the_expectation_then_the_program():
    bad = Checked(1, 1, (Mismatch("line", "3", "4"),))
    assert Transcript(exit_code=3).status == 3
    assert Transcript(exit_code=-11).status == 139
    assert Transcript(exit_code=3, exit_code_expected=True).status == 0
    assert Transcript(exit_code=3, expectations=(bad,)).status == 1
    assert Transcript(exit_code=0, expectations=(Checked(1, 1),)).status == 0
    assert Transcript(exit_code=3, error=Failure("no", status=2)).status == 2
    assert str(Ended(-11)) == "the program was ended by SIGSEGV (Segmentation fault)"

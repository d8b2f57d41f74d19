"""Stacks as text."""

from pyharness.model.frames import AutogradNode, Frame, FxPlace
from pyharness.model.text import source_line, stack_format
from pyharness.model.text.stack_format import Style
from pyharness.model.text.styled_line import painted
from pyharness.model.threads import ThreadStack, thread_from_json

DISPATCH = Frame("native", "c10::Dispatcher::call(X)", library="/t/torch/lib/libtorch_cpu.so", plumbing=True)
EVAL = Frame("native", "_PyEval_EvalFrameDefault", library="/usr/lib/libpython3.11.so.1.0", plumbing=True)


def format_stack(*arguments):
    return [line.text for line in stack_format.format_stack(*arguments)]


def format_threads(*arguments):
    return [line.text for line in stack_format.format_threads(*arguments)]


def stack(tmp_path):
    (tmp_path / "kernel.cpp").write_text("\n\n  y[i] = x[i] * scale;  \n")
    (tmp_path / "model.py").write_text("norm = rms_norm(x)\n")
    place = FxPlace("norm", "blocks.0", "/elsewhere/model.py:41")
    return (
        Frame("native", "at::Tensor mine::kernel<float>(at::Tensor const&)", str(tmp_path / "kernel.cpp"), 3),
        DISPATCH,
        DISPATCH,
        EVAL,
        Frame("python", "forward", str(tmp_path / "model.py"), 1, fx=place),
        EVAL,
        Frame(
            "native", "N::apply()", library="/x/libn.so", autograd=AutogradNode("torch::autograd::MulBackward0", 7, 1)
        ),
        Frame("python", "<module>", "<string>", 1),
    )


def test_a_file_name_is_one_line():
    assert source_line.short_path("/a/new\nline.py") == r"/a/new\nline.py"


def test_one_line_a_frame_aligned_and_folded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert format_stack(stack(tmp_path)) == [
        "  native  mine::kernel  kernel.cpp:3  y[i] = x[i] * scale;",
        "          … 3 frames of torch dispatcher, interpreter",
        "  python  forward       model.py:1    norm = rms_norm(x)  [fx: norm ← blocks.0  /elsewhere/model.py:41]",
        "          … 1 frame of interpreter",
        "  native  N::apply      in libn.so    [autograd: MulBackward0 #7]",
        "  python  <module>      <string>:1",
    ]


def test_full_shows_every_frame(tmp_path):
    frames = stack(tmp_path)
    assert len(format_stack(frames, Style(full=True))) == len(frames)


def test_the_innermost_frame_is_never_folded():
    assert format_stack([DISPATCH, DISPATCH]) == [
        "  native  c10::Dispatcher::call  in libtorch_cpu.so",
        "          … 1 frame of torch dispatcher",
    ]


def test_a_recursion_is_told_by_its_ends():
    frames = [
        Frame("native", "deep(long)", "/s/o.cpp", 4, address=at, variables=(("n", str(at)),)) for at in range(1000)
    ]
    lines = format_stack([*frames, Frame("python", "main", "/s/m.py", 3)])
    kept = [f"              n = {number}" for number in (0, 1, 999)]
    assert [line for line in lines if "n = " in line] == kept
    assert lines[4] == "          … the frame above repeats 997 times"
    assert lines[-1].split() == ["python", "main", "/s/m.py:3"]
    assert len(format_stack(frames, Style(full=True))) == 2000


def test_functions_that_call_each_other_through_machinery():
    cycle = [Frame("python", name, "/s/m.py", line) for line, name in enumerate(("even", "odd"), 1)]
    lines = format_stack([Frame("native", "f"), *[*cycle, EVAL, EVAL] * 6])
    assert [line.strip() for line in lines[1:4]] == [
        "python  even  /s/m.py:1", "python  odd   /s/m.py:2", "… 2 frames of interpreter",
    ]  # fmt: skip
    assert lines[7].strip() == "… the 2 frames above repeat 3 times"
    assert lines[8:] == lines[1:4]


def test_four_alike_frames_are_shown():
    assert len(format_stack([Frame("python", "f", "/s/m.py", 1)] * 4)) == 4


def test_a_narrow_terminal_cuts_source_text_and_has_notes_below(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert format_stack(stack(tmp_path), Style(width=52)) == [
        "  native  mine::kernel  kernel.cpp:3  y[i] = x[i] *…",
        "          … 3 frames of torch dispatcher, interpreter",
        "  python  forward       model.py:1    norm = rms_no…",
        "          [fx: norm ← blocks.0  /elsewhere/model.py:41]",
        "          … 1 frame of interpreter",
        "  native  N::apply      in libn.so",
        "          [autograd: MulBackward0 #7]",
        "  python  <module>      <string>:1",
    ]


def test_a_narrower_one_has_no_source_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert format_stack(stack(tmp_path), Style(width=40))[0] == "  native  mine::kernel  kernel.cpp:3"


def test_variables_come_under_their_frame():
    (_line, first, second) = format_stack([Frame("python", "f", "m.py", 1, variables=(("x", "1"), ("y", "'a'")))])
    assert (first.strip(), second.strip()) == ("x = 1", "y = 'a'")


def test_colours_only_when_asked(tmp_path):
    lines = stack_format.format_stack(stack(tmp_path))
    assert [painted(line, colour=False) for line in lines] == [line.text for line in lines]
    assert painted(lines[0], colour=True).startswith("\033[36m  native  mine::kernel")


def test_threads_that_look_the_same_are_told_once():
    idle = [ThreadStack(number, "worker", (EVAL,)) for number in range(2, 9)]
    lines = list(format_threads([ThreadStack(1, "main", (DISPATCH,), holds_gil=True), *idle]))
    assert lines[0] == 'Thread 1 "main"  holds the GIL'
    assert '7 threads with the same stack "worker": 2, 3, 4, 5, …' in lines
    named = [ThreadStack(number, name, (EVAL,)) for number, name in enumerate(("a", "b", "a"))]
    assert next(iter(format_threads(named))) == '3 threads with the same stack "a", "b": 0, 1, 2'


def test_a_note_says_what_is_missing():
    lines = list(format_threads([ThreadStack(1, "", (), note="no Python in this process")]))
    assert lines == ["Thread 1", "  (no Python in this process)", "  (no frames)"]


def test_a_signal_and_a_recursion_that_ran_away():
    frames = tuple(Frame("python", "f", "m.py", number) for number in range(1, 1001))
    lines = list(format_threads([ThreadStack(1, "", frames, signal="SIGSEGV at address 0x0")]))
    assert lines[0] == "Thread 1  SIGSEGV at address 0x0"
    assert (len(lines), lines[151], lines[-1]) == (202, "          … 800 more lines", "  python  f  m.py:1000")
    assert len(format_stack(frames, Style(full=True))) == 1000


def test_json_and_back(tmp_path):
    frames = tuple(frame for frame in stack(tmp_path) if not frame.autograd)  # an address is no part of JSON
    thread = ThreadStack(5, "python", frames, holds_gil=True, note="n")
    assert thread_from_json(thread.to_json()) == thread

"""Merging by stack address, without a debugger."""

import json

from pyharness.model.frames import AutogradNode, FxPlace
from pyharness.reading.python.frames import Loop, PythonFrame
from pyharness.reading.stack.merge import NativeFrame, merge

LIBPYTHON = "/usr/lib/libpython3.11.so.1.0"


def native(name, sp, cfa, library=None, file=None):
    return NativeFrame(0x1000 + sp, sp, cfa, name, file, 3 if file else None, library)


def python(*names):
    return tuple(PythonFrame(name, f"/home/me/{name}.py", 1) for name in names)


def names(frames):
    return [frame.function for frame in frames]


STACK = [
    native("kernel", 100, 140, "/home/me/_C.so", "/home/me/kernel.cpp"),
    native("eval", 140, 200, LIBPYTHON),
    native("vectorcall", 200, 240, LIBPYTHON),
    native("eval", 240, 300, LIBPYTHON),
    native("main", 300, None, "/usr/bin/python3.11"),
]


def test_frames_of_a_loop_follow_the_frame_that_runs_it():
    merged = merge(STACK, [Loop(180, python("inner", "middle")), Loop(260, python("outer"))])
    assert names(merged) == ["kernel", "eval", "inner", "middle", "vectorcall", "eval", "outer", "main"]
    assert [frame.plumbing for frame in merged] == [False, True, False, False, True, True, False, True]


def test_names_of_functions_do_not_matter():
    anonymous = [NativeFrame(frame.pc, frame.sp, frame.cfa, "??") for frame in STACK]
    merged = merge(anonymous, [Loop(180, python("inner")), Loop(260, python("outer"))])
    assert names(merged) == ["??", "??", "inner", "??", "??", "outer", "??"]


def test_what_the_debugger_calls_to_hold_a_thread_is_its_own():
    wait = PythonFrame("Event.wait", "/usr/lib/python3.11/threading.py", 622)
    hold = PythonFrame("do_wait_suspend", "/env/lib/python3.11/site-packages/debugpy/_vendored/pydevd/pydevd.py", 1)
    frames = (wait, hold, *python("loop"), wait, *python("main"))
    assert [frame.plumbing for frame in merge([], [Loop(None, frames)])] == [True, True, False, False, False]


def test_an_inlined_frame_holds_no_marker():
    inlined = [native("kernel", 100, 140), native("inlined", 140, 140), native("eval", 140, 200)]
    assert names(merge(inlined, [Loop(140, python("f"))])) == ["kernel", "inlined", "eval", "f"]


def test_an_unwinder_that_gave_up_loses_no_python_frame():
    merged = merge(STACK[:2], [Loop(180, python("inner")), Loop(260, python("outer"))])
    assert names(merged) == ["kernel", "eval", "inner", "outer"]


def test_a_loop_without_a_marker_goes_with_the_next():
    merged = merge(STACK, [Loop(None, python("new")), Loop(180, python("inner")), Loop(260, python("outer"))])
    assert names(merged) == ["kernel", "eval", "new", "inner", "vectorcall", "eval", "outer", "main"]


def test_no_native_frames():
    assert names(merge([], [Loop(180, python("inner")), Loop(None, python("outer"))])) == ["inner", "outer"]
    assert merge([], []) == []


def test_frames_on_a_signal_stack_keep_the_order():
    handler = [native("handler", 9000, 9100), native("trampoline", 9100, 100), *STACK]
    merged = merge(handler, [Loop(180, python("inner")), Loop(260, python("outer"))])
    assert names(merged)[:4] == ["handler", "trampoline", "kernel", "eval"]
    assert names(merged)[4] == "inner"


def test_a_generated_line_gets_its_fx_place(tmp_path):
    file = tmp_path / "forward.py"
    file.write_text("x = 1\n")
    line = {
        "line": 1,
        "node": "norm",
        "op": "call_function",
        "target": "t",
        "module": "blocks.0",
        "origin_file": "m.py",
    }
    line["origin_line"] = 4
    (tmp_path / "forward.py.map.json").write_text(
        json.dumps({"version": 1, "file": str(file), "graph": "G", "lines": [line]})
    )
    (frame,) = merge([], [Loop(None, (PythonFrame("forward", str(file), 1),))])
    assert frame.fx == FxPlace("norm", "blocks.0", "m.py:4")


def test_a_frame_with_a_node_is_shown():
    node = AutogradNode("MulBackward0", 3, 16)
    engine = native("torch::autograd::Node::operator()", 1, 2, "/site-packages/torch/lib/libtorch_cpu.so")
    (plain,) = merge([engine], [])
    (noted,) = merge([engine], [], nodes=lambda frame: node if frame is engine else None)
    assert (plain.plumbing, noted.plumbing, noted.autograd) == (True, False, node)


def test_variables_of_shown_frames_only():
    merged = merge(STACK, [Loop(180, python("f"))], variables=lambda frame: (("name", frame.function),))
    assert {frame.function: frame.variables for frame in merged if frame.variables} == {
        "kernel": (("name", "kernel"),),
        "f": (("name", "f"),),
    }

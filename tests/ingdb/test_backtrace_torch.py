"""ph-bt in a real torch program: generated forward, our kernel, and the backward pass that the engine runs."""

import os
import re
import subprocess
import sys

import pytest

from kit.marks import line_of
from kit.names import qualified
from kit.paths import ROOT

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = ROOT / "tests/programs/py_torch_stack.py"
LOOP = r"_PyEval_EvalFrameDefault|native  \?\? +in python3"
"""The loop of the interpreter, which has no name where that is stripped, as Debian's 3.14."""


def mark(name):
    return line_of(name, PROGRAM)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What one gdb prints: at the forward kernel, at the backward kernel, and of every thread."""
    folder = tmp_path_factory.mktemp("torch")
    environment = {**os.environ, "PYHARNESS_HOME": str(folder)}
    with subprocess.Popen(
        [sys.executable, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        pid = int(process.stdout.readline().split()[1])
        process.stdin.write("go\n")
        process.stdin.flush()
        commands = [
            f"source {ROOT}/pyharness/ingdb/load.py",
            f"ph-attach {pid}",
            "break rms_norm_cpu",
            "continue",
            "echo ==forward\\n",
            "ph-bt -l",
            "echo ==full\\n",
            "ph-bt --full",
            "delete",
            "break rms_norm_backward_cpu",
            "continue",
            "echo ==backward\\n",
            "ph-bt",
            "echo ==all\\n",
            "up 2",
            "ph-bt --all",
            "frame",
            "echo ==wrong\\n",
            "ph-bt --al",
        ]
        arguments = [word for command in commands for word in ("-ex", command)]
        done = subprocess.run(
            ["gdb", "-nx", "-q", "-batch", *arguments], capture_output=True, text=True, check=False, env=environment
        )
        process.kill()
    parts = re.split(r"^==(\w+)\n", done.stdout, flags=re.MULTILINE)
    assert len(parts) > 1, done.stdout + done.stderr
    return {**dict(zip(parts[1::2], parts[2::2], strict=True)), "errors": done.stderr}


def has(text, *patterns):
    """Lines that match, in this order; what lies between does not matter."""
    position = 0
    for pattern in patterns:
        found = re.search(rf"^.*{pattern}.*$", text[position:], re.MULTILINE)
        assert found, f"{pattern!r} is not there (after what came before it) in\n{text}"
        position += found.end()


def test_forward_from_the_kernel_to_the_script(printed):
    has(
        printed["forward"],
        r'^Thread \d+ "python',
        r"  native  pyharness::ops::rms_norm_cpu +csrc/ops/rms_norm.cpp:\d+  ",
        r"… \d+ frames of torch dispatcher$",
        r"… \d+ frames of torch dispatcher, .*pybind11.*interpreter",
        r"  python  forward +GraphModule_\w+.py:\d+  .*rms_norm.*\[fx: rms_norm\w* ← blocks.0  .*stack.py:20\]$",
        r"… \d+ frames of interpreter, torch$",
        rf"  python  train_step +\S*py_torch_stack.py:{mark('forward')}  loss = model",
        r"  python  <module> ",
    )
    assert "_PyEval_EvalFrame" not in printed["forward"]


def test_locals_of_both_languages(printed):
    has(
        printed["forward"],
        r"native  pyharness::ops::rms_norm_cpu",
        r"^ +weight = Tensor float32 \[4\] .*1.0, 1.0, 1.0, 1.0",
        r"  python  forward ",
        r"^ +x = Tensor float32 \[3, 4\] ",
        r"  python  train_step ",
        r"^ +scale = 0.5$",
    )


def test_full_shows_the_machinery_in_its_place(printed):
    has(
        printed["full"],
        r"c10::Dispatcher::call",
        LOOP,
        rf"  python  {qualified('OpOverload.__call__')}",
        LOOP,
        r"  python  forward ",
        r"  python  train_step ",
    )
    assert not re.search(r"… \d+ frames?", printed["full"])


def test_backward_names_the_node(printed):
    has(
        printed["backward"],
        r"  native  pyharness::ops::rms_norm_backward_cpu ",
        r"  native  torch::autograd::CppNode::apply .*\[autograd: CppNode<pyharness::ops::RmsNorm> #\d+\]$",
        r"  native  torch::autograd::Engine::execute ",
        rf"  python  {qualified('Tensor.backward')} +torch/_tensor.py:\d+",
        rf"  python  train_step +\S*py_torch_stack.py:{mark('backward')}  loss.backward\(\)",
    )
    assert printed["backward"].count("[autograd:") == 1


def test_every_thread(printed):
    has(printed["all"], r"rms_norm_backward_cpu", rf"  python  wait_in_thread .*:{mark('waiting')}  event.wait\(\)")


def test_the_selected_frame_stays(printed):
    assert re.search(r"^#2 ", printed["all"], re.MULTILINE)


def test_a_wrong_option_is_answered_with_the_right_one(printed):
    assert "Did you mean --all" in printed["errors"]

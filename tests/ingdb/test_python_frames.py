"""Python's own account of its stacks against what is read from its memory, for every CPython that is here."""

import random
from pathlib import Path

import pytest

from kit.interpreters import loaded, python_of, readable_cases, reader, waiting
from kit.marks import marks
from kit.paths import PROGRAMS
from pyharness.reading.process.memory import Memory
from pyharness.reading.python.layout import UnknownPythonError
from pyharness.reading.python.runtime import find_python
from pyharness.reading.python.threads import Python

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = "py_frames.py"
HERE = str((PROGRAMS / PROGRAM).resolve())


@pytest.fixture(scope="module", params=readable_cases())
def stopped(request):
    with waiting(request.param, PROGRAM) as (process, said):
        yield process.pid, said


def shown(thread):
    return [[frame.function, frame.file == HERE, frame.line] for loop in thread.loops for frame in loop.frames]


def threads_of(python, pid):
    """The main thread and the other one, by the kernel's ids: CPython 3.10 adds threads at the front."""
    threads = sorted(python.threads(), key=lambda thread: thread.native_id != pid)
    assert {str(thread.native_id) for thread in threads} == {task.name for task in Path(f"/proc/{pid}/task").iterdir()}
    assert len(threads) == 2
    return threads


def test_frames_are_those_that_python_sees(stopped):
    pid, said = stopped
    with python_of(pid) as python:
        assert list(python.layout.version) == said["version"]
        main, other = threads_of(python, pid)
    expected = said["main"][1:]  # without the function that looked
    expected[0][2] = marks(PROGRAMS / PROGRAM)["stop"]
    assert shown(main) == expected
    assert shown(other) == said["other"][0]


def test_lines_of_the_marks(stopped):
    pid, _said = stopped
    with python_of(pid) as python:
        main, _other = threads_of(python, pid)
    lines = {function.rsplit(".", 1)[-1]: line for function, here, line in shown(main) if here}
    where = marks(PROGRAMS / PROGRAM)
    assert {name: lines[name] for name in ("generate", "inner", "compare", "main")} == {
        "generate": where["generator"],
        "inner": where["coroutine"],
        "compare": where["compare"],
        "main": where["qsort"],
    }


def test_every_loop_has_its_place_on_the_stack(stopped):
    pid, _said = stopped
    stack = next(line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.endswith("[stack]"))
    start, end = (int(part, 16) for part in stack.split()[0].split("-"))
    with python_of(pid) as python:
        main, _other = threads_of(python, pid)
    markers = [loop.marker for loop in main.loops]
    if python.layout.version == (3, 9):  # leaves none: its native frames are counted
        assert all(loop.is_unmarked and len(loop.frames) == 1 for loop in main.loops)
        return
    assert all(start <= marker < end for marker in markers)
    assert markers == sorted(markers)
    # qsort calls back into Python: at least the loops of the module and of the callback
    assert len(markers) >= 2
    assert [frame.function for frame in main.loops[-1].frames] in (["main", "<module>"], ["<module>"])


@pytest.mark.parametrize("interpreter", readable_cases())
def test_who_holds_the_gil_is_known_by_its_kernel_id(interpreter):
    with waiting(interpreter, "py_holds_gil.py") as (process, _said), python_of(process.pid) as python:
        assert python.gil_holders() == (set() if python.layout.free_threaded else {process.pid})


def test_locals(stopped):
    pid, _said = stopped
    with python_of(pid) as python:
        main, _other = threads_of(python, pid)
        variables = dict(python.locals(main.loops[0].frames[0]))
        outer = dict(python.locals(next(f for loop in main.loops for f in loop.frames if f.function == "compare")))
    later = variables.pop("later")
    assert later.startswith("<function at 0x")
    assert variables == {
        "depth": "0",
        "number": "-7",
        "big": str(2**70),
        "text": "'hé€'",
        "raw": repr(b"\x00ab"),
        "floating": "1.5",
        "nothing": "None",
        "truth": "True",
        "several": "[1, [2, […2 items]]]",
        "pair": "('a',)",
        "table": "{'k': 1, 2: None}",
        "unique": "set({9})",
        "long": repr("x" * 60) + "…",
        "in_cell": "'cell'",
    }
    assert outer["left"].startswith("<LP_c_int at 0x")


def test_corrupt_memory_never_raises_and_ends(stopped):
    pid, _said = stopped
    with reader(pid) as read:
        whole = find_python(Memory(read), loaded(pid))
        for seed in range(40):
            chance = random.Random(seed)  # noqa: S311  (not for secrets)

            def corrupt(address, size, chance=chance):
                data = bytearray(read(address, size))
                for at in range(0, size - 7, 8):
                    if chance.random() < 0.002:
                        value = chance.choice([0, 1, address + 16, chance.getrandbits(64), (1 << 63) - 1])
                        data[at : at + 8] = value.to_bytes(8, "little")
                return bytes(data)

            python = Python(Memory(corrupt), whole.layout, whole.runtime)
            for thread in python.threads():
                for loop in thread.loops:
                    for frame in loop.frames:
                        assert isinstance(frame.function, str)
                        assert len(python.locals(frame)) < 1000


def test_memory_that_is_gone_leaves_no_threads(stopped):
    pid, _said = stopped
    with python_of(pid) as python:
        gone = Python(Memory(lambda _address, _size: b""), python.layout, python.runtime)
    assert gone.threads() == []
    assert not gone.looks_right()


def test_an_interpreter_that_has_not_started_is_said_so(stopped):
    pid, _said = stopped

    def empty(address, size, read):
        return bytes(size) if size == 4096 else read(address, size)

    with reader(pid) as read, pytest.raises(UnknownPythonError):
        find_python(Memory(lambda address, size: empty(address, size, read)), loaded(pid))

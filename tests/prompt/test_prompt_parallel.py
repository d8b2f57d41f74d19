"""Code in C++ that several threads share: each stops by itself, and works for one that Python has called."""

import re

import pytest

from kit import builds
from kit.dialogue import blocks
from kit.marks import marks
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=3)

SOURCE, PROGRAM = PROGRAMS / "parallel.cpp", PROGRAMS / "parallel_loop.py"
CXX, PYTHON = marks(SOURCE), marks(PROGRAM)
PART = "native:parallel::part"


@pytest.fixture
def shared(piped, environment):
    """``shared(COMMANDS)``: what each command has shown, of the program that shares its loop."""

    def run(commands, argument="", **settings):
        module = {"PYTHONPATH": str(builds.crossing("parallel", SOURCE, "-fopenmp"))}
        words = [argument] if argument else []
        done = piped(commands, *words, program=PROGRAM, env={**environment, **module}, **settings)
        return done, blocks(done.stdout)

    return run


def rows(text):
    """The functions and the lines of a stack, innermost first; what is between two threads as it is."""
    for line in text.replace("→", " ").splitlines():
        if "works for" in line:
            yield line.strip()
        elif words := re.search(r"(?:native|python)  (\S+) +\S*?([^/\s]+:\d+)  ", line):
            yield words.groups()


def test_the_stack_of_a_thread_goes_on_in_the_one_that_python_has_called(shared):
    _, shown = shared([f"b {PART} if number == 5", "c", "bt"])
    assert re.search(rf"breakpoint · native · parallel::part · \S+/parallel\.cpp:{CXX['part']}\n", shown["c"])
    thread, owner = (re.search(r"thread \d+ \((\w+)\)", shown[command]) for command in ("c", "bt"))
    assert (thread[1], owner[1]) == ("python", "MainThread")
    assert list(rows(shown["bt"])) == [
        ("parallel::part", f"parallel.cpp:{CXX['part']}"),
        ("parallel::total", f"parallel.cpp:{CXX['called']}"),
        f"works for {owner[0]}:",
        ("parallel::total", f"parallel.cpp:{CXX['loop'] - 1}"),
        ("<module>", f"parallel_loop.py:{PYTHON['call']}"),
    ]


def test_python_of_the_one_that_waits_is_evaluated(shared):
    asked = ["p numbers[5]", "p number", "up", "up", "p count", "up", "p numbers"]
    _, shown = shared([f"b {PART} if number == 5", "c", *asked])
    assert [shown[each].strip() for each in ("p numbers[5]", "p number", "p count", "p numbers")] == [
        "5",
        "5",
        "8",
        "[0, 1, 2, 3, 4, 5, 6, 7]",
    ]


def test_a_pointer_into_a_tensor_of_the_one_that_waits_has_its_name(shared):
    _, shown = shared(["b native:parallel::scaled if number == 5", "c", "locals"], argument="scale")
    assert re.search(r"   values = 0x\w+ → x, float32 \[8\] \[0\.0, ", shown["locals"])


def test_a_step_out_ends_at_the_line_that_the_stack_shows(shared):
    _, shown = shared([f"b {PART} if number == 5", "c", "out", "bt"])
    line = re.search(r"step · native · parallel::total · \S+:(\d+)", shown["out"])[1]
    assert next(rows(shown["bt"])) == ("parallel::total", f"parallel.cpp:{line}")


def test_steps_out_of_what_threads_share_end_where_the_one_that_waits_goes_on(shared):
    done, _ = shared([f"tb {PART} if number == 5", "c", "out", "out", "bt", "out"])
    assert done.returncode == 0, done.stderr
    _, _, inside, behind, stack, python = (text for _, text in blocks(done.stdout, repeated=True))
    assert re.search(r"step · native · parallel::total · \S+:(\d+)", inside)
    line = int(re.search(r"step · native · parallel::total · \S+:(\d+)\n", behind)[1])
    assert line in {CXX["loop"] - 1, CXX["whole"]}  # the end of the line that called may be a part of it
    assert re.search(r"   thread \d+ \(MainThread\)\n", behind)
    assert [row[0] for row in rows(stack)] == ["parallel::total", "<module>"]
    assert re.search(rf"step · python · <module> · \S+:{PYTHON['printed']}\n", python)


def test_steps_follow_one_of_several_threads_that_stand_at_one_place(shared):
    """The others wait in line, and come when the program is to go on."""
    done, _ = shared([f"b {PART}", "c", "c", "over", "over", "over", "c", "over", "q"])
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout, repeated=True)
    overs, continues = ([text for command, text in shown if command == word] for word in ("over", "c"))
    assert len(overs) == 4
    assert all("  step · native · parallel::" in text and "\n   thread " not in text for text in overs), done.stdout
    assert "  breakpoint · native · parallel::part" in continues[2]
    assert "\n   thread " in continues[2]


def test_steps_go_on_from_the_thread_that_is_looked_at(dialogue):
    path = str(builds.crossing("parallel", SOURCE, "-fopenmp"))
    at = dialogue(program=PROGRAM, PYTHONPATH=path)
    for line in (f"b {PART}", "c", "c"):
        at.says(line)
    standing = re.compile(r"(?m)^  (\d+)  \S+  stands")
    while not (others := standing.findall(at.says("threads"))):
        pass
    assert f"parallel.cpp:{CXX['part']}" in at.says(f"thread {others[0]}")
    assert "step · native · parallel::part" in at.says("over")
    assert re.search(rf"→ {others[0]}  \S+  stands  \(step\)", at.says("threads"))


def test_steps_where_another_thread_stands_with_the_gil(shared):
    done, shown = shared([f"b {PART}", "c", "c", "out", "over"])
    assert done.returncode == 0, done.stderr
    assert all("· native · parallel::" in shown[step] for step in ("out", "over"))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (f"b {PART}, number == 5", f"{PART} if number == 5"),
        (f"b parallel.cpp:{CXX['part']}, number > 3", f"parallel.cpp:{CXX['part']} if number > 3"),
        ("b native:parallel::part(long), number > 3", "native:parallel::part(long) if number > 3"),
        ("b native:nothing(int, long)", "native:nothing(int, long)"),
        (f"b {PART} if pair(1, number) > 3", f"{PART} if pair(1, number) > 3"),
        (f"b PROGRAM:{PYTHON['call']}, numbers", f"parallel_loop.py:{PYTHON['call']} if numbers"),
    ],
)
def test_a_condition_behind_a_comma_as_in_pdb(shared, typed, shown):
    done, _ = shared([typed.replace("PROGRAM", f"py:{PROGRAM}"), "info breakpoints"])
    assert re.search(rf"(?m)1  breakpoint  \S*{re.escape(shown)}( |$)", done.stdout)

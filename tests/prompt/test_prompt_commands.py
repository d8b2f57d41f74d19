"""Commands from a pipe: each is done, shown with what came of it, and the first error ends them all."""

import json
import re
import subprocess
import sys

import pytest

from kit.dialogue import blocks
from kit.paths import PROGRAMS
from pyharness.prompt.commands.all import MODULES
from pyharness.prompt.registry import COMMANDS, found

pytestmark = pytest.mark.rotated_tests(turns=6)


@pytest.mark.always
def test_places_steps_and_values(piped, line):
    done = piped([f"b py:prompted.py:{line['add']}", "c", "p result", "n", "p result", "p value * 10", "until", "out"])
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout)
    assert re.match(r"1  breakpoint  py:.*prompted\.py:\d+$", shown[f"b py:prompted.py:{line['add']}"])
    stop = shown["c"]
    assert "hello" in stop
    assert re.search(rf"2  breakpoint · python · total · .*prompted\.py:{line['add']}\n", stop)
    assert f"   → {line['add']} │         result += value * scale  # @add" in stop
    assert "   result = 0\n   scale = 2\n   value = 1\n   values = [1, 2, 3]" in stop
    assert [text.strip() for name, text in blocks(done.stdout, repeated=True) if name == "p result"] == ["0", "2"]
    assert shown["p value * 10"].strip() == "10"
    assert "   value = 2" in shown["until"]


def test_a_stop_shows_what_has_changed(piped, line):
    done = piped([f"b py:prompted.py:{line['loop']}", "c", "n", "n"])
    first, second, third = (text for name, text in blocks(done.stdout, repeated=True) if name in {"c", "n"})
    assert "values = [1, 2, 3]" in first
    assert "   value = 1" in second
    assert "values" not in second.partition("│     return result")[2]
    assert third.rstrip().endswith("   result = 2")


def test_the_stack_of_a_stop(piped, line):
    done = piped([f"b py:prompted.py:{line['add']}", "c", "bt", "up", "locals", "frame 0", "down"])
    shown = blocks(done.stdout)
    assert [row.split()[2] for row in shown["bt"].splitlines()] == ["total", "main", "<module>"]
    assert shown["bt"].startswith("→0")
    assert "#1  python · main · " in shown["up"]
    assert f"   → {line['call']} │" in shown["up"]
    assert "box = <__main__.Box object" in shown["locals"]
    assert "#0  python · total" in shown["frame 0"]
    assert "This is the innermost frame." in done.stderr


def test_the_whole_function_is_listed(piped, line):
    shown = blocks(piped([f"b {line['add']}", "c", "ll", "frame 2", "longlist"]).stdout)
    listed = [each.split("│", 1)[1].strip() for each in shown["ll"].splitlines()]
    assert (listed[0], listed[-1]) == ("def total(values, scale=2):", "return result  # @returns")
    whole = [each.split("│", 1)[1].strip() for each in shown["longlist"].splitlines()]
    assert whole[0].startswith('"""Something to look at')
    assert "→" in shown["longlist"]


def test_places_are_listed_disabled_enabled_and_deleted(piped, line):
    places = [f"b py:prompted.py:{line['add']} if value == 2", f"tbreak py:prompted.py:{line['call']}"]
    looks = ["info breakpoints", "c", "info b", "disable 1", "info b", "enable 1", "c", "p value"]
    done = piped([*places, *looks, "condition 1 value == 3", "c", "p value", "delete", "info b", "c"])
    assert done.returncode == 0, done.stderr
    listed = [text for name, text in blocks(done.stdout, repeated=True) if name.startswith("info b")]
    assert [len(each.splitlines()) for each in listed] == [2, 1, 1, 1]
    assert "2  temporary" in listed[0]
    assert "if value == 2" in listed[0]
    assert listed[2].rstrip().endswith("(disabled)")
    assert "No places are set" in listed[3]
    assert [text.strip() for name, text in blocks(done.stdout, repeated=True) if name == "p value"] == ["2", "3"]


def test_values_are_shown_and_changed(piped, line):
    commands = [
        f"b py:prompted.py:{line['asked']}",
        "c",
        "pp box.content",
        "whatis box",
        "display found",
        "py found += 1",
    ]
    done = piped([*commands, "p found", "p None", "p print('said')", "args", "undisplay 1", "display", "c"], "fork")
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout)
    assert shown["pp box.content"].strip() == "{'deep': [1, 2]}"
    assert shown["whatis box"].strip() == "Box"
    assert shown["display found"].strip() == "1: found = 12"
    assert shown["p found"].strip() == "13"
    assert shown["p None"].strip() == "None"
    assert shown["p print('said')"].split() == ["said", "None"]
    assert "no arguments" in shown["args"]
    assert "total 13" in shown["c"]


def test_an_uncaught_exception_is_a_stop_where_its_frames_are(piped):
    done = piped(["c", "p box.content", "continue"], "fail")
    stop = blocks(done.stdout)["c"]
    assert "exception · python · fail" in stop
    assert "ValueError: no {'deep': [1, 2]}" in stop
    assert blocks(done.stdout)["p box.content"].strip() == "{'deep': [1, 2]}"
    assert done.returncode == 1
    assert "the program ended with exit code 1" in done.stdout


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        (["brek main"], "There is no command 'brek'.\nDid you mean break"),
        (["p nosuch"], "NameError: name 'nosuch' is not defined"),
        (["p 1/0"], "ZeroDivisionError: division by zero"),
        (["b py:nosuch.py:1"], "nosuch.py"),
        (["frame 99"], "There is no frame 99"),
        (["c", "p 1"], "No program is being debugged.\n`run` starts it again."),
        (["next many"], "'many' is no number of steps."),
        (["delete 7"], "There is no breakpoint '7'."),
        ([f"b op:aten::exp when numel(in0) > {n}" for n in range(65)], "There are 64 op: places already"),
        (["p exit()"], "SystemExit"),
        (["p (lambda f: f(f))(lambda f: f(f))"], "RecursionError"),
        (["signal NONE"], "There is no signal"),
        (["set a: int = 3"], "is not one name"),
        (["b py:prompted.py:17", "c", "set value.nope = 3"], "AttributeError: 'int' object has no attribute 'nope'"),
        (["set *a, b = [1]"], "is not one name"),
    ],
)
def test_the_first_error_ends_the_commands(piped, commands, says):
    done = piped([*commands, "p 'never'"])
    assert says in done.stderr
    assert "never" not in done.stdout
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr


def test_a_file_of_commands_comes_before_what_is_typed(piped, line, tmp_path):
    file = tmp_path / "commands.txt"
    file.write_text(f"# where it adds\nb py:prompted.py:{line['add']}\n\nc\n", encoding="utf-8")
    done = piped(["p value"], options=("-x", file))
    assert blocks(done.stdout)["p value"].strip() == "1"
    missing = piped([], options=("-x", tmp_path / "none"))
    assert (missing.returncode, "cannot be read" in missing.stderr) == (2, True)


def test_the_program_is_started_again(piped, line):
    done = piped([f"b py:prompted.py:{line['returns']}", "c", "r binary", "info b", "kill", "r fail"], "fork")
    shown = blocks(done.stdout)
    assert "breakpoint · python · total" in shown["r binary"]
    assert "(stopped 1 time)" in shown["info b"]
    assert shown["kill"].strip() == "The program was ended."
    assert "breakpoint · python · total" in shown["r fail"]
    assert done.returncode == 0


def test_at_runs_on_to_a_place(piped, line):
    done = piped(["p found"], options=("--at", f"py:prompted.py:{line['last']}"))
    assert blocks(done.stdout)["p found"].strip() == "12"


def test_a_session_file_is_saved_that_checks_itself(piped, pyharness, line, tmp_path):
    steps = [f"b py:prompted.py:{line['add']} if value == 2", "c", "p result", "n", "p [value] * 2", "delete"]
    saved = tmp_path / "saved.toml"
    done = piped([*steps, "out", "n", "s", "c", f"save {saved}"], "fork")
    assert done.returncode == 0, done.stderr
    assert "exit_code = 0" in saved.read_text()
    assert "printed.result = " in saved.read_text().replace('"result"', "result")
    played = pyharness("session", "run", saved)
    assert played.returncode == 0, played.stdout + played.stderr
    assert played.stdout.count("✓ as expected") == 6
    saved.write_text(saved.read_text().replace("^2$", "^3$"))
    assert pyharness("session", "run", saved).returncode == 1


def test_what_a_session_file_has_no_step_for_is_not_saved(piped, line, tmp_path):
    done = piped([f"b py:prompted.py:{line['add']}", "c", "set value = 9", f"save {tmp_path / 'saved.toml'}"])
    assert "A session file has no step for set value = 9." in done.stderr
    assert not (tmp_path / "saved.toml").exists()


@pytest.mark.parametrize("content", [b"x = 1\n", b"\xff\xfe\0"])
def test_save_replaces_nothing_but_what_it_wrote(piped, tmp_path, content):
    (tmp_path / "mine.py").write_bytes(content)
    (tmp_path / "link.toml").symlink_to("mine.py")
    for name in ("mine.py", "link.toml"):
        done = piped(["c", f"save {tmp_path / name}"])
        assert f"{name} is there, and was not written by `save`." in done.stderr
        assert (tmp_path / "mine.py").read_bytes() == content
    done = piped([f"save {tmp_path / 'new.toml'}", "n", f"save {tmp_path / 'new.toml'}"])
    assert done.returncode == 0
    assert "over" in (tmp_path / "new.toml").read_text()


def test_a_variable_is_set_and_a_line_jumped_to(piped, line):
    commands = [f"tb py:prompted.py:{line['add']}", "c", "set value = 40", f"jump {line['returns']}", "p result", "c"]
    done = piped(commands)
    shown = blocks(done.stdout, repeated=True)
    assert shown[2][1].strip() == "value = 40"
    assert "goto · python · total · " in shown[3][1]
    assert shown[4][1].strip() == "0"
    assert "total 0" in shown[5][1]


def test_after_a_step_and_a_jump_the_program_goes_on(piped, line):
    commands = [f"tb py:prompted.py:{line['add']}", "c", "n", f"jump {line['returns']}", "c"]
    shown = blocks(piped(commands).stdout, repeated=True)
    assert "goto · python · total · " in shown[3][1]
    assert f"prompted.py:{line['returns']}\n" not in shown[4][1]


def test_a_hit_count_is_saved_where_a_session_file_counts_the_same(piped, pyharness, line, tmp_path):
    place = f"py:prompted.py:{line['add']} hits 2"
    saved = tmp_path / "saved.toml"
    assert piped([f"b {place}", "c", "p value", f"save {saved}"]).returncode == 0
    assert " hits 2" in saved.read_text()
    assert pyharness("session", "run", saved).returncode == 0
    refused = piped([f"b {place}", f"tb {line['main']}", "c", "c", f"save {saved}"])
    assert "A session file has no step for a place with `hits` that the program had passed." in refused.stderr


def test_exceptions_that_are_raised_are_stops_where_that_is_wanted(piped):
    done = piped(["catch raise ValueError", "c", "catch off", "continue"], "fail")
    shown = blocks(done.stdout)
    assert shown["catch raise ValueError"].strip() == "catch raise ValueError"
    assert "exception · python · fail" in shown["c"]
    assert "ValueError: no {'deep': [1, 2]}" in shown["c"]
    assert "stopped nowhere" not in done.stderr


def test_a_file_is_sourced_and_a_shell_asked(piped, line, tmp_path):
    file = tmp_path / "more.txt"
    file.write_text(f"b py:prompted.py:{line['add']}\nc\nbrek\np 'never'\n", encoding="utf-8")
    done = piped(["shell echo from the shell", f"source {file}", "p 'nor this'"])
    assert "from the shell" in done.stdout
    assert "breakpoint · python · total" in done.stdout
    assert "There is no command 'brek'." in done.stderr
    assert "never" not in done.stdout
    assert "nor this" not in done.stdout


MODULE = """def helper(x):
    return x + 1
class Kind:
    def meth(self):
        return 2
print(helper(1), Kind().meth())
"""


@pytest.mark.parametrize("module", ["alone", "pack.inner", "pack"])
def test_the_file_of_a_module_is_known_before_it_runs(piped, tmp_path, module):
    """A place in a module can be named by function or line before anything of its packages is imported."""
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("print('imported')\n")
    for name in ("alone", "pack/inner", "pack/__main__"):
        (tmp_path / f"{name}.py").write_text(MODULE)
    commands = ["b helper", "b Kind.meth", "b 6", "c", "c", "c"]
    done = piped(commands, options=["-m"], program=module, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stops = re.findall(r"\d  (breakpoint) · python · (\S+) · \S+\.py:(\d+)", done.stdout)
    assert [(function.rpartition(".")[2], line) for _, function, line in stops] == [
        ("<module>", "6"),
        ("helper", "2"),
        ("meth", "5"),
    ]
    assert done.stdout.count("imported") == (module != "alone")


def test_variables_that_take_seconds_to_show_let_nothing_run_on(piped, tmp_path):
    program = tmp_path / "slow.py"
    program.write_text(
        "import time\nclass Slow:\n    def __repr__(self):\n        time.sleep(3.5)\n        return 'slow'\n"
        "def f():\n    slow = Slow()\n    return 1\ndef h(x):\n    return x\nf()\nh(3)\n"
    )
    done = piped(["b 8", "c", "n", "b 10", "c"], program=program)
    stops = re.findall(r"\d  (\w+) · python · (\S+) · .*slow\.py:(\d+)", done.stdout)
    assert stops[1:] == [("breakpoint", "f", "8"), ("step", "<module>", "12"), ("breakpoint", "h", "10")]
    assert "slow = slow" in done.stdout


@pytest.mark.parametrize("handled", [False, True])
def test_a_signal_comes_before_the_program_goes_on(piped, tmp_path, handled):
    """One that a handler of Python's takes comes when the thread has left debugpy, which it would be raised in."""
    program = tmp_path / "goes_on.py"
    handles = "signal.signal(signal.SIGUSR1, lambda *_: print('handled'))"
    lines = [
        "import signal, time",
        handles if handled else "pass",
        "def f():",
        "    pass",
        "f()",
        "print('went', 'on')",
    ]
    program.write_text("\n".join([*lines, "time.sleep(0.5)", ""]))
    done = piped(["b 4", "c", "signal USR1"], program=program)
    if handled:
        assert "handled" in done.stdout
    else:
        assert "the program was ended by SIGUSR1" in done.stdout
        assert "went on" not in done.stdout


def test_a_post_mortem_is_where_it_fails(piped):
    done = piped(["p box.content"], "fail", options=("--post-mortem",))
    assert "exception · python · fail" in done.stdout
    assert blocks(done.stdout)["p box.content"].strip() == "{'deep': [1, 2]}"


def test_a_crash_in_a_library_is_a_stop_without_an_extension(piped, line):
    done = piped(["c", "bt"], "free_twice")
    assert "SIGABRT" in done.stdout
    assert re.search(rf"python +free_twice .*:{line['freed']} ", blocks(done.stdout)["bt"])


def test_python_is_not_asked_inside_the_allocator_of_a_program_that_ends(pyharness):
    """The remedy is none that a program at its end cannot take: it lets nothing run on."""
    words = ("step", PROGRAMS / "prompted.py", "--json", "--continue", "--print", "py:1 + 1", "--", "free_twice")
    done = pyharness(*words)
    said = json.loads(done.stdout)["stops"][0]["printed"]["py:1 + 1"]
    assert said.startswith("<error: The program is ending inside the allocator"), said


def test_no_other_verb_waits_for_the_editor():
    code = "import sys; from pyharness import cli; cli.execute(['--help']); cli.execute(['debug', '--help']);"
    heavy = "sorted({'torch', 'prompt_toolkit', 'pygments', 'debugpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code} sys.exit(str({heavy}))"], capture_output=True, check=False)
    assert done.stderr.decode().strip() == "[]"


def test_every_command_has_a_name_of_its_own_and_a_help():
    assert MODULES
    for name, command in COMMANDS.items():
        assert found(name)[0] is command
        assert command.summary.endswith((".", ":")), name


def test_the_beginning_of_a_name_does():
    assert found("cond 1 x")[0].name == "condition"
    assert found("into nat 3")[1] == "nat 3"
    assert found("si 2") == (COMMANDS["into native"], "2")
    assert found("!x = 1") == (COMMANDS["py"], "x = 1")


def test_help_lists_all_and_explains_one(piped):
    done = piped(["help", "help tbreak", "help d", "help places"])
    shown = blocks(done.stdout)
    assert all(f"\n  {command.name}" in f"\n{shown['help']}" for command in COMMANDS.values())
    assert "Stop at a place once." in shown["help tbreak"]
    assert "gdb's d is delete" in shown["help d"].lower()
    assert "native:FUNCTION" in shown["help places"]


def test_a_function_of_pythons_by_its_bare_name(piped, line):
    commands = ["b total", "b Box.__init__ if content", "c", "c", "b main", "b os.path.join hits 5"]
    done = piped(commands)
    shown = blocks(done.stdout, repeated=True)
    assert re.match(rf"1  breakpoint  py:.*prompted\.py:{line['loop'] - 1}$", shown[0][1].strip())
    assert "breakpoint · python · __init__" in shown[2][1]
    assert "breakpoint · python · total" in shown[3][1]
    assert re.match(rf"3  breakpoint  py:.*prompted\.py:{line['main']}$", shown[4][1].strip())
    assert re.match(r"4  breakpoint  py:.*posixpath\.py:\d+ hits 5$", shown[5][1].strip())


def test_a_variable_that_is_the_frame_itself_hides_no_other(piped, tmp_path):
    program = tmp_path / "frames.py"
    program.write_text("import sys\ndef f():\n    a = 1\n    frame = sys._getframe()\n    return a\nf()\n")
    shown = blocks(piped(["b 5", "c", "p frame", "locals"], program=program).stdout)
    assert [line.split()[0] for line in shown["locals"].splitlines()] == ["a", "frame"]


@pytest.mark.parametrize("place", ["node:", "py:", "op:aten::mul when x", "py:prompted.py:16 if a =", "py:nix.py:3"])
def test_a_place_that_cannot_be_meant_starts_nothing(piped, place):
    done = piped([], options=("--at", place))
    assert done.returncode == 2
    assert done.stdout == ""


def test_a_bare_line_before_the_first_stop_is_one_of_the_script(piped, line):
    done = piped([], options=("-c", f"b {line['add']}", "-c", "c"))
    assert re.search(rf"breakpoint · python · total · \S+prompted\.py:{line['add']}\n", done.stdout)


def test_a_file_that_is_a_source_of_itself_is_refused(piped, tmp_path):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text(f"p 1\nsource {second}\n")
    second.write_text(f"p 2\nsource {first}\np 3\n")
    done = piped([f"source {first}"])
    assert f"{first} is a file whose commands are being done" in done.stderr
    assert done.stdout.count("(ph) p ") == 2
    second.write_text("p 2\n")
    done = piped([f"source {first}", f"source {first}"])
    assert done.returncode == 0
    assert done.stdout.count("(ph) p 2") == 2

"""No terminal obeys what a program or a file says: every verb, on a program in which all names have escapes."""

import contextlib
import json
import re
import subprocess
import sys

import pytest

from kit import needs
from kit.command import Command, environment_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=5)


EVIL = "\x1b]0;owned\x07\x9b31m\u202e"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OURS = re.compile("\x1b\\[(?:0|1|2|3[1-6]|1;36)?m|\x1b\\[K|\x1b7|\x1b8|\x1b\\[\\d+G|\r")


def program_in(folder):
    """The program in a folder whose name has escapes, as have its own and a line of it."""
    folder = folder / f"here{EVIL}"
    folder.mkdir()
    script = folder / f"net{EVIL}.py"
    script.write_text((PROGRAMS / "hostile_names.py").read_text().replace("@RAW@", EVIL))
    (folder / "passes.py").write_text(PASSES)
    return folder


@pytest.fixture
def folder(tmp_path):
    return program_in(tmp_path)


PASSES = """
import torch
EVIL = "\\x1b]0;owned\\x07\\x9b31m\\u202e"
class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def wrong(gm):
    raise ValueError(EVIL)
wrong.__name__ = wrong.__qualname__ = "wrong" + EVIL
def other(gm):
    for node in gm.graph.find_nodes(op="call_function", target=torch.relu):
        node.target = torch.sigmoid
    gm.recompile()
    return gm
PASSES = [other]
X = torch.ones(2)
"""


def is_safe(text):
    assert text
    found = OBEYED.search(text)
    assert found is None, f"{text[max(0, found.start() - 200) : found.end() + 20]!r}"


@pytest.fixture
def verb(pyharness, folder):
    """Run a verb on the program, with SCRIPT in place of its name; stdout and stderr, both of which are safe."""

    def run(line, **options):
        words = [folder / f"net{EVIL}.py" if word == "SCRIPT" else word for word in line]
        done = pyharness(*words, cwd=folder, **options)
        is_safe(done.stdout + done.stderr)
        return done

    return run


LINE = next(number for number, line in enumerate((PROGRAMS / "hostile_names.py").open(), 1) if "@stop" in line)
STEP = ("step", "SCRIPT", "--at", f"py:net{EVIL}.py:{LINE}", "--stack", "--print", "value", "--print", "text")
STEP += ("--print", "names", "--print", "fail()", "--print", "tensor", "--into")
WELL = {
    "step": (*STEP,),
    "step json": (*STEP, "--json"),
    "step fx": ("step", "SCRIPT", "--at", "fx:relu", "--stack"),
    "trace": ("trace", "SCRIPT"),
    "trace by module": ("trace", "SCRIPT", "--by", "module", "--shapes"),
    "fx show": ("fx", "show", "SCRIPT"),
    "fx show json": ("fx", "show", "SCRIPT", "--json"),
    "fx code": ("fx", "code", "SCRIPT"),
    "fx graph": ("fx", "graph", "SCRIPT"),
    "fx draw": ("fx", "draw", "SCRIPT", "-o", f"drawn{EVIL}.html"),
    "fx export": ("fx", "export", "SCRIPT", "-o", f"exported{EVIL}"),
    "fx verify": ("fx", "verify", "passes.py:Net", "passes.py:other", "--inputs", "passes.py:X"),
    "fx verify raises": ("fx", "verify", "passes.py:Net", "passes.py:wrong", "--inputs", "passes.py:X"),
    "fx determinism": ("fx", "determinism", "passes.py:other", "passes.py:Net", "--seeds", "2", "--repeats", "1"),
    "session": ("session", "run", f"it{EVIL}.toml"),
    "session check": ("session", "check", f"wrong{EVIL}.toml"),
    "session check names": ("session", "check", "names.toml"),
    "doctor": ("doctor", "--project", "."),
    "vscode": ("vscode", "."),
    "init": ("init", "--dry-run"),
    "no script": ("step", f"no{EVIL}.py", "--at", "fx:x"),
    "no verb": (f"no{EVIL}",),
    "no option": ("step", f"--no{EVIL}"),
    "no place": ("step", "SCRIPT", "--at", f"nix:{EVIL}"),
    "no node": ("step", "SCRIPT", "--at", f"fx:{EVIL}"),
    "no function": ("step", "SCRIPT", "--at", f"native:f{EVIL}"),
    "no process": ("stack", f"surely{EVIL}"),
    "no core": ("stack", f"./nix{EVIL}/core"),
    "no handle": ("run", "--name", EVIL, "SCRIPT"),
}

TOML = f"""
[program]
script = "net\\u001b]0;owned\\u0007\\u009b31m\\u202e.py"

[[step]]
at = "py:net\\u001b]0;owned\\u0007\\u009b31m\\u202e.py:{LINE}"
print = ["value"]
expect.printed.value = "\\u001b[31m"
"""


@pytest.mark.slow
@pytest.mark.rotated(turns=11)
@pytest.mark.parametrize("name", WELL)
def test_what_a_verb_prints(verb, folder, name):
    (folder / f"it{EVIL}.toml").write_text(TOML)
    (folder / f"wrong{EVIL}.toml").write_text(f"[program{EVIL}\n")
    (folder / "names.toml").write_text('[program]\nscript = "passes.py"\n"\\u001b[31m\\u009b" = 1\n')
    (folder / "setup.py").write_text(f"from setuptools import setup  # {EVIL}\nsetup(name='\\x1b[31m')\n")
    verb(WELL[name])


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """``pyharness ...`` beside the program, which waits under a handle: one for all who only look at it."""
    home = tmp_path_factory.mktemp("beside")
    folder = program_in(home)
    with contextlib.closing(Command(environment_of(home / "state"), folder)) as command:
        process = command.start("run", "--name", "hostile", folder / f"net{EVIL}.py", "wait", f"{EVIL}\nrow")
        assert process.stdout.readline() == "waiting\n"
        yield command
        assert process.poll() is None


IN_GDB = ["ph-bt -a -l", "ph-bt nix\x1b[31m", "ph-tensor tensor", "ph-tensor text", "ph-tensor nix\x1b[31m"]
IN_GDB += ["ph-print -python text", "ph-print -python value", "ph-print -python fail()", "ph-break py:nix\x1b[31m:1"]
IN_GDB += ["ph-merged-stack", "bt"]
RUNNING = {
    "list": ("run", "--list"),
    "list json": ("run", "--list", "--json"),
    "stack": ("stack", "hostile", "--locals"),
    "doctor": ("doctor", "hostile"),
    "attach": ("attach", "hostile", "--", "-batch", *(word for each in IN_GDB for word in ("-ex", each))),
}


@pytest.mark.rotated
@pytest.mark.parametrize("name", RUNNING)
def test_what_a_verb_prints_of_a_program_that_runs(beside, name):
    done = beside(*RUNNING[name])
    is_safe(done.stdout + done.stderr)


def test_a_program_has_one_row_whatever_it_is_called(beside):
    lines = beside(*RUNNING["list"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["hostile"]


def test_a_core_file(beside, tmp_path):
    needs.a_program("gcore")
    (pid,) = [each["pid"] for each in json.loads(beside(*RUNNING["list json"]).stdout)["handles"]]
    subprocess.run(["gcore", "-o", str(tmp_path / "core"), str(pid)], capture_output=True, check=True)
    done = beside("stack", tmp_path / f"core.{pid}", "--locals")
    assert "text = " in done.stdout
    is_safe(done.stdout + done.stderr)


COMPLETIONS = ["pyharness attach host", "pyharness stack ", "pyharness step n", "pyharness session run i"]


@pytest.mark.parametrize("typed", COMPLETIONS)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_a_shell_offers(beside, shell, typed):
    words = {
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
        "_PYHARNESS_COMPLETE": f"{shell}_complete",
    }
    done = beside(env={**beside.environment, **words})
    assert done.returncode == 0, done.stderr
    assert OBEYED.search(done.stdout + done.stderr) is None


@pytest.mark.rotated
@pytest.mark.parametrize("words", [STEP, ("fx", "show", "SCRIPT"), ("step", f"no{EVIL}.py", "--at", "fx:x")])
def test_on_a_terminal_there_are_our_colours_and_nothing_else(environment, folder, words):
    quoted = " ".join(f"'{folder / f'net{EVIL}.py' if word == 'SCRIPT' else word}'" for word in words)
    typed = f"{sys.executable} -m pyharness {quoted}"
    env = {**environment, "TERM": "xterm-256color"}
    command = ["script", "-qec", typed, "/dev/null"]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    shown = done.stdout.decode()
    assert "\x1b[1;36m" in shown or "\x1b[31m" in shown
    is_safe(OURS.sub("", shown))

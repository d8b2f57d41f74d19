"""Every command of README and docs is run, and prints what the page shows; every block of code is right."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pages import Block, Command, blocks, commands
from shown import missing

from kit.paths import ROOT
from pyharness.host.exit_status import of_program
from pyharness.session.document import Document
from pyharness.session.parse import plan_of

HERE = Path(__file__).parent
NOT_RUN = {
    r"make [a-z]": "a task of CI, or of whoever works on pyharness itself",
    r"(python3? -m )?pip install\b": "tests/build installs wheels",
    r"(docker|podman|buildah)\b": "needs a daemon; tests/docker lints and builds what it can",
    r"(sudo )?(apt-get|sysctl)\b": "changes the machine",
    r"git clone\b": "needs the network",
    r"TRITON_INTERPRET=": "needs triton, which tests/cli/test_step_triton.py runs where it is",
    r"(code|nvim|vim)\b": "an editor",
}
"""Commands that begin so, and why they are not for a test."""
_EXAMPLES = "tests/fx/test_transforms_examples.py::test_an_example_says_what_it_should"
_SESSIONS = "tests/cli/test_step_native.py::test_the_example_sessions_hold"
ELSEWHERE = {
    "python examples/fx/provenance.py": _EXAMPLES,
    "python examples/fx/inlining.py": _EXAMPLES,
    "python examples/fx/rewrite_pattern.py": _EXAMPLES,
    "pyharness fx bisect examples/fx/bad_pass.py:Net examples/fx/bad_pass.py:PASSES -o bad": _EXAMPLES,
    "pyharness fx determinism passes.py:scale_all net.py:Net": "tests/fx/test_determinism.py::test_the_command_line",
    "pyharness fx show examples/resnet18.py -- --steps 1": (
        "tests/cli/test_fx_show.py::test_one_graph_is_exactly_the_object_of_its_nodes"
    ),
    "pyharness fx compiled examples/compiled.py": (
        "tests/cli/test_fx_compiled.py::test_the_json_has_graphs_breaks_guards_and_recompilations"
    ),
    (
        "pyharness step examples/compiled.py --at fx:blocks.1 --into-native --at fx:rms_norm_backward --into-native "
        "--stack --out"
    ): _SESSIONS,
    "pyharness session run examples/sessions/transformer.toml": _SESSIONS,
    "pyharness step examples/gradient_penalty.py --at native:RmsNorm::backward --stack --full": (
        "tests/session/test_session_call_chain.py::"
        "test_each_frame_from_the_backward_to_the_call_of_grad_is_there_and_named"
    ),
    "pyharness step train.py --at native:rms_norm_backward_cpu --stack --json": (
        "tests/cli/test_step_native.py::test_from_a_generated_line_into_cpp_and_out_on_the_next_line"
    ),
    "pyharness run --nan normalized.py": "tests/cli/test_run_nan.py::test_a_bad_value_ends_it_and_is_reported",
    "pyharness trace train.py --html trace.html -- --epochs 1": (
        "tests/cli/test_trace_command.py::test_the_tables_say_what_took_the_time"
    ),
    "pyharness run --nan logarithm.py": (
        "tests/cli/test_run_nan.py::test_of_compiled_code_the_node_the_module_and_the_users_line_are_told"
    ),
    "pyharness doctor --extension my_ops._C --json": "tests/doctor/test_doctor_command.py::test_json",
    "pyharness doctor": "tests/doctor/test_doctor_command.py::test_text_and_no_problem",
    "gdb -batch -x scripts/step_into_kernel.gdb": "tests/scripts/test_scripts.py::test_a_script_runs_as_it_is",
    "PYHARNESS_AT=native:rms_norm_backward_cpu gdb -batch -x scripts/backward.gdb --args python train.py": (
        "tests/scripts/test_scripts.py::test_a_script_runs_on_another_program_and_place"
    ),
}
"""Commands that another test runs in this form, or on a program of its own: run here where EVERY is set."""
EVERY = "PYHARNESS_EVERY_COMMAND"
PID = re.compile(r"(?<![\w.-])4242\b")
"""The process id of the pages; the program of that id has the handle train-4242."""
PATIENCE = 170


def why_not(command: Command) -> str:
    """Why it is not run here."""
    known = next((reason for begin, reason in NOT_RUN.items() if re.match(begin, command.text)), "")
    elsewhere = {} if os.environ.get(EVERY) else ELSEWHERE
    return command.block.not_run or known or elsewhere.get(plain(command), "")


def plain(command: Command) -> str:
    """Without the page's remark behind it."""
    return command.text.partition("  #")[0].strip()


class Scratch:
    """A folder as a reader has it who tries the pages: examples and scripts, and a project of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(HERE / "project", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("examples", "scripts", "tests", "csrc"):
            (folder / name).symlink_to(ROOT / name)
        built = importlib.util.find_spec("pyharness._C").origin  # an extension module, whoever's it is
        (folder / "my_ops").mkdir()
        (folder / "my_ops" / Path(built).name).symlink_to(Path(built).resolve())
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        home = {"HOME": str(folder / "home"), "PYHARNESS_HOME": str(folder / "home/state"), "TERM": "dumb"}
        self.environment = {**os.environ, **home, "PATH": path}
        self._done: dict[Command, subprocess.CompletedProcess[str]] = {}
        self._program: subprocess.Popen[str] | None = None

    def run(self, command: Command) -> subprocess.CompletedProcess[str]:
        """Run it, or what it printed when another page had it."""
        key = (command.text, command.typed)
        if key not in self._done:
            text = command.text
            if PID.search(text) or "train-4242" in text or re.match(r"pyharness (attach|stack) train", text):
                text = PID.sub(str(self.program().pid), text)
            self._done[key] = self.call(["bash", "-c", text], input=command.input)
        return self._done[key]

    def call(self, words: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        """Run words here, their output and errors as one text."""
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
            **options,
        )

    def program(self) -> subprocess.Popen[str]:
        """The program that runs already, under the handle train-4242."""
        if self._program is None:
            words = ["pyharness", "run", "--name", "train-4242", "train.py", "--epochs", "0"]
            self._program = subprocess.Popen(
                words,
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            while self._program.stdout.readline() != "training\n":
                assert self._program.poll() is None
        return self._program

    def close(self) -> None:
        """End the program that runs already."""
        if self._program:
            self._program.send_signal(signal.SIGTERM)
            self._program.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    scratch = Scratch(tmp_path_factory.mktemp("reader"))
    yield scratch
    scratch.close()


@pytest.mark.slow
@pytest.mark.rotated(turns=15)
@pytest.mark.parametrize("command", [each for each in commands() if not why_not(each)], ids=str)
def test_a_command_does_what_its_page_shows(scratch, command):
    done = scratch.run(command)
    status = of_program(done.returncode)  # a shell becomes the last command, and dies of its signal
    told = f"{command}: $ {command.text}\nexit status {status}\n{done.stdout}"
    problems = {1} if command.text.startswith("pyharness doctor") else set()  # it may find some where tests run
    assert status in {command.block.status, *problems}, told
    absent = missing(command.shown, done.stdout)
    assert not absent, f"The page shows a line that was not printed, or not there:\n{absent}\n{told}"


def test_what_is_not_run_says_why():
    left_out = [(command, why_not(command)) for command in commands() if why_not(command)]
    assert all(len(reason) > 4 for _, reason in left_out)
    assert len(left_out) < len(commands()), "some are run"
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        functions = [
            node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.FunctionDef)
        ]
        assert name in functions, test
    assert set(ELSEWHERE) <= set(map(plain, commands())), "a command that is on no page any more"


@pytest.mark.rotated_tests(turns=9, number=1)
def test_python_blocks_run(scratch, tmp_path):
    """Those of a page one after the other, with what its sentences give for granted (``given_names.py``)."""
    scratch.program()
    told = [[str(block), block.text] for block in blocks("python") if not block.not_run]
    (tmp_path / "blocks.json").write_text(json.dumps(told))
    done = scratch.call([sys.executable, str(HERE / "python_blocks.py"), str(tmp_path / "blocks.json")])
    assert done.returncode == 0, done.stdout
    assert f"{len(told)} blocks" in done.stdout


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_sessions_parse(scratch, block):
    if "[[step]]" not in block.text:
        Document(block.text, str(block))
        return
    file = scratch.folder / "sessions" / "page.toml"
    file.write_text(block.text)
    assert plan_of(str(file)).steps


CONFIGURATIONS = [
    (block, entry)
    for block in blocks("json", "jsonc")
    if '"type": "pyharness"' in block.text and not block.not_run
    for entry in [json.loads(re.sub(r"^\s*//.*$", "", block.text, flags=re.MULTILINE))]
]


@pytest.mark.parametrize(("block", "entry"), CONFIGURATIONS, ids=str)
def test_launch_configurations_have_attributes_that_exist(block: Block, entry: dict):
    debugger = json.loads((ROOT / "vscode/package.json").read_text())["contributes"]["debuggers"][0]
    known = debugger["configurationAttributes"][entry["request"]]
    names = {"type", "request", "name", "preLaunchTask", "postDebugTask", "presentation"} | set(known["properties"])
    assert set(entry) <= names, f"{block}: {sorted(set(entry) - names)} are no attributes"

"""``pyharness fx show``: every graph of a real program, and where each node came from."""

import json
import os
import re
import subprocess
import sys

import pytest

from kit.command import PYHARNESS
from kit.marks import line_of
from kit.paths import ROOT
from pyharness import cli
from pyharness.cli.fx import VERBS

pytestmark = pytest.mark.rotated_tests(turns=6)


PROGRAM = ROOT / "tests" / "programs" / "fx_graphs.py"
KEYS = ["name", "op", "target", "module", "line", "origin"]


def mark(name):
    return f"{PROGRAM}:{line_of(name, PROGRAM)}"


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """One run in which torch.fx, torch.export and torch.compile make graphs."""
    state = tmp_path_factory.mktemp("show")
    words = ["fx", "show", PROGRAM, "--json", "--", "--compile", "more"]
    done = subprocess.run(
        [*PYHARNESS, *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYHARNESS_HOME": str(state)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "arguments --compile more" in done.stderr
    return json.loads(done.stdout)["graphs"]


def test_help_teaches_and_imports_no_torch(environment):
    code = (
        "import sys; from pyharness import cli; cli.execute(['fx', '--help']);"
        "print([name for name in ('torch', 'rich', 'pyharness.debugger') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert all(verb in done.stdout for verb in VERBS)
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help(verb, capsys):
    assert cli.execute(["fx", verb, "--help"]) == 0
    assert f"Usage: pyharness fx {verb}" in capsys.readouterr().out


def test_one_graph_is_exactly_the_object_of_its_nodes(pyharness):
    done = pyharness("fx", "show", ROOT / "examples" / "resnet18.py", "--json", "--", "--steps", "0")
    shown = json.loads(done.stdout)
    assert list(shown) == ["nodes"]
    assert all(list(node) == KEYS for node in shown["nodes"])
    nodes = {node["name"]: node for node in shown["nodes"]}
    assert nodes["images"]["module"] == ""
    assert nodes["mean"]["module"] == ""
    assert nodes["output"]["module"] is None
    for node in shown["nodes"]:
        if node["op"] == "call_module":
            assert node["module"] == node["target"]
    # The script traced with plain torch.fx: functions belong to the block whose forward called them.
    for count in range(8):
        path = f"layer{count // 2 + 1}.{count % 2}"
        names = [f"relu_{2 * count}" if count else "relu", f"relu_{2 * count + 1}", f"add_{count}" if count else "add"]
        assert [nodes[name]["module"] for name in names] == [path] * 3
    assert all(re.fullmatch(r".*/examples/resnet18\.py:\d+", node["origin"]) for node in shown["nodes"])
    assert len(nodes) == 75


def test_every_maker_is_named_and_torchs_own_graphs_are_left_out(everything):
    assert [(graph["name"], graph["maker"], graph["version"]) for graph in everything] == [
        ("Net", "torch.fx", 2),
        ("GraphModule", "torch.fx", 1),
        ("GraphModule-2", "torch.export", 1),
        ("GraphModule-3", "torch.compile", 1),
        ("GraphModule-4", "AOT forward", everything[4]["version"]),
        ("GraphModule-5", "AOT backward", everything[5]["version"]),
        ("Linear.forward 1/0 captured", "torch.compile", 2),
        ("Linear.forward 1/0 forward", "AOT forward", everything[7]["version"]),
        ("Linear.forward 1/0 backward", "AOT backward", everything[8]["version"]),
    ]


def test_modules_are_known_whoever_traced(everything):
    """Each graph has the relu of both scales; a transform and torch's compilers keep them apart."""
    for graph in everything[:5]:
        made = {node["module"] for node in graph["nodes"] if re.search(r"(relu|tanh)", node["target"])}
        assert made == {"scales.0", "scales.1"}, graph["name"]
        origins = {
            node["origin"] for node in graph["nodes"] if node["module"] == "scales.0" and "relu" in node["target"]
        }
        assert origins == {mark("scale")}, graph["name"]
    backward = {node["module"] for node in everything[5]["nodes"] if "threshold_backward" in node["target"]}
    assert backward == {"scales.0", "scales.1"}


@pytest.mark.usefixtures("kept")
def test_a_version_before_and_a_table(capsys):
    assert cli.execute(["fx", "show", str(PROGRAM), "--graph", "Net@1"]) == 0
    head, columns, *rows = capsys.readouterr().out.split("\n")
    assert head == "1 Net: torch.fx, 10 nodes, version 1 of 2"
    assert columns.split() == ["node", "op", "target", "module", "shape", "line", "origin"]
    text = "\n".join(rows)
    assert re.search(r"relu_1 +call_function +torch\.relu +scales\.1 +float32\[2, 3\] +\d+ +\S*fx_graphs\.py:\d+", text)
    assert re.search(r"x +placeholder +x +\(root\) ", text)
    assert re.search(r"first +call_module +first \(Linear\) +first ", text)
    assert re.search(r"output +output +output +\{y: float32\[2, 3\], sum: float32\[\]\}", text)


@pytest.mark.parametrize(
    ("which", "message"),
    [("Nett", "Did you mean Net"), ("9", "There is no graph '9'"), ("Net@3", "Net has no version 3")],
)
@pytest.mark.usefixtures("kept")
def test_what_is_not_there_is_said_with_what_is(which, message, capsys):
    assert cli.execute(["fx", "show", str(PROGRAM), "--graph", which]) == 1
    assert message in capsys.readouterr().err


def test_a_program_that_fails_shows_what_it_made_and_says_so(pyharness):
    done = pyharness("fx", "show", PROGRAM, "--list", "--", "--fail")
    assert done.returncode == 1
    assert "1 Net: torch.fx" in done.stdout
    assert "ValueError: mine\n" in done.stderr
    assert "ended with exit status 1: what it made until then is shown." in done.stderr
    assert "/pyharness/debuggee/" not in done.stderr


def test_a_class_whose_name_has_two_lines(pyharness, tmp_path):
    path = tmp_path / "named.py"
    path.write_text(
        "import torch\n"
        "named = type('two\\nlines', (torch.nn.Module,), {'forward': lambda self, x: x + 1})\n"
        "torch.fx.symbolic_trace(named())\n"
    )
    shown = pyharness("fx", "show", path, "--list").stdout
    assert "two\\nlines" in shown
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("print('nothing')", 1, "made no GraphModule."),
        ("raise SystemExit(4)", 4, "made no GraphModule. It ended with exit status 4."),
        ("import os; os._exit(5)", 5, "left no graphs: exit status 5"),
        ("import os; os.kill(os.getpid(), 9)", 137, "left no graphs: signal 9 killed it"),
    ],
)
def test_a_program_without_graphs(pyharness, tmp_path, text, status, message):
    path = tmp_path / "none.py"
    path.write_text(text)
    done = pyharness("fx", "show", path)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Which script?"),
        (("missing.py",), "There is no script 'missing.py'."),
        (("--python", "pythoon", str(PROGRAM)), "There is no Python interpreter 'pythoon'."),
    ],
)
def test_what_cannot_be_meant(words, message, capsys):
    assert cli.execute(["fx", "show", *words]) == 2
    assert message in capsys.readouterr().err

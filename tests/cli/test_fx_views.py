"""Code, drawing, differences, pages and packages of a program's graphs, as the command line shows them."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from kit.paths import ROOT
from pyharness import cli

pytestmark = pytest.mark.rotated_tests(turns=3)


PROGRAM = str(ROOT / "tests" / "programs" / "fx_graphs.py")


@pytest.fixture
def shown(kept, capsys):
    """Run a verb on the graphs of the program; its output."""
    del kept

    def run(*words):
        assert cli.execute(["fx", words[0], PROGRAM, *map(str, words[1:])]) == 0
        return capsys.readouterr().out

    return run


def test_code_stands_beside_modules_and_the_users_lines(shown):
    text = shown("code", "--graph", "Net@1")
    assert re.search(
        r"relu = torch\.relu\(first\) +scales\.0 +\S*fx_graphs\.py:\d+ +return torch\.relu\(x\) \* self", text
    )
    assert re.search(r"mul = relu \* scales_0_weight\n", text)  # the same module and line as before: said once
    assert "= None" not in text
    lines = json.loads(shown("code", "--graph", "Net@1", "--json"))["graphs"][0]["lines"]
    relu = next(line for line in lines if line["node"] == "relu")
    assert relu["module"] == "scales.0"
    assert relu["source"].startswith("return torch.relu(x)")


def test_values_run_on_rails(shown):
    lines = shown("graph", "--graph", "Net@1").split("\n")[1:]
    rails = [re.match(r"[^\w]*", line)[0].rstrip() for line in lines if line]
    assert rails == ["●", "●", "●", "│ ●", "●─╯", "●", "│ ●", "●─╯", "├─●", "●─╯"]
    assert re.search(r"^● +first = Linear\(x\) +float32\[2, 3\] +first$", lines[1])
    nodes = json.loads(shown("graph", "--graph", "Net@1", "--json"))["graphs"][0]["nodes"]
    assert nodes[-1]["inputs"] == ["mul_1", "sum_1"]


def test_a_recompiled_graph_is_compared_with_what_it_was(shown):
    text = shown("diff")
    assert text.startswith("Net@1 ")
    assert re.search(r"relu_1 = torch\.relu\(mul\) +~ +relu_1 = torch\.tanh\(mul\)", text)
    assert re.search(r"mul_1 = relu_1 \* scales_1_weight +~ +mul_1 = scales_1_weight \* relu_1", text)
    assert text.rstrip().endswith("2 changed, 8 the same.")
    assert "\x1b" not in text
    found = json.loads(shown("diff", "--json"))
    assert (found["before"], found["after"], found["same"]) == ("Net@1", "Net@2", False)
    assert [row["parts"] for row in found["rows"] if row["change"] == "changed"] == [["target"], ["arguments"]]


def test_a_transform_that_renames_changes_nothing(shown):
    found = json.loads(shown("diff", "--before", "Net", "--after", "GraphModule", "--json"))
    assert found["same"]
    assert found["counts"] == {"same": 9, "renamed": 1}


def test_which_two_must_be_known(kept, capsys):
    del kept
    assert cli.execute(["fx", "diff", PROGRAM, "--before", "Net@1", "--after", "Nat"]) == 1
    assert "Did you mean Net" in capsys.readouterr().err


def test_a_terminal_sees_colours(environment):
    script = "import sys; from pyharness.cli.kit import output; from pyharness.model.text.styled_line import Line;"
    script += "output.write_lines([Line('a', 'good')])"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-c", script], {**environment, "TERM": "xterm"})  # noqa: S606
    assert b"\x1b[32ma" in os.read(terminal, 4096)
    os.close(terminal)
    os.waitpid(pid, 0)


def test_a_page_is_written_and_named(shown, tmp_path):
    file = tmp_path / "graphs.html"
    assert f"{file}: " in shown("draw", "-o", file)
    assert "Net@2" in file.read_text()
    said = json.loads(shown("draw", "-o", file, "--graph", "Net@1", "--json"))
    assert said == {"file": str(file), "graphs": ["Net@1"]}


def test_a_page_that_cannot_be_written_is_said_before_the_program_runs(kept, capsys, tmp_path):
    del kept
    assert cli.execute(["fx", "draw", PROGRAM, "-o", str(tmp_path / "no" / "page.html")]) == 2
    assert "There is no folder" in capsys.readouterr().err
    assert cli.execute(["fx", "draw", PROGRAM, "-o", PROGRAM]) == 2
    assert "would overwrite the program" in capsys.readouterr().err


def test_a_graph_becomes_a_package(pyharness, tmp_path):
    done = pyharness("fx", "export", PROGRAM, "--graph", "Net", "-o", "mine")
    assert done.returncode == 0, done.stderr
    assert "mine: from mine import load  # makes a Net" in done.stdout
    code = "import mine, sys, torch; print(list(mine.load()(torch.ones(2, 3))), 'pyharness' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "['y', 'sum'] False\n", ran.stderr


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "mine", "--graph", "Net@1"], "Leave @VERSION away"),
        ([], "--output is missing"),
        (["-o", "a.b"], "Call the folder 'a_b'."),
        (["-o", "class"], "'class' cannot be imported."),
        (["-o", "theirs"], "'theirs' is there already."),
        (["-o", "theirs", "--overwrite"], "'theirs' holds 'mine.txt', which export did not write."),
    ],
)
def test_an_export_that_cannot_be_meant(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "mine.txt").touch()
    assert cli.execute(["fx", "export", PROGRAM, *words]) == 2
    assert message in capsys.readouterr().err.replace(f"{tmp_path}/", "")

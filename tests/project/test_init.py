"""``pyharness init`` on projects that are not ours: what it writes, keeps, and says where it cannot."""

import json
import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
from project_files import FILES, OP, write

from kit.command import PYHARNESS
from pyharness.model.text import jsonc

OWN = {"debugging/build.sh", "debugging/call_shear.py", "debugging/shear.toml", "debugging/shear.gdb"}
VSCODE = {".vscode/launch.json", ".vscode/tasks.json"}
LAUNCH = '{\n  // mine\n  "configurations": [{"name": "mine", "type": "debugpy"},], // all of them\n}\n'


def contents(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", FILES)
def test_it_adds_its_files_and_run_again_changes_nothing(project, typed, kind):
    root = project(kind)
    before = contents(root)
    result = typed("init", root)
    assert result.returncode == 0, result.stderr
    assert f": {kind} (" in result.stdout
    assert "stops in shears::shear_cpu" in result.stdout
    assert result.stdout.rstrip().endswith("--at native:shears::shear_cpu --stack --kill")
    after = contents(root)
    assert set(after) - set(before) == OWN | VSCODE
    assert {name: after[name] for name in before} == before
    assert not (root / "setup_was_run").exists()
    again = typed("init", root)
    assert again.returncode == 0
    assert contents(root) == after
    assert "written" not in again.stdout
    assert subprocess.run(["sh", "-n", root / "debugging/build.sh"], check=False).returncode == 0
    assert str(root.parent) not in "".join(after[name].decode() for name in OWN | VSCODE), "it can be committed"
    assert typed("session", "check", root / "debugging/shear.toml").returncode == 0


def test_a_dry_run_shows_a_patch_and_writes_nothing(project, typed, tmp_path):
    root = write(project("setuptools"), {".vscode/launch.json": LAUNCH})
    before = contents(root)
    shown = typed("init", root, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert contents(root) == before
    made = write(tmp_path / "patched", {name: text.decode() for name, text in before.items()})
    subprocess.run(["git", "apply", "-"], cwd=made, input=shown.stdout, text=True, check=True)
    assert typed("init", root).returncode == 0
    assert contents(made) == contents(root)
    assert typed("init", root, "--dry-run").stdout == "Nothing would change.\n"


def test_what_is_theirs_stays(project, typed):
    """Comments, formatting and entries of theirs, a file of theirs by a name of ours, permissions and links."""
    root = write(
        project("setuptools"),
        {
            "settings/launch.json": LAUNCH,
            ".vscode/tasks.json": '{"tasks": [{"label": "pyharness: debug build", "command": "mine"}]}',
            "debugging/call_shear.py": "print('mine')\n",
        },
    )
    (root / ".vscode/launch.json").symlink_to("../settings/launch.json")
    (root / "settings/launch.json").chmod(0o600)
    tasks = (root / ".vscode/tasks.json").read_text()
    result = typed("init", root)
    assert result.returncode == 0, result.stderr
    assert (root / "debugging/call_shear.py").read_text() == "print('mine')\n"
    assert "Kept as they are, though init would write them otherwise: debugging/call_shear.py" in result.stdout
    assert (root / ".vscode/tasks.json").read_text() == tasks, "a task of that name is theirs"
    launch = (root / "settings/launch.json").read_text()
    assert launch.startswith('{\n  // mine\n  "configurations": [{"name": "mine", "type": "debugpy"},')
    assert launch.endswith("], // all of them\n}\n")
    assert (root / ".vscode/launch.json").is_symlink()
    assert stat.S_IMODE((root / "settings/launch.json").stat().st_mode) == 0o600
    assert typed("init", root, "--overwrite").returncode == 0
    assert "torch.ops.shears.shear" in (root / "debugging/call_shear.py").read_text()


@pytest.mark.parametrize("link", [".vscode", ".vscode/launch.json", "debugging", "debugging/build.sh"])
def test_no_link_leads_out_of_the_project(project, typed, tmp_path, link):
    """A repository that somebody cloned decides over no file of theirs elsewhere."""
    root = project("setuptools")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "launch.json").write_text(LAUNCH)
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(theirs / Path(link).name if "/" in link else theirs)
    before, outside = contents(root), contents(theirs)
    result = typed("init", root, "--overwrite")
    assert result.returncode != 0
    assert "outside of the project: a link leads to" in result.stderr
    assert str(theirs) in result.stderr
    assert (contents(root), contents(theirs)) == (before, outside), "nothing at all was written"


def test_links_in_a_circle(project, typed):
    root = project("setuptools")
    (root / "debugging").symlink_to("debugging")
    result = typed("init", root)
    assert (result.returncode, result.stderr.count("\n")) == (1, 2), result.stderr
    assert "Too many levels of symbolic links" in result.stderr


def test_as_json(project, typed, monkeypatch):
    root = project("cmake")
    shown = json.loads(typed("init", root, "--json", "--dry-run").stdout)
    assert (shown["project"]["kind"], shown["dry_run"]) == ("cmake", True)
    assert shown["op"]["name"] == "shears::shear"
    assert (shown["op"]["file"], shown["op"]["place"]) == ("csrc/shear.cpp", "native:shears::shear_cpu")
    assert {one["file"] for one in shown["files"] if one["state"] == "written"} == OWN | VSCODE
    assert any(line.startswith("+++ b/debugging/build.sh") for line in shown["diff"])
    written = json.loads(typed("init", root, "--json", "--no-vscode").stdout)
    assert {one["file"] for one in written["files"]} == OWN
    assert written["next"][0] == f"cd {root}"
    assert written["next"][1].endswith("sh debugging/build.sh")
    monkeypatch.chdir(root)
    there = json.loads(typed("init", "--json", "--dry-run").stdout)
    assert there["next"] == written["next"][1:]
    error = typed("init", root / "nowhere", "--json")
    assert (error.returncode, "message" in json.loads(error.stdout)["error"]) == (2, True)


def test_launch_configurations_run_the_debug_build(project, typed):
    root = project("setuptools")
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/python").symlink_to("/bin/false")
    assert typed("init", root, "--stock").returncode == 0
    launch = jsonc.loads((root / ".vscode/launch.json").read_text())
    ours = [one for one in launch["configurations"] if one["type"] == "pyharness"]
    assert [one["name"] for one in ours] == ["pyharness: shear", "pyharness: this file, debug build"]
    assert {one["env"]["PYTHONPATH"] for one in ours} == {"${workspaceFolder}/build/pyharness-debug/lib"}
    (task,) = jsonc.loads((root / ".vscode/tasks.json").read_text())["tasks"]
    assert {one["preLaunchTask"] for one in [*ours, *launch["compounds"]]} == {task["label"]}
    assert task["options"]["env"] == {"PYHARNESS_PYTHON": "${workspaceFolder}/.venv/bin/python"}
    assert {one["type"] for one in launch["configurations"]} == {"pyharness", "debugpy", "cppdbg"}
    assert [one["id"] for one in launch["inputs"]] == ["program", "rank", "core"]


def test_an_op_by_name_and_none_at_all(project, typed):
    root = write(project("cmake"), {"csrc/other.cpp": OP.replace("shear", "tilt"), "csrc/none.cpp": ""})
    named = json.loads(typed("init", root, "--op", "tilts::tilt", "--json", "--dry-run").stdout)
    assert named["op"]["function"] == "tilts::tilt_cpu"
    wrong = typed("init", root, "--op", "sheer")
    assert (wrong.returncode, wrong.stderr.count("Did you mean shear")) == (2, 1), wrong.stderr
    (root / "csrc/other.cpp").unlink()
    (root / "csrc/shear.cpp").write_text("int f() { return 1; }")
    none = typed("init", root)
    assert none.returncode == 0
    assert "No op was found" in none.stdout
    assert "--at native:FUNCTION" in none.stdout
    assert not (root / "debugging/shear.toml").exists()


def test_code_inside_of_python(typed, tmp_path):
    """As torch writes it: the line of a stop is one further down than in the string."""
    text = """from torch.utils.cpp_extension import load_inline
SOURCE = "at::Tensor tilt(at::Tensor x) {\\n  return x;\\n}"
tilts = load_inline("tilts", [SOURCE], functions=["tilt"])
"""
    root = write(tmp_path / "inline", {"tilts.py": text})
    shown = json.loads(typed("init", root, "--json").stdout)
    assert (shown["op"]["function"], shown["op"]["file"], shown["op"]["line"]) == ("tilt", "main.cpp", 3)
    script = (root / "debugging/call_tilt.py").read_text()
    assert "from tilts import tilts as extension" in script
    assert 'if __name__ == "__main__":\n    x = torch.rand(4, 4)\n    print(extension.tilt(x))' in script


@pytest.mark.parametrize(
    ("files", "message", "remedy", "status"),
    [
        ({"a.txt": ""}, "is not a project that builds a PyTorch extension", "CppExtension", 2),
        ({"setup.py": FILES["setuptools"]["setup.py"]}, "has no C++ sources", "They end in .cpp", 2),
        ({**FILES["cmake"], ".vscode/launch.json": '{"configurations": [}'}, "line 1, column 21", "--no-vscode", 2),
        ({**FILES["cmake"], ".vscode/tasks.json": '{"tasks": 1}'}, "'tasks' is not a list", "Mend it", 2),
        ({**FILES["cmake"], ".vscode": "a file"}, ".vscode", "", 1),
        ({**FILES["cmake"], "debugging": "a file"}, "debugging", "", 1),
        ({**FILES["cmake"], "debugging/build.sh/x": ""}, "build.sh cannot be read", "Mend it or move it", 1),
        ({**FILES["cmake"], "pyproject.toml": "["}, "pyproject.toml cannot be read", "Mend it", 1),
    ],
)
def test_what_cannot_be_done_is_one_error_and_changes_nothing(typed, tmp_path, files, message, remedy, status):
    root = write(tmp_path / "broken", files)
    before = contents(root)
    result = typed("init", root)
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr.startswith("pyharness: ")
    assert message in result.stderr
    assert remedy in result.stderr
    assert "Traceback" not in result.stderr
    assert contents(root) == before


@pytest.mark.parametrize(("mode", "message"), [(0o555, "is read-only"), (0o000, "cannot be read")])
def test_a_folder_that_is_not_for_everybody(pyharness, mode, message):
    """Without its powers, where the tests run as root, who may do everything."""
    words = [*PYHARNESS]
    if os.geteuid() == 0:
        words = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *words]
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder), FILES["cmake"])
        root.chmod(mode)
        result = pyharness("init", root, command=words, cwd="/")
        root.chmod(0o755)
        assert set(contents(root)) == set(FILES["cmake"])
    assert (result.returncode, message in result.stderr) == (1, True), result.stderr


def test_what_an_agent_needs_is_added_and_other_servers_stay(project, typed):
    root = project("setuptools")
    (root / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "x"}}}')
    assert typed("init", root, "--agent", "--no-vscode").returncode == 0
    servers = json.loads((root / ".mcp.json").read_text())["mcpServers"]
    assert servers["theirs"] == {"command": "x"}
    assert servers["pyharness"]["args"][-1] == "mcp"
    skill = (root / ".claude/skills/pyharness/SKILL.md").read_text()
    assert skill.startswith("---\nname: pyharness\n")
    assert len(skill.splitlines()) <= 50, "it is one page"
    before = contents(root)
    assert typed("init", root, "--agent", "--no-vscode").returncode == 0
    assert contents(root) == before
    (root / ".mcp.json").write_text("{")
    result = typed("init", root, "--agent")
    assert result.returncode == 1
    assert ".mcp.json is no JSON" in result.stderr

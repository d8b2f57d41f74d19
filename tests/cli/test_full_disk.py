"""A disk that takes no more: one message, and no half of a file; a limit on a file's size fails as a full disk does."""

import resource
import subprocess
import sys

import pytest

from kit.command import PYHARNESS
from pyharness.host.whole_file import write_output, write_whole

MODEL = """
import torch

class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(100, 100)
    def forward(self, x):
        return self.layer(x).relu()

model = torch.fx.symbolic_trace(Small())
model(torch.ones(2, 100))
"""

WRITES = """
import sys
from pathlib import Path
from pyharness.host.whole_file import write_output
write_output(Path(sys.argv[1]), bytes(1000))
"""


def limited(size):
    """To be called in the child: files of more than ``size`` bytes cannot be written."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture
def on_a_small_disk(environment, tmp_path):
    (tmp_path / "small.py").write_text(MODEL)

    def run(*words):
        return subprocess.run(
            [*PYHARNESS, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limited(20_000),
        )

    return run


@pytest.mark.rotated
@pytest.mark.parametrize(("verb", "written"), [("draw", "drawn.html"), ("export", "small_package")])
def test_no_half_of_a_file_stays(on_a_small_disk, tmp_path, verb, written):
    done = on_a_small_disk("fx", verb, "small.py", "-o", written)
    assert done.returncode == 1, done.stderr
    assert f"{written} cannot be written: File too large." in done.stderr
    assert "Traceback" not in done.stderr
    assert {each.name for each in tmp_path.iterdir()} <= {"small.py", "state", "__pycache__"}


def test_what_was_there_stays_where_the_new_one_finds_no_room(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", WRITES, file], preexec_fn=limited(100), capture_output=True, text=True, check=False
    )
    assert "File too large" in done.stderr
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_links_devices_and_permissions(tmp_path):
    file, link = tmp_path / "deep.html", tmp_path / "link.html"
    write_whole(file, b"1", 0o600)
    link.symlink_to(file)
    write_output(link, b"2")
    assert (link.is_symlink(), file.read_bytes(), file.stat().st_mode & 0o777) == (True, b"2", 0o600)
    with open("/dev/null", "rb") as null:  # noqa: PTH123
        write_output(tmp_path / f"/proc/self/fd/{null.fileno()}", b"3")
    assert {each.name for each in tmp_path.iterdir()} == {"deep.html", "link.html"}


def test_a_pipe_without_a_name():
    done = subprocess.run(
        [sys.executable, "-c", WRITES, "/dev/stdout"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    )
    assert done.stdout

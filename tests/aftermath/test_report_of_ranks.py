"""A rank ends: what all ranks were at is written down before the launcher ends them, and the culprit is named."""

import json
import re
import socket
import subprocess
import sys

import pytest

from kit.command import PYHARNESS
from kit.marks import line_of
from kit.paths import PROGRAMS
from pyharness.model.ranks.job import job_from_json

SCRIPT = PROGRAMS / "ranks" / "one_ends.py"
ENDS = {
    "segfault": ("crash", r"It has crashed: SIGSEGV \(Segmentation fault\) at 0x0: a null pointer, in segfault \("),
    "raises": ("exception", r"It has raised RuntimeError: no batch, in raises \("),
}


@pytest.mark.rotated_tests(turns=3, number=1)
@pytest.mark.rotated
@pytest.mark.parametrize("way", ENDS)
def test_all_ranks_at_the_end_of_one(way, tmp_path, monkeypatch):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "3", "--no-python"]
    program = [*PYHARNESS, "run", "--report", str(tmp_path / "out"), str(SCRIPT), way]
    ended = subprocess.run([*launcher, *program], capture_output=True, text=True, check=False, timeout=150)
    assert ended.returncode == 1
    kind, said = ENDS[way]
    (file,) = (tmp_path / "out").glob("ranks-*.json")
    assert file.name.startswith(f"ranks-{kind}-{socket.gethostname()}-")
    data = json.loads(file.read_text())
    verdict, job = data["verdict"], job_from_json(data)
    assert (verdict["kind"], verdict["culprits"], verdict["waiting"]) == ("absent", [1], [0, 2])
    assert re.search(said, verdict["sentence"])
    waiting = job.ranks[0].threads[0].frames
    assert any((frame.file, frame.line) == (str(SCRIPT), line_of("together", SCRIPT)) for frame in waiting)
    assert not job.ranks[1].workers, "who writes the report is none of the job"
    assert len(list((tmp_path / "out").glob(f"{kind}-rank1-one_ends.py-*.txt"))) == 1
    assert f"all ranks: {file.with_suffix('.txt')}" in ended.stderr
    assert "<!DOCTYPE html>" in file.with_suffix(".html").read_text()

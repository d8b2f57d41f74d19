"""What CI says of tests that had to be run again."""

import json
import subprocess
import sys

import pytest

from kit.paths import ROOT

SCRIPT = ROOT / "scripts" / "run_again.py"
CROWD = "def test_steady():\n    pass\n\n\ndef test_shaky():\n    assert False\n"
SHAKY = "test_crowd.py::test_shaky"


@pytest.fixture
def said(tmp_path):
    """What it says after a run of tests, beside what it remembers."""

    def after(remembered):
        command = [sys.executable, SCRIPT, remembered, tmp_path / "record.json"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return after


def test_what_failed_in_a_run_of_pytest_is_counted(said, tmp_path):
    (tmp_path / "test_crowd.py").write_text(CROWD)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-o", f"cache_dir={tmp_path / 'cache'}"]
    subprocess.run([*command, "test_crowd.py"], cwd=tmp_path, capture_output=True, check=False)
    text = said(tmp_path / "cache/v/cache/lastfailed")
    assert text.startswith(f"To be run again, alone: 1\n  {SHAKY}\n")
    assert "MEND" not in text


def test_what_fails_often_is_to_be_mended(said, tmp_path):
    shaky, steady = tmp_path / "failed.json", tmp_path / "none.json"
    shaky.write_text(json.dumps({SHAKY: True}))
    said(shaky)
    assert said(steady).startswith("To be run again, alone: 0\nIn the last 2 runs that this machine remembers: 1, 0.")
    assert f"MEND  {SHAKY}: run again in 2 of the last 3 runs\n" in said(shaky)
    texts = [said(steady) for _ in range(8)]
    assert "MEND" in texts[6]
    assert "MEND" not in texts[7]
    assert len(json.loads((tmp_path / "record.json").read_text())) == 10

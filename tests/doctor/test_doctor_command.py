"""`pyharness doctor` as a whole: its JSON, its text, its exit status, and the versions that it knows."""

import importlib
import json
import re
import subprocess
import sys

import pytest

from kit.command import PYHARNESS
from kit.paths import ROOT
from pyharness.doctor import tested
from pyharness.doctor.examine import examine  # noqa: F401  (registers the checks)
from pyharness.doctor.machine import machine_checks
from pyharness.doctor.registry import Area, Check, Registry
from pyharness.model.results.diagnosis import SEVERITY, Diagnosis, report, worst
from pyharness.model.results.diagnosis_text import lines

pytestmark = pytest.mark.rotated_tests(turns=3)


_toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def doctor(*arguments):
    command = [*PYHARNESS, "doctor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_json(compiled):
    ended = doctor("--json", "--extension", compiled("op.so", "-g"), "--extension", "not_there")
    said = json.loads(ended.stdout)
    assert (ended.returncode, said["state"]) == (1, "problem")
    keys = {(one["area"], one["check"], one["subject"]) for one in said["findings"]}
    assert len(keys) == len(said["findings"]) == sum(said["counts"].values())
    areas = [check.area.name for check in machine_checks]
    assert list(dict.fromkeys(one["area"] for one in said["findings"])) == list(dict.fromkeys(areas))
    for one in said["findings"]:
        assert set(one) == {"area", "check", "subject", "state", "seen", "remedy"}
        assert one["state"] in SEVERITY
        assert one["seen"].endswith("."), one
        assert one["remedy"] or one["state"] in {"ok", "not applicable"}, one
        assert "could not be looked at" not in one["seen"]
    (bad,) = (one for one in said["findings"] if one["subject"] == "not_there")
    assert (bad["state"], bad["check"]) == ("problem", "file")


def test_text_and_no_problem(compiled):
    ended = doctor("--project", compiled("op.so", "-g").parent)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("gdb\n  ok       gdb ")
    assert f"extension: {compiled('op.so', '-g')}\n" in ended.stdout
    assert re.search(r"^(no problem|\d+ warnings?), \d+ ok$", ended.stdout.splitlines()[-1])


def test_what_cannot_be_meant(tmp_path):
    for arguments in (
        ("--extension", tmp_path / "nothing.so"),
        ("--project", tmp_path / "nowhere"),
        ("no such program",),
    ):
        ended = doctor(*arguments)
        assert (ended.returncode, ended.stdout) == (2, ""), arguments
        assert "Traceback" not in ended.stderr


def test_a_finding_folds_with_its_remedy_below_it():
    one = Diagnosis("gdb", "gdb", "problem", "a " * 30 + "end.", "do this")
    texts = [line.text for line in lines([one], 50)]
    assert texts[0] == "gdb"
    assert texts[1].startswith("  problem  a a")
    assert all(len(text) <= 50 for text in texts)
    assert texts[-3:] == ["           → do this", "", "1 problem, 0 ok"]
    assert len([line.text for line in lines([one])]) == 5


def test_the_worst_counts():
    found = [Diagnosis("a", "b", state, "c.") for state in ("ok", "warning", "not applicable")]
    assert (worst(found), worst([])) == ("warning", "not applicable")
    assert report(found)["counts"] == {"not applicable": 1, "ok": 1, "warning": 1, "problem": 0}


def test_a_check_that_fails_says_so():
    def look(_subject):
        yield Area("a").ok("first", "It is there.")
        raise PermissionError(13, "Permission denied", "/file")

    first, failed = Check(Area("a"), "check", look)(None)
    assert (first.check, failed.check, failed.state) == ("first", "check", "warning")
    assert "PermissionError" in failed.seen


def test_a_second_check_of_a_name_is_refused():
    registry = Registry()
    registry.add(Area("a"), "name")(print)
    with pytest.raises(ValueError, match="two checks"):
        registry.add(Area("b"), "name")(print)


def test_the_versions_are_those_of_the_package():
    project = _toml.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = dict(re.match(r"(\w+)(.*)", text).groups() for text in project["dependencies"])
    oldest = {name: re.search(r">=([\d.]+)", text) for name, text in wanted.items()}
    assert "torch" not in oldest, "pip would exchange the torch that is there"
    assert oldest["debugpy"][1] == ".".join(map(str, tested.DEBUGPY.oldest))
    assert project["requires-python"] == ">=" + ".".join(map(str, tested.PYTHON.oldest))


@pytest.mark.parametrize(
    ("text", "numbers"), [("2.13.0+cpu", (2, 13, 0)), ("16.3-1", (16, 3)), ("2.14.0a0+git1", (2, 14, 0)), ("x", ())]
)
def test_versions_are_read(text, numbers):
    assert tested.parsed(text) == numbers


def test_ranges():
    known = tested.Range((2, 13), (2, 14))
    assert [known.too_old((2, 12, 9)), known.too_old((2, 13)), known.too_old((3, 0))] == [True, False, False]
    assert [known.untried((2, 14, 3)), known.untried((2, 15)), known.untried((3,))] == [False, True, True]
    assert (str(known), str(tested.Range((1,), (1,)))) == ("2.13 to 2.14", "1")

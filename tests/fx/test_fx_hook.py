"""torch.fx followed in a program that the harness starts."""

import os
import re
import subprocess
import sys

import pytest

from kit.marks import line_of
from kit.paths import PROGRAMS, search_path
from pyharness.model.places import find
from pyharness.model.source_map import map_of

pytestmark = pytest.mark.rotated_tests(turns=5)


def start(*arguments, **variables):
    environment = os.environ | {"PYTHONPATH": search_path()} | variables
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finish(process):
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out.splitlines(), errors


def hooked(*arguments, **variables):
    return start(PROGRAMS / "fx_hooked.py", *arguments, **variables)


@pytest.mark.rotated
@pytest.mark.parametrize("late", [[], ["--late"]], ids=["before torch", "after torch"])
def test_a_plain_program_gets_files_before_they_run(late):
    lines, errors = finish(hooked(*late, PROGRAMS / "fx_plain.py"))
    assert [line.split()[0] for line in lines] == ["generated", "ran"]
    _, file, source_map, exists = lines[0].split()
    assert exists == "True"
    assert errors == ""
    assert source_map == f"{file}.map.json"
    program = PROGRAMS / "fx_plain.py"
    norm = find(map_of(file), "blocks.1.norm") or find(map_of(file), "blocks.1")
    assert (norm.node, norm.module) == ("norm_1", "blocks.1")
    assert (norm.origin_file, norm.origin_line) == (str(program), line_of("norm", program))
    assert find(map_of(file), "x").origin_line == line_of("def", program)


def test_names_are_the_same_in_every_run():
    runs = [hooked(PROGRAMS / "fx_plain.py", PYTHONHASHSEED=str(seed)) for seed in (1, 2)]
    first, second = [finish(run)[0] for run in runs]
    assert first == second


FEATURES = """trace eager aot_eager compiled graph module deepcopy copy pickle interpreter transformer export make_fx
pytree replace_pattern torchscript traceback True True"""


def test_what_torch_offers_works_as_without():
    lines, errors = finish(hooked(PROGRAMS / "fx_features.py"))
    assert "pyharness" not in errors
    told = [line for line in lines if line.startswith("generated")]
    assert all(line.endswith("True") for line in told)
    shown = dict(line.split(" ", 1) for line in lines if line.startswith(("file", "transformed")))
    rest = [line for line in lines if not line.startswith(("generated", "file", "transformed"))]
    assert " ".join(rest).split() == FEATURES.split()
    traced, transformed = (find(map_of(shown[name]), "sin") for name in ("file", "transformed"))
    assert (transformed.origin_file, transformed.origin_line) == (traced.origin_file, traced.origin_line)


NEVER = """
import sys
from pyharness.debuggee.watched import generated
generated.install(print)
import json, email, concurrent.futures
assert not any(name.split(".")[0] == "torch" for name in sys.modules), "torch was imported"
print(len(sys.modules))
"""


def test_a_program_without_torch_stays_without():
    finish(start("-c", NEVER))


def test_where_the_private_folder_cannot_be_written_files_lie_in_a_temporary_one(tmp_path):
    (tmp_path / "file").write_text("")
    lines, errors = finish(hooked(PROGRAMS / "fx_plain.py", PYHARNESS_HOME=str(tmp_path / "file")))
    generated, *others = lines
    assert (others, errors) == (["ran"], "")
    assert re.match(r"generated \S+/pyharness-[\w-]+/Net_\w+\.py \S+\.map\.json True$", generated)

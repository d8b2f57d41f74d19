"""The offsets of the installed torch, measured again by a compiler and by gdb, against the table."""

import json
import re
import subprocess
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from kit.builds import offsets_program
from kit.paths import ROOT
from pyharness.reading.tensors.layout import MEASURED, TensorLayout, as_numbers, for_version, with_debug_information

pytestmark = pytest.mark.timeout(600)  # compiles the program, where there is none yet


@pytest.fixture(scope="module")
def program():
    return offsets_program()


@pytest.mark.rotated_tests(turns=5, number=1)
def test_the_table_is_what_the_compiler_says(program):
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    measured = dict(line.split() for line in printed.splitlines())
    version = measured.pop("torch")
    assert torch.__version__.startswith(version)
    assert as_numbers(MEASURED[version]) == {name: int(number) for name, number in measured.items()}


@pytest.mark.rotated_tests(turns=5, number=1)
def test_debug_information_gives_the_same_offsets(program):
    script = (
        "import json; from pyharness.ingdb import torch_process;"
        "from pyharness.reading.tensors import layout as t;"
        "wrong = t.TensorLayout(**{name: -1 for name in t.as_numbers(t.TensorLayout())});"
        "print('FOUND', json.dumps(t.as_numbers(t.with_debug_information(wrong, torch_process._offset_of))))"
    )
    load = f"source {ROOT}/pyharness/ingdb/load.py"
    command = ["gdb", "-nx", "-q", "-batch", "-ex", load, "-ex", f"python {script}", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(re.search("FOUND (.*)", done.stdout)[1]) if "FOUND" in done.stdout else done
    known = {name: number for name, number in found.items() if number >= 0}
    table = as_numbers(for_version(torch.__version__))
    assert known == {name: table[name] for name in known}
    assert len(known) >= 20


@pytest.mark.parametrize(
    ("version", "measured"),
    [
        ("2.13.0+cpu", "2.13"),
        ("2.14.1", "2.14"),
        ("2.7.1", "2.6"),
        ("2.99.0a0+git1234", "2.15"),
        ("3.0", "2.15"),
        ("1.13.1", "2.6"),
        (None, "2.13"),
        ("unknown", "2.13"),
    ],
)
def test_the_nearest_measured_version_is_used(version, measured):
    assert for_version(version) is MEASURED[measured]


def test_measured_versions_are_named_and_in_order():
    assert all(layout.torch == version for version, layout in MEASURED.items())
    ordinals = [tuple(map(int, version.split("."))) for version in MEASURED]
    assert all(first < second for first, second in pairwise(ordinals))


def test_debug_information_wins_where_it_knows_a_class():
    def offset_of(class_name, member):
        return 1000 if (class_name, member) == ("c10::TensorImpl", "storage_") else None

    assert with_debug_information(TensorLayout(), offset_of) == replace(TensorLayout(), storage=1000)

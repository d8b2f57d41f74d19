"""The layout of torch's flight recorder against the installed headers."""

import subprocess

import pytest
import torch

from kit.builds import recorder_offsets
from pyharness.reading.collectives.layout import as_numbers, for_version


@pytest.mark.rotated_tests(turns=5, number=2)
@pytest.mark.timeout(600)  # compiles the program, where there is none yet
def test_the_table_is_what_the_compiler_says():
    printed = subprocess.run([recorder_offsets()], capture_output=True, text=True, check=True).stdout
    assert {name: int(number) for name, number in map(str.split, printed.splitlines())} == as_numbers(
        for_version(torch.__version__)
    )


@pytest.mark.parametrize(("version", "size"), [("2.7.1", None), ("2.8.0", 504), ("2.9.1+cpu", 504), ("2.10.0", 512)])
def test_older_torches(version, size):
    layout = for_version(version)
    assert (layout and layout.entry_size) == size

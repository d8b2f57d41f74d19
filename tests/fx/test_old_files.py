"""Generated files that nothing has used for a month go; what a person edited stays."""

import os
import time

import pytest

from pyharness.fx.code.old_files import forget_old
from pyharness.model.source_map import SUFFIX

DAY = 24 * 3600


@pytest.fixture
def folder(tmp_path):
    now = time.time()
    for name, days in {"new": 29, "old": 31, "mine.edited": 400}.items():
        for suffix in (".py", ".py" + SUFFIX):
            file = tmp_path / (name + suffix)
            file.write_text("")
            os.utime(file, (now - days * DAY, now - days * DAY))
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


def test_only_what_is_old_and_generated_goes(folder):
    before = {file.name for file in folder.iterdir()}
    forget_old(folder)
    assert before - {file.name for file in folder.iterdir()} == {"old.py", "old.py" + SUFFIX}


def test_a_folder_that_is_not_there_is_no_mistake(tmp_path):
    forget_old(tmp_path / "none")

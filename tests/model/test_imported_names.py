"""What a script imports, by its text."""

import pytest

from pyharness.model.text.imported_names import imports_others


@pytest.mark.parametrize(
    ("source", "others"),
    [
        ("import sys, os.path as path\nfrom json import loads\n", False),
        ("print('import torch')\n", False),
        ("def f():\n    import torch.nn as nn\n", True),
        ("import sys, torch\n", True),
        ("from mine import f\n", True),
        ("from . import f\n", True),
        ("import os; x = 1\n", False),
        ("", False),
    ],
)
def test_only_the_texts_own_imports_count(tmp_path, source, others):
    script = tmp_path / "script.py"
    script.write_text(source)
    assert imports_others(str(script)) is others


def test_one_that_cannot_be_read_may_import_all(tmp_path):
    assert imports_others(str(tmp_path / "none.py"))
    assert imports_others("")

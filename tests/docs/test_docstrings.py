"""The lint of docstrings names what cannot be read alone, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "docstrings.py"
SOURCE = '''"""{module}"""

LIMIT = 3
"""{name}"""


class Box:
    """{box}"""

    def open(self):
        """{method}

        It may stand in a second paragraph.
        """
'''
GOOD = {"module": "Boxes.", "name": "Most of them.", "box": "A box.", "method": "Open the box."}


def checked(folder: Path, **texts: str) -> subprocess.CompletedProcess[str]:
    (folder / "boxes.py").write_text(SOURCE.format(**GOOD | texts))
    words = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def test_docstrings_that_can_be_read_alone_pass(tmp_path):
    done = checked(tmp_path, method="Italics of the others, asked for.", name="Oft-used numbers; the same each time.")
    assert (done.returncode, done.stdout) == (0, "1 files: every docstring can be read alone\n")


def test_each_kind_of_docstring_is_looked_at(tmp_path):
    done = checked(tmp_path, module="Its boxes.", name="Of a box.", box="The same, open.", method="It opens.")
    lines = sorted(int(line.split(":")[1]) for line in done.stdout.splitlines())
    assert done.returncode == 1
    assert lines == [1, 4, 8, 11]
    assert 'boxes.py:8: "The same" is not a subject that can be read alone: The same, open.' in done.stdout

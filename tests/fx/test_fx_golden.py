"""The file and the map of one small model, as they were when someone last looked at them.

PYHARNESS_UPDATE_GOLDEN=1 writes them anew.
"""

import os
from pathlib import Path

import torch
from fx_models import Model
from torch import fx

from kit import needs
from pyharness.fx import Tracer, materialize

GOLDEN = Path(__file__).parent / "golden"


def shown(source_map):
    for entry in source_map.lines:
        origin = f"{Path(entry.origin_file).name}:{entry.origin_line}" if entry.origin_file else "-"
        yield f"{entry.line:3} {entry.node:22} {entry.op:14} {entry.target:24} {entry.module!r:16} {origin}"


@needs.LINES_OF_A_COPY
def test_the_golden_file_and_map():
    torch.manual_seed(0)
    model = Model()
    made = materialize(fx.GraphModule(model, Tracer().trace(model), "Model"))
    for name, text in (("model.py.txt", made.file.read_text()), ("model.map.txt", "\n".join(shown(made.source_map)))):
        if os.environ.get("PYHARNESS_UPDATE_GOLDEN"):
            (GOLDEN / name).write_text(text.rstrip() + "\n")
        assert text.rstrip() == (GOLDEN / name).read_text().rstrip()

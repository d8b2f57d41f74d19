"""``pyharness engine build``: builds the engine for an interpreter and its torch now."""

from __future__ import annotations

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import json_option, python_option
from pyharness.model.errors import HarnessError

_EXAMPLES = (
    ("for this Python and its torch", "pyharness engine build"),
    ("for the program's", "pyharness engine build --python .venv/bin/python"),
)
_STATUSES = (("0", "it is there"), ("1", "it cannot be built: no compiler, no torch, no headers"))


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES)
@python_option
@json_option
def command(*, python: str, as_json: bool) -> int:
    """Build the engine for an interpreter and its torch, where that has not been done. It takes a C++ compiler.

    With --json: {"file", "torch", "built": whether it was built now}.
    """
    from pyharness.cli.kit.engine_progress import Shown, interpreter
    from pyharness.engine import need

    path = interpreter(python)
    facts = need.asked(path)
    if facts is None:
        raise HarnessError(f"{path} has no torch that an engine could be built for.", "Name its Python with --python.")
    shown = Shown()
    file = need.engine(path, shown)
    if as_json:
        output.write_json({"file": str(file), "torch": facts.version, "built": shown.built})
    elif not shown.built:
        output.write(f"The engine for {facts.named} is there: {file}")
    return 0

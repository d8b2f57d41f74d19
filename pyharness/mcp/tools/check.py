"""``check``: verdicts on a whole program, a module or a pass."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pyharness.host.state import temporary_dir
from pyharness.mcp import verbs
from pyharness.mcp.registry import Answer, tool
from pyharness.mcp.tools.graph import Program, program_words
from pyharness.mcp.verbs import VerbTold
from pyharness.model.errors import UsageError
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from pyharness.mcp.service import Service

What = Literal["crash", "nan", "overwritten", "trace", "verify", "inductor", "determinism", "bisect"]
_OF_PROGRAM = ("crash", "nan", "overwritten", "trace")
_MEANINGS = {
    "verify": {0: "the results agree", 1: "they differ; the first node that does is named"},
    "inductor": {0: "what torch.compile made agrees", 1: "it differs; kernel, line, node and element are named"},
    "determinism": {0: "all runs give the same code", 1: "two runs give different code"},
    "bisect": {0: "all passes are good", 1: "a bad pass was found"},
    "nan": {0: "no NaN or Inf, and the program ended with 0", 1: "a bad value was found, or the program failed"},
    "overwritten": {0: "no saved tensor was written into", 1: "one was, or the program failed"},
    "trace": {0: "recorded"},
}
_LOOKS = 0.2
"""Seconds between two looks for a report."""
_NAMES = "names is a list of MODULE:NAME or FILE.py:NAME."
_TAKES = {"verify": (1, 2), "inductor": (1, 1), "determinism": (1, 2), "bisect": (2, 2)}
_WHICH = {
    "verify": "the model, and the transform",
    "inductor": "the model",
    "determinism": "the transform, and the model",
    "bisect": "the model, and the passes",
}


class Check(Program):
    """What to check, of a program or of names."""

    what: What = Field(
        default="crash",
        description="Of script or module: crash: run it; a crash, an uncaught exception or a hang is reported with both"
        " languages' stacks, values, also of threads and workers. nan: the op that made the first NaN or Inf."
        " overwritten: wrong gradients: who wrote into a tensor that autograd saved, in C++ too. trace: which modules,"
        " ops and nodes take the time. Of names: verify: ORIGINAL TRANSFORM. inductor: MODEL compiled"
        " against eager. determinism: TRANSFORM MODEL. bisect: MODEL PASSES.",
    )
    names: list[str] = Field(
        default=[], max_length=2, description=f"For verify, inductor, determinism, bisect. {_NAMES}"
    )
    inputs: str = Field(default="", description="For verify, inductor, bisect: MODULE:NAME of the arguments.")
    gradients: bool = Field(default=False, description="For verify, inductor: compare gradients, too.")
    hang_s: float = Field(
        default=0, ge=0, le=3600, description="For crash: report a main thread that stands so long, and end."
    )


@tool("check", "Check a whole program", VerbTold, harm="runs")
async def check(service: Service, asked: Check) -> Answer:
    """Run a program, a model or a pass, and say what is wrong: crash, hang, NaN, wrong node, wrong kernel, bad pass."""
    folder = service.roots.folder(asked.cwd)
    if asked.what not in _OF_PROGRAM:
        return await verbs.run(service, _words(service, asked, folder), folder, _MEANINGS[asked.what], asked.timeout_s)
    if asked.names:
        raise UsageError(f"{asked.what} takes no names.", "Name a script or a module.")
    if asked.what == "crash":
        return await _crash(service, asked, folder)
    runs = asked.what != "trace"
    words = ["run", f"--{asked.what}"] if runs else ["trace"]
    words += program_words(service, asked, folder, dashes=not runs)
    return await verbs.run(service, words, folder, _MEANINGS[asked.what], asked.timeout_s, runs=runs, beside=not runs)


def _words(service: Service, asked: Check, folder: str) -> list[str]:
    least, most = _TAKES[asked.what]
    if not least <= len(asked.names) <= most:
        raise UsageError(f"{asked.what} takes {_WHICH[asked.what]}.", _NAMES)
    for name in [*asked.names, *filter(None, [asked.inputs])]:
        if (file := name.rpartition(":")[0]).endswith(".py"):
            service.roots.inside(file, folder)
    verb = "verify" if asked.what == "inductor" else asked.what
    words = ["fx", verb, *(["--backend", "inductor"] if asked.what == "inductor" else [])]
    python = service.roots.python(asked.python, folder, "")
    words += ["--python", python] if python else []
    words += ["--inputs", asked.inputs] if asked.inputs else []
    words += ["--gradients"] if asked.gradients and verb == "verify" else []
    return [*words, "--", *asked.names]


async def _crash(service: Service, asked: Check, folder: str) -> Answer:
    """Run it under ``run --report``; where it hangs, what is reported is the answer, and the program is ended."""
    reports = Path(tempfile.mkdtemp(dir=temporary_dir(), prefix="report-"))
    service.reports.append(reports)
    words = ["run", "--report", str(reports)]
    words += ["--hang", f"{max(1, round(asked.hang_s))}"] if asked.hang_s else []
    words += program_words(service, asked, folder, dashes=False)
    running = asyncio.ensure_future(
        verbs.run(service, words, folder, {0: "it ended with 0"}, asked.timeout_s, runs=True)
    )
    hangs = asyncio.ensure_future(_hang(reports))
    try:
        await asyncio.wait({running, hangs}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            running.cancel()
            await asyncio.wait({running})
            told = VerbTold(command=f"pyharness {' '.join(words)}", status=1, meaning="it hangs, and was ended")
            return Answer(f"{told.meaning}\n{_text_of(reports)}", told)
    finally:
        running.cancel()
        hangs.cancel()
    answer, found = running.result(), _text_of(reports)
    if not isinstance(answer.told, VerbTold) or not found:
        return answer
    meaning = f"it ended with {answer.told.status}; reports are resources"
    return Answer(f"{meaning}\n{found}", answer.told.model_copy(update={"meaning": meaning}))


async def _hang(reports: Path) -> None:
    """Wait until there is a report of a hang, all of it."""
    while not _has_hang(reports):  # noqa: ASYNC110  (another process writes it)
        await asyncio.sleep(_LOOKS)


def _has_hang(reports: Path) -> bool:
    return any(each.stat().st_size for each in reports.rglob("hang-*.html"))  # which is written last


def _text_of(reports: Path) -> str:
    return visible("\n".join(path.read_text(errors="replace") for path in sorted(reports.rglob("*.txt"))))

"""The files that ``pyharness trace`` writes; of a rank each has its number in its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.cli.kit import output
from pyharness.cli.kit.files import check_outputs, write_file
from pyharness.model.frozen import frozen
from pyharness.model.results import trace_file
from pyharness.report import perfetto
from pyharness.report.html import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.model.results.trace import Trace
    from pyharness.model.text.styled_line import Line


@frozen
class Files:
    """Names of files; ``None`` for one that is not asked for."""

    html: str | None = None
    perfetto: str | None = None
    saved: str | None = None

    def of_rank(self, rank: int | None, restarts: int) -> Files:
        """Put the rank before the endings of the names, which all ranks are given."""
        if rank is None:
            return self
        number = f"-rank{rank}{f'-restart{restarts}' if restarts else ''}"
        return Files(*(name and _numbered(name, number) for name in (self.html, self.perfetto, self.saved)))

    def check(self, inputs: Iterable[str]) -> None:
        """Before the program runs for an hour."""
        check_outputs({"--html": self.html, "--perfetto": self.perfetto, "--save": self.saved}, inputs)

    def written(self, trace: Trace) -> Iterator[Line]:
        """Write them; a line for each."""
        for name, make, advice in (
            (self.html, page, "open it in a browser"),
            (self.perfetto, perfetto.text, "open it at https://ui.perfetto.dev"),
            (self.saved, _saved, "pyharness trace --merge shows it, with those of other ranks"),
        ):
            if name is not None:
                output.progress(f"writing {name}")
                yield write_file(name, make(trace), advice)


def _numbered(name: str, number: str) -> str:
    path = Path(name)
    return str(path.with_name(f"{path.stem}{number}{path.suffix}")) if path.name else name


def _saved(trace: Trace) -> str:
    return trace_file.dump(trace).decode()

"""What pytest shows of a test that ended its process: what happened, where, the stack of both languages."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from _pytest._code.code import ReprFileLocation, TerminalRepr

from pyharness.model.results.aftermath_text import head_lines, history_lines, output_lines, report_lines
from pyharness.model.text.source_line import short_path
from pyharness.model.text.stack_format import format_owner, format_threads
from pyharness.model.text.styled_line import Line, painted
from pyharness.model.text.visible import visible
from pyharness.model.transcript import signal_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.results.aftermath import Aftermath
    from pyharness.pytest_plugin.supervisor import Ended


class Death(TerminalRepr):
    """The ``longrepr`` of a failed test; ``reprcrash`` is where it failed, as other plugins look for it."""

    def __init__(self, lines: Iterable[Line], location: ReprFileLocation) -> None:
        self._lines = tuple(lines)
        self.reprcrash = location

    def toterminal(self, tw) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        """Write it with colours where there are any."""
        for line in self._lines:
            tw.line(painted(line, colour=tw.hasmarkup))

    def __str__(self) -> str:
        return "\n".join(painted(line, colour=False) for line in self._lines)


def death_of(found: Aftermath | None, ended: Ended | None, name: str) -> Death:
    """What is known of a process that ended at the test, or the file, of that name."""
    if found is None:
        message = _unseen(ended) if ended else "nothing is known of it"
        return Death([Line(message, "bad")], ReprFileLocation(name.partition("::")[0], 0, message))
    frame = found.frame
    where = f" at {short_path(frame.file)}:{frame.line}" if frame and frame.file else ""
    path, line = (frame.file or "", frame.line or 0) if frame else ("", 0)
    message = visible(f"{_VERBS[found.kind]}: {found.what}{where}").replace("\n", " ")
    return Death(_lines(found), ReprFileLocation(path or name.partition("::")[0], line, message))


_VERBS = {"crash": "crashed", "hang": "hangs", "exception": "raised", "sanitizer": "failed"}


def location_of(name: str) -> tuple[str, None, str]:
    """What pytest calls the location of a test of which no more than its id is known."""
    file, _, rest = name.partition("::")
    return file, None, rest.replace("::", ".")


def section_of(found: Aftermath) -> tuple[str, str]:
    """A section of a report: a process that the test has started, and how it ended."""
    lines = (painted(line, colour=False) for line in _lines(found))
    return f"pyharness: process {found.pid}", "\n".join(lines)


def _lines(found: Aftermath) -> list[Line]:
    if found.kind == "hang":
        return list(report_lines(found))
    others = len(found.threads) - 1
    about = [*head_lines(found), Line(""), *format_threads(found.threads[:1]), *format_owner(found.threads)]
    lines = [*about, *history_lines(found), *output_lines(found)]
    if others > 0:
        lines.append(Line(f"({others} other thread{'s' * (others > 1)}: see --pyharness-report)", "dim"))
    return lines


def _unseen(ended: Ended) -> str:
    """The end of a process that nobody could look at."""
    if ended.code is None:
        return "ended a worker of pytest-xdist"
    if ended.code >= 0:
        return f"ended pytest's process with exit code {ended.code}, by os._exit or from native code"
    if ended.code == -signal.SIGKILL:
        return "was killed by SIGKILL: out of memory?"
    return f"ended pytest's process by {signal_name(-ended.code)}; no report could be written"

"""What a scripted session saw: its stops, what was expected of them, and how the program ended."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

from pyharness.host.exit_status import of_program
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.model.stops import Stop

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


@frozen
class Mismatch:
    """One thing that an expectation wanted otherwise."""

    key: str
    """The key as the session file has it: ``function``, ``fx.node``, ``printed.x``, ..."""
    wanted: str
    got: str

    def to_json(self) -> dict[str, str]:
        """The object that ``--json`` prints."""
        return {"key": self.key, "wanted": self.wanted, "got": self.got}


@frozen
class Checked:
    """An expectation, held against what came."""

    step: int
    """1-based number of the step."""
    line: int
    """Line of the session file."""
    mismatches: tuple[Mismatch, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all was as expected."""
        return not self.mismatches

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        mismatches = [mismatch.to_json() for mismatch in self.mismatches]
        return {"step": self.step, "line": self.line, "holds": self.holds, "mismatches": mismatches}


@frozen
class Failure:
    """Why a session could not be played to its end."""

    message: str
    remedy: str = ""
    status: int = 1
    """Exit status of the command."""

    def to_json(self) -> dict[str, str]:
        """The object that ``--json`` prints."""
        return {"message": self.message, "remedy": self.remedy}


@frozen
class Begun:
    """A stop before anything is asked there: an expression may take its time."""

    stop: Stop


@frozen
class Printed:
    """An expression that was asked at the latest stop, and its text."""

    expression: str
    text: str


@frozen
class Logged:
    """A line that a log point printed."""

    place: str
    text: str

    def to_json(self) -> dict[str, str]:
        """The object that ``--json`` prints."""
        return {"place": self.place, "text": self.text}


@frozen
class Ended:
    """The program is over."""

    exit_code: int | None
    """Negative for a signal, ``None`` when the session ended the program."""

    def __str__(self) -> str:
        if self.exit_code is None:
            return "the session ended the program"
        if self.exit_code < 0:
            return f"the program was ended by {signal_name(-self.exit_code)}"
        return f"the program ended with exit code {self.exit_code}"


@frozen
class Transcript:
    """All of one session."""

    stops: tuple[Stop, ...] = ()
    exit_code: int | None = None
    """The program's own; negative for a signal, ``None`` when it did not end by itself."""
    expectations: tuple[Checked, ...] | None = None
    """``None`` where nobody could expect anything (``pyharness step``)."""
    error: Failure | None = None
    logged: tuple[Logged, ...] | None = None
    """What log points printed; ``None`` where there were none."""
    exit_code_expected: bool = False
    """Whether the session said which exit code it wants: then that code is no failure."""

    @property
    def status(self) -> int:
        """Exit status of the command: the error's, 1 for an expectation that failed, else the program's own."""
        if self.failure or self.exit_code is None or self.exit_code_expected:
            return self.failure
        return of_program(self.exit_code)

    @property
    def failure(self) -> int:
        """Exit status of the command for what is not the program's: an error, an expectation; 0 for none."""
        if self.error:
            return self.error.status
        return int(any(not checked.holds for checked in self.expectations or ()))

    def to_json(self, *, raw: bool = False) -> dict[str, Any]:
        """The object that ``--json`` prints; ``raw`` keeps what differs from run to run: addresses and thread ids."""
        data: dict[str, Any] = {
            "stops": [stop.to_json() if raw else _steady(stop.to_json()) for stop in self.stops],
            "exit_code": self.exit_code,
        }
        if self.logged is not None:
            data["logged"] = [line.to_json() for line in self.logged]
        if self.expectations is not None:
            data["expectations"] = [checked.to_json() for checked in self.expectations]
        if self.error:
            data["error"] = self.error.to_json()
        return data


def without_addresses(text: str) -> str:
    """``text`` with each memory address made ``0x…``, so that two runs compare equal."""
    return _ADDRESS.sub("0x…", text)


def signal_name(number: int) -> str:
    """``SIGSEGV (Segmentation fault)``."""
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"


def _steady(stop: dict[str, Any]) -> dict[str, Any]:
    printed = {expression: without_addresses(text) for expression, text in stop["printed"].items()}
    return {key: value for key, value in stop.items() if key != "thread"} | {"printed": printed}

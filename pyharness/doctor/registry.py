"""What is looked at: a decorator registers a check, one import list (``examine``) loads them in their order."""

from __future__ import annotations

import os
import struct
import subprocess
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from pyharness.model.errors import HarnessError
from pyharness.model.results.diagnosis import Diagnosis, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Subject = TypeVar("Subject")
EXPECTED = (HarnessError, OSError, ValueError, LookupError, struct.error, subprocess.SubprocessError)
"""What looking at files and programs that are not ours can raise."""


class UnansweredError(HarnessError):
    """Something that a check would ask is not there; another check says so."""


@dataclass(frozen=True)
class Area:
    """Makes the findings of what belongs together."""

    name: str
    subject: str = ""

    def about(self, subject: str) -> Area:
        """The area with its findings about one extension."""
        return replace(self, subject=subject)

    def ok(self, check: str, seen: str) -> Diagnosis:
        """A finding that all is as it should be."""
        return self.finding(check, "ok", seen)

    def warning(self, check: str, seen: str, remedy: str) -> Diagnosis:
        """Something will be missing, or slow."""
        return self.finding(check, "warning", seen, remedy)

    def problem(self, check: str, seen: str, remedy: str) -> Diagnosis:
        """Something that pyharness is for cannot work."""
        return self.finding(check, "problem", seen, remedy)

    def inapplicable(self, check: str, seen: str, remedy: str = "") -> Diagnosis:
        """There is nothing to look at, and that is fine."""
        return self.finding(check, "not applicable", seen, remedy)

    def failed(self, check: str, error: BaseException, state: State = "problem") -> Diagnosis:
        """What an error says."""
        if isinstance(error, HarnessError):
            return self.finding(check, state, _sentence(error.message), error.remedy)
        seen = f"This could not be looked at: {type(error).__name__}: {error}."
        return self.finding(check, "warning", _sentence(seen), "PYHARNESS_TRACEBACK=1 shows where it failed.")

    def finding(self, check: str, state: State, seen: str, remedy: str = "") -> Diagnosis:
        """Any state."""
        return Diagnosis(self.name, check, state, seen, remedy, self.subject)


def _sentence(text: str) -> str:
    """A message on one line, with its end."""
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """A function that looks at ``Subject`` and says what it found."""

    area: Area
    name: str
    look: Callable[[Subject], Iterable[Diagnosis]]

    def __call__(self, subject: Subject) -> list[Diagnosis]:
        """The findings of the check; where the check fails, a finding that says so."""
        found: list[Diagnosis] = []
        try:
            found.extend(self.look(subject))
        except UnansweredError as error:
            found.append(self.area.inapplicable(self.name, _sentence(error.message)))
        except EXPECTED as error:
            if os.environ.get("PYHARNESS_TRACEBACK"):
                traceback.print_exc()
            found.append(self.area.failed(self.name, error))
        return found


class Registry(Generic[Subject]):
    """The checks of one kind of subject, in the order in which their modules were imported."""

    def __init__(self) -> None:
        self._checks: dict[str, Check[Subject]] = {}

    def __iter__(self) -> Iterator[Check[Subject]]:
        return iter(self._checks.values())

    def add(
        self, area: Area, name: str
    ) -> Callable[[Callable[[Subject], Iterable[Diagnosis]]], Callable[[Subject], Iterable[Diagnosis]]]:
        """Register a check; ``ValueError`` where its name is taken."""

        def register(look: Callable[[Subject], Iterable[Diagnosis]]) -> Callable[[Subject], Iterable[Diagnosis]]:
            if name in self._checks:
                raise ValueError(f"two checks are called {name!r}")
            self._checks[name] = Check(area, name, look)
            return look

        return register

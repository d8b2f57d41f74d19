"""The expressions that every stop shows, by the numbers that they are called by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.errors import DebuggerLostError, HarnessError, UsageError
from pyharness.prompt.shown.stop_text import value_line
from pyharness.prompt.shown.values import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.text.styled_line import Line
    from pyharness.prompt.session import Session


class Displays:
    """All of them, and what each was at the stop before."""

    def __init__(self) -> None:
        self.expressions: dict[int, str] = {}
        self._before: dict[int, str] = {}
        self._count = 0

    def add(self, expression: str) -> int:
        """Show one more from now on; its number."""
        self._count += 1
        self.expressions[self._count] = expression
        return self._count

    def remove(self, words: str) -> None:
        """Show these no more, by number or as they were written; all where there are no words."""
        for word in words.split() if words else list(map(str, self.expressions)):
            number = next((key for key, each in self.expressions.items() if word in {str(key), each}), None)
            if number is None:
                raise UsageError(f"There is no display {word!r}.", "`display` lists them.")
            del self.expressions[number]
            self._before.pop(number, None)

    def lines(self, session: Session) -> Iterator[Line]:
        """A line for each; one that has another value than before is marked."""
        for number, expression in self.expressions.items():
            try:
                text = text_of(session, expression)
            except DebuggerLostError:
                raise
            except HarnessError as error:
                text = f"<{error.message.strip().splitlines()[-1]}>"
            changed = number in self._before and self._before[number] != text
            self._before[number] = text
            yield value_line(f"{'*' if changed else ' '}{number}: {expression}", text, session.screen.columns())

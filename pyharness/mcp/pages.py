"""Long texts, a page at a time: what an agent reads costs it, so it gets the first page and asks for the others."""

from __future__ import annotations

from pyharness.model.errors import UsageError

LIMIT = 3240
"""Characters of a page: 1,200 tokens, at the 2.7 characters that the densest answers have to each."""
_KEPT = 40
"""Texts of which the rest can be asked for."""


class Pages:
    """The texts that were not read to their end, by cursor; the oldest are forgotten."""

    def __init__(self) -> None:
        self._rest: dict[str, str] = {}
        self._count = 0

    def first(self, text: str) -> tuple[str, str]:
        """The page to show and the cursor of the rest, which is empty where there is none."""
        if len(text) <= LIMIT:
            return text, ""
        shown = _first_lines(text)
        rest = text[len(shown) :]
        self._count += 1
        cursor = f"c{self._count}"
        self._rest[cursor] = rest.strip("\n")
        while len(self._rest) > _KEPT:
            del self._rest[next(iter(self._rest))]
        return shown.strip("\n"), cursor

    def next(self, cursor: str) -> tuple[str, str]:
        """The next page of a text, and the cursor of what is left then."""
        if cursor not in self._rest:
            known = ", ".join(list(self._rest)[-5:])
            raise UsageError(
                f"There is no cursor {cursor!r}.", f"The last ones are {known}." if known else "Every answer was whole."
            )
        return self.first(self._rest[cursor])


def _first_lines(text: str) -> str:
    """The whole lines that fit; a part of the first one where that is too long."""
    end = text.rfind("\n", 0, LIMIT)
    return text[: end + 1] if end > 0 else text[:LIMIT]

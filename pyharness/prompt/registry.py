"""Commands of the prompt: a decorator registers one, a second one of the same name is a mistake of ours."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Literal, TypeAlias

from pyharness.model.errors import UsageError, nearest
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.prompt.session import Session

Handler: TypeAlias = "Callable[[Session, str], None]"
"""Takes what follows the command's name; raises ``HarnessError`` for what cannot be done."""
Need = Literal["nothing", "program", "stop", "change"]
"""A program: one that has not ended; a stop: of it; change: one that can go on and be changed."""


@frozen
class Command:
    """What is known of a command."""

    names: tuple[str, ...]
    """The first is its own, the others are as good: abbreviations, and what pdb and gdb call it."""
    takes: str
    """What follows the name, as help shows it."""
    about: str
    """The heading that help lists it under."""
    handler: Handler
    needs: Need
    repeats: bool
    """Whether an empty line does it again."""
    note: str
    """Where pdb and gdb differ."""

    @property
    def name(self) -> str:
        """The name that it is called by."""
        return self.names[0]

    @property
    def usage(self) -> str:
        """All names, and what follows."""
        return f"{', '.join(self.names)} {self.takes}".rstrip()

    @property
    def text(self) -> str:
        """What help says of it."""
        return inspect.getdoc(self.handler) or ""

    @property
    def summary(self) -> str:
        """The first line of that."""
        return self.text.partition("\n")[0]


COMMANDS: dict[str, Command] = {}
"""Each by its own name, in the order of help."""
_BY_NAME: dict[str, Command] = {}
ABOUT = ("places", "going on", "the stack", "values", "graphs", "the program", "the session")
"""The headings of help."""


def command(
    *names: str, about: str, takes: str = "", needs: Need = "stop", repeats: bool = False, note: str = ""
) -> Callable[[Handler], Handler]:
    """Register a command under its names."""

    def register(handler: Handler) -> Handler:
        made = Command(names, takes, about, handler, needs, repeats, note)
        for name in names:
            if name in _BY_NAME:
                raise ValueError(f"two commands {name!r}")
            _BY_NAME[name] = made
        COMMANDS[made.name] = made
        return handler

    return register


def found(line: str) -> tuple[Command, str]:
    """The command that a line begins with, and what follows it; ``UsageError`` with the nearest names for none.

    A name may be of two words, as ``into native``; a beginning does where no other command begins so.
    """
    for name in sorted(_BY_NAME, key=len, reverse=True):
        if line.startswith(name) and _ends(name, line[len(name) :]):
            return _BY_NAME[name], line[len(name) :].strip()
    word, _, rest = line.partition(" ")
    begun = {each.name: each for name, each in _BY_NAME.items() if name.startswith(word)}
    if len(begun) == 1:
        return next(iter(begun.values())), rest.strip()
    if begun:
        raise UsageError(f"{word!r} may be {', '.join(begun)}.", "Type more of it.")
    near = nearest(word, _BY_NAME) or "`help` lists them. Python's statements come behind py."
    raise UsageError(f"There is no command {word!r}.", near)


def _ends(name: str, rest: str) -> bool:
    """Whether a name ends where ``rest`` begins: at a blank, or at once where it is no word."""
    return not rest or not name[-1].isalnum() or not (rest[0].isalnum() or rest[0] in "_-")


def names() -> list[str]:
    """All names, for completion."""
    return sorted(_BY_NAME)

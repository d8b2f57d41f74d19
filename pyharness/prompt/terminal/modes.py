"""The modes of the terminal that a person sits at: as it was at the prompt, and as a mere wire while a program runs."""

from __future__ import annotations

import fcntl
import termios
from contextlib import suppress
from typing import Any

_IFLAG, _OFLAG, _LFLAG, _CC = 0, 1, 3, 6
_OF_KEYS = termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP | termios.IXON
_SIZE = bytes(8)


class Modes:
    """Three states: the person's own (at the prompt), a wire with lines ended by the terminal, a wire without."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._own = termios.tcgetattr(terminal)
        self._relays = False
        self._plain = False

    @property
    def keys(self) -> tuple[bytes, bytes, bytes]:
        r"""What is typed to interrupt, suspend and quit: Ctrl-C, Ctrl-Z and Ctrl-\, mostly; empty for none."""
        characters = self._own[_CC]
        interrupt, suspend, leave = (_key(characters[each]) for each in (termios.VINTR, termios.VSUSP, termios.VQUIT))
        return interrupt, suspend, leave

    def relay(self) -> None:
        """Have each key come as it is typed, and as no signal; at most once a stop."""
        with suppress(termios.error):
            self._own = termios.tcgetattr(self._terminal)
            wire = termios.tcgetattr(self._terminal)
            wire[_IFLAG] &= ~_OF_KEYS
            wire[_LFLAG] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
            wire[_CC][termios.VMIN], wire[_CC][termios.VTIME] = 1, 0
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, wire)
            self._relays, self._plain = True, False

    def restore(self) -> None:
        """Give the terminal back as it was."""
        if self._relays:
            self._relays = False
            with suppress(termios.error):
                termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._own)

    def follow(self, master: int) -> None:
        """End no lines while the program draws by itself, as curses does: its own terminal ends none then."""
        with suppress(termios.error):
            plain = not termios.tcgetattr(master)[_OFLAG] & termios.OPOST
            if self._relays and plain != self._plain:
                modes = termios.tcgetattr(self._terminal)
                modes[_OFLAG] ^= termios.OPOST
                termios.tcsetattr(self._terminal, termios.TCSADRAIN, modes)
                self._plain = plain


def signals_of_keys(master: int) -> bool:
    """Whether keys are signals to a program: not while it reads each key by itself, as curses does."""
    try:
        return bool(termios.tcgetattr(master)[_LFLAG] & termios.ISIG)
    except termios.error:
        return False


def for_lines(modes: list[Any]) -> list[Any]:
    """Modes in which lines can be typed and shown, whatever a program has made of them."""
    own = list(modes)
    own[_IFLAG] |= termios.ICRNL
    own[_OFLAG] |= termios.OPOST | termios.ONLCR
    own[_LFLAG] |= termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN
    return own


def _key(character: bytes | int) -> bytes:
    key = character if isinstance(character, bytes) else bytes([character])
    return b"" if key == b"\0" else key


def copy_size(terminal: int, other: int) -> None:
    """Make another terminal as large."""
    with suppress(OSError):
        fcntl.ioctl(other, termios.TIOCSWINSZ, fcntl.ioctl(terminal, termios.TIOCGWINSZ, _SIZE))

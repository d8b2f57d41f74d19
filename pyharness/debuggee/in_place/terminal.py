"""The terminal of this program, where a prompt can be opened at it."""

from __future__ import annotations

import os
import termios
from contextlib import suppress

from pyharness.debuggee.unpatched import select
from pyharness.host.descriptors import above_streams
from pyharness.host.process_state import is_ending
from pyharness.host.terminal_turn import Turn, told
from pyharness.model.errors import HarnessError

_TERMINAL = "/dev/tty"
_LOOKS = 0.1
"""Seconds between two looks whether another prompt still stands here."""


class OwnTerminal:
    """The one that this program was started in, whatever its streams are: pytest and shells redirect those."""

    def __init__(self) -> None:
        """Open it; ``HarnessError`` where there is none, or where another has it now."""
        try:
            self.descriptor = above_streams(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
        except OSError:
            raise HarnessError(
                "This program has no terminal in which a prompt could be opened, as in a notebook or a batch job.",
                f"In a terminal of yours, `pyharness debug {os.getpid()}` opens one at it.",
            ) from None
        if os.tcgetpgrp(self.descriptor) != os.getpgrp():
            self._wait_for_others()
        if os.tcgetpgrp(self.descriptor) != os.getpgrp():
            self.close()
            raise HarnessError(
                "This program does not have its terminal now: it runs in the background, or a prompt has it already.",
                f"In another terminal, `pyharness debug {os.getpid()}` opens one at it.",
            )
        self._modes = termios.tcgetattr(self.descriptor)

    def _wait_for_others(self) -> None:
        """Wait where the prompt of another process stands here, until it does no more."""
        turn = Turn()
        if not turn.take():
            os.write(self.descriptor, told(os.getpid()))
        while not turn.take():
            select.select([], [], [], _LOOKS)
        turn.close()

    @property
    def is_let_go(self) -> bool:
        """Whether another group is in front, and the process that led it has died, or does.

        The program's own group may have lost its leader long ago, as in ``true | python train.py``.
        """
        try:
            front = os.tcgetpgrp(self.descriptor)
        except OSError:
            return False
        return front not in {0, os.getpgrp()} and is_ending(front)  # 0: one that no process here sees

    def take_back(self) -> None:
        """Be in front again, where whoever was dies there, or has; on a thread of ours, which no signal stops.

        Threads of the program go on as soon as this has returned, and may read from the terminal.
        """
        with suppress(OSError, termios.error):
            if self.is_let_go:
                os.tcsetpgrp(self.descriptor, os.getpgrp())
                termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self._modes)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)

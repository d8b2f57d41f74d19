"""What a log point prints: the condition that the controller makes of it (``debugger/python/lines.py``) calls this."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.bounded import told
from pyharness.debuggee.pydevd.hit_counts import due

if TYPE_CHECKING:
    from collections.abc import Callable

_failed: Counter[int] = Counter()


def logged(
    number: int, hits: str, condition: str, holds: Callable[[], Any], texts: list[str], *values: Callable[[], Any]
) -> bool:
    """Print the message of the log point ``number`` where it is due; ``False``, as nothing stops here.

    ``holds`` evaluates ``condition``; ``texts`` are the parts of the message around the ``values``, each asked for.
    """
    try:
        if not holds():
            return False
    except KeyboardInterrupt:  # Ctrl-C came to the program at this moment: it is the program's
        raise
    except BaseException as error:  # noqa: BLE001  (whatever the user's condition raises)
        _complain(number, condition, told(error))
        return False
    if due(number, hits):
        text = texts[0] + "".join(_text(value) + text for value, text in zip(values, texts[1:], strict=True))
        _send(f"{text}\n", "stdout", {"log": number})
    return False


def _text(value: Callable[[], Any]) -> str:
    try:
        return str(value())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever the user's expression raises)
        return f"<{told(error)}>"


def _complain(number: int, condition: str, problem: str) -> None:
    """Tell of a condition that raises, ever more rarely."""
    _failed[number] += 1
    often = f" ({_failed[number]} times so far)" if _failed[number] > 1 else ""
    if str(_failed[number]).strip("0") == "1":
        text = f"The condition {condition!r} of a log point raised {problem.rstrip('.')}{often}.\n"
        _send(text, "important", None)


def _send(text: str, category: str, data: dict[str, int] | None) -> None:
    import pydevd
    from _pydevd_bundle._debug_adapter.pydevd_schema import OutputEvent, OutputEventBody
    from _pydevd_bundle.pydevd_comm_constants import CMD_WRITE_TO_CONSOLE
    from _pydevd_bundle.pydevd_net_command import NetCommand

    debugger = pydevd.get_global_debugger()
    if debugger is not None:
        event = OutputEvent(OutputEventBody(text, category, data=data))
        debugger.writer.add_command(NetCommand(CMD_WRITE_TO_CONSOLE, 0, event, is_json=True))

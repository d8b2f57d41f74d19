"""What a model is called with, by name."""

from __future__ import annotations

from typing import Any

from pyharness.model.errors import UsageError


def inputs_of(reference: str | None, model: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by position and by name: of ``reference``, else of ``inputs`` in the file of ``model``."""
    from pyharness.fx.hashseeds.references import is_pass, resolve
    from pyharness.fx.theirs import theirs

    try:
        value = resolve(reference or f"{model.rpartition(':')[0]}:inputs")
    except UsageError as error:
        if reference:
            raise
        raise UsageError(f"With which inputs? {error.message}", "Name them: --inputs FILE.py:NAME.") from error
    if callable(value):
        if is_pass(value):
            raise UsageError("The function of the inputs takes arguments.", "Name one that gives them by itself.")
        with theirs(value):
            value = value()
    if isinstance(value, dict):
        return (), value
    return (value if isinstance(value, tuple) else (value,)), {}

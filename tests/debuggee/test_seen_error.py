"""The exception at which debugpy has stopped: told from another at the same address, which is the next one mostly."""

import pytest

from pyharness.debuggee.pydevd.stops import seen_error


def raised(error=None):
    """A new error, or this one, further out."""
    with pytest.raises(LookupError) as caught:
        raise error or LookupError
    return caught.value


def innermost(error):
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def test_it_is_known_further_out():
    error = raised()
    seen_error.note("exception", (LookupError, error, innermost(error)))
    assert seen_error.is_last(error)
    assert seen_error.is_last(raised(error))


def test_another_at_its_address_is_not_it():
    """Python gives the memory of an error to the next one; the same object stands for both here."""
    error = raised()
    trace = innermost(error)
    seen_error.note("exception", (LookupError, error, trace))
    assert not seen_error.is_last(raised(error.with_traceback(None)))


def test_what_plugins_hand_over_is_none():
    error = raised()
    seen_error.note("exception", (LookupError, error, innermost(error)))
    seen_error.note("exception", "an error of a template")
    assert seen_error.is_last(error)

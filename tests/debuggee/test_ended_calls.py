"""The trace function that sees a frame return: one for each frame, however many steps out have come to it."""

import sys

from kit import needs
from pyharness.debuggee.pydevd.steps.ended_calls import Watched, stop_at_return


@needs.TRACE_FUNCTIONS
def test_a_frame_of_a_loop_is_watched_once():
    frame, seen = sys._getframe(), []
    before, frame.f_trace = frame.f_trace, lambda *event: seen.append(event)
    try:
        for _ in range(3):
            stop_at_return(frame)
        watched = frame.f_trace
        assert isinstance(watched, Watched)
        assert not isinstance(watched.traced, Watched)
        assert watched(frame, "line", None) is watched
    finally:
        frame.f_trace = before
    assert seen == [(frame, "line", None)]

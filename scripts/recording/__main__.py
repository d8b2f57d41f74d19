"""Records a session at the prompt as an animated SVG: the picture in README.

Usage: python scripts/recording [FILE]. A shell runs in a terminal of its own, keys are pressed in it one by one, and
each screen becomes a frame. The program is the real one; only the pauses are set here, for whoever reads along. Run it
again where the prompt shows something else: tests/scripts/test_recording.py says when.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from recorder import ROOT, Recorder
from svg import drawn

FILE = ROOT / "docs" / "images" / "prompt.svg"
TITLE = "pyharness debug: from a generated line into C++ and back, at one prompt"
BEGIN = "pyharness debug examples/transformer.py --at fx:blocks.0.norm -- --steps 1"
LINES = (
    ("into native", 5.0),
    ("p wei[ght]", 2.5),
    ("bt", 5.0),
    ("out", 5.0),
    ("next module", 4.0),
    ("b RmsNorm::backward", 1.5),
    ("c", 5.0),
    ("node", 3.0),
    ("quit", 2.0),
)
"""What is typed at the prompt, and for how many seconds its answer is shown; Tab completes what is in brackets."""
STILL = "(ph) into native"
"""The line whose answer a viewer shows that does not move."""


def main() -> None:
    """Record, and write the picture."""
    file = Path(sys.argv[1]) if sys.argv[1:] else FILE
    with tempfile.TemporaryDirectory() as state:
        recorder = Recorder(Path(state))
        try:
            recorder.begin(BEGIN, 5.0)
            for line, seconds in LINES:
                recorder.answer(line, seconds)
        finally:
            recorder.end()
    still = next(number for number, frame in enumerate(recorder.frames) if STILL in frame.lines[:-1])
    file.write_text(drawn(recorder.frames, TITLE, still), encoding="utf-8")
    print(f"{file}: {len(recorder.frames)} frames, {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()

"""The picture of a session in README shows what the prompt shows now."""

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from kit import needs
from kit.paths import ROOT

PICTURE = ROOT / "docs" / "images" / "prompt.svg"
AGAIN = "`python scripts/recording` makes the picture again."
_SVG = "{http://www.w3.org/2000/svg}"
_CUT = "…"
_DIFFERS = (
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
    (re.compile(r"_[0-9a-f]{16}\b"), "_HASH"),  # of a generated file: another torch generates another
    (re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?…?"), "0"),
    (re.compile(r"(?:/[\w.@+-]+)*/(?=csrc/)"), ""),  # where the debug build was made, if not here
    (re.compile(r"\s+"), " "),
)


def screens(picture):
    """The lines of each frame, from top to bottom."""
    root = ET.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314  (our own)
    parts = {f"#{each.get('id')}": each for each in root.iter(f"{_SVG}g") if each.get("id")}
    (film,) = [each for each in root.iter(f"{_SVG}g") if each.get("class") == "film"]
    return [[text for _, text in sorted(texts(shot, parts))] for shot in film]


def texts(element, parts, y=0):
    """The texts in an element, with what it refers to, and where they stand."""
    for each in element:
        at = y + float(each.get("y") or 0)
        if each.tag == f"{_SVG}text":
            yield at, "".join(each.itertext())
        elif each.get("href") in parts:
            yield from texts(parts[each.get("href")], parts, at)


def alike(before, after):
    """Whether two lines are the same but for what another run, machine or torch shows otherwise."""
    for what, instead in _DIFFERS:
        before, after = what.sub(instead, before), what.sub(instead, after)
    if before.endswith(_CUT) and after.endswith(_CUT):  # where, is for what comes before it
        before, after = before.rstrip(_CUT), after.rstrip(_CUT)
        return before.startswith(after) or after.startswith(before)
    return before == after


def test_it_moves_without_javascript_and_names_no_machine():
    text = PICTURE.read_text(encoding="utf-8")
    assert "@keyframes" in text
    assert "<script" not in text
    assert PICTURE.stat().st_size < 150_000
    shown = "\n".join(line for lines in screens(PICTURE) for line in lines)
    assert not re.findall(r"(?<![\w./])/\w+.*", shown), "a path from the root of a machine"
    assert "docs/images/prompt.svg" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.rotated_tests(turns=5, number=1)
@pytest.mark.slow
@needs.a_fast_debugger
@needs.debug_information()
def test_it_shows_what_the_prompt_shows_now(tmp_path):
    now = tmp_path / "now.svg"
    recorded = subprocess.run(
        [sys.executable, ROOT / "scripts" / "recording", now],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert recorded.returncode == 0, recorded.stdout
    kept, made = screens(PICTURE), screens(now)
    assert len(kept) == len(made), AGAIN
    for before, after in zip(kept, made, strict=True):
        same = len(before) == len(after) and all(map(alike, before, after))
        assert same, "\n".join([AGAIN, "It shows", *before, "", "and now", *after])

"""Dialogues in a real terminal: what is typed, what is seen; each is saved, and its session file plays it again."""

import re
from pathlib import Path

import pytest

from kit import builds
from kit.command import PYHARNESS, environment_of, typed
from kit.dialogue import PROMPT, Dialogue
from kit.marks import marks
from kit.paths import PROGRAMS, search_path

TEXT = (Path(__file__).parent / "dialogues.txt").read_text(encoding="utf-8")
HEAD = re.compile(r"# (.*?)(?: \[(.+)\])?")
DIALOGUES = [part.splitlines() for part in re.split(r"(?m)^(?=# )", TEXT)[1:]]
ORDER = sorted(DIALOGUES, key=lambda dialogue: HEAD.fullmatch(dialogue[0])[2] or "")
"""The dialogues, those of one program one after the other: they share it."""


class Shared:
    """The prompt in a terminal, begun for one program, and kept until another is wanted, or a dialogue has failed."""

    def __init__(self, environment):
        self._environment = environment
        self._program = ""
        self._terminal = None

    def at(self, program):
        """The terminal, with no places set."""
        if self._program != program:
            self.end()
            command = [*PYHARNESS, "debug", str(PROGRAMS / program)]
            self._terminal = Dialogue(command, {**self._environment, "TERM": "dumb"}, columns=200, lines=50)
            self._program = program
            self._terminal.wait_for(PROMPT)
        for line in ("delete", "undisplay"):
            self._terminal.says(line)
        return self._terminal

    def end(self):
        """End it; the next dialogue has one of its own."""
        if self._terminal:
            self._terminal.end()
        self._terminal, self._program = None, ""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The one terminal of all dialogues."""
    begun = Shared(environment_of(tmp_path_factory.mktemp("state"), builds.crossing()))
    yield begun
    begun.end()


@pytest.fixture
def replayed(monkeypatch, capsys):
    """``replayed(FILE)``: what ``pyharness session run`` makes of it."""
    monkeypatch.setenv("PYTHONPATH", search_path(builds.crossing()))
    monkeypatch.setenv("COLUMNS", "200")
    return lambda file: typed(capsys, "session", "run", file)


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize("dialogue", ORDER, ids=[HEAD.fullmatch(each[0])[1] for each in ORDER])
def test_a_dialogue_is_as_written_and_its_session_file_plays_it(dialogue, shared, replayed, tmp_path):
    program = HEAD.fullmatch(dialogue[0])[2] or "prompted.py"
    lines = marks(builds.CROSSING) | marks(PROGRAMS / program)
    at, saved = shared.at(program), tmp_path / "saved.toml"
    try:
        number = "0"
        for line, expected in steps(dialogue[1:], lines):
            shown = at.says(line.replace("$", number))
            is_seen(shown, expected, line)
            number = (re.findall(r"(?m)^(\d+)  (?:breakpoint|temporary)  ", shown) or [number])[-1]
        assert "does this again" in at.says(f"save {saved}")
    except BaseException:
        shared.end()
        raise
    done = replayed(saved)
    assert done.returncode in {0, 7}, f"{saved.read_text()}\n{done.stdout}\n{done.stderr}"
    assert done.stdout.count("✓ as expected") == saved.read_text().count("[[step]]")
    assert "✗" not in done.stdout


def steps(written, lines):
    """What is typed, and what is to be seen then; a line that is empty is typed where something is seen after it."""
    said = [re.sub(r"@(\w+)", lambda mark: str(lines[mark[1]]), each) for each in written]
    found = []
    for index, line in enumerate(said):
        if line.startswith("    "):
            found[-1][1].append(line[4:])
        elif line or "".join(said[index + 1 : index + 2]).startswith("    "):
            found.append((line, []))
    return found


def is_seen(shown, expected, line):
    """Whether all of this is there in its order."""
    at = 0
    for each in expected:
        pattern = ".*?".join(map(re.escape, each.strip().split("…")))
        found = re.compile(pattern).search(shown, at)
        assert found, f"{each!r} is not seen after {line!r}:\n{shown}"
        at = found.end()


def test_there_are_forty():
    assert len(DIALOGUES) >= 40

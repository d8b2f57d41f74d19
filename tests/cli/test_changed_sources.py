"""Sources that were edited while the program runs: said once, in one sentence, and of no generated file."""

import os

import pytest

from pyharness.model.frames import Frame
from pyharness.model.text.changed_source import changed

SAID = "it.py has changed since the program started: the lines shown may not be those that run."
EDITS = "with open(__file__, 'a') as own:\n    own.write('# more')\nx = 1\ny = 2\n"


def test_a_step(pyharness, tmp_path):
    (tmp_path / "it.py").write_text(EDITS)
    done = pyharness("step", "it.py", "--at", "py:it.py:3", "--over", "--stack", cwd=tmp_path)
    assert (done.stdout.count("→"), done.stderr.count(SAID)) == (2, 1), done.stderr


def test_the_stack_of_a_process_and_the_prompt_at_it(pyharness, started, tmp_path):
    (tmp_path / "it.py").write_text(f"{EDITS}print('wrote', flush=True)\ninput()\n")
    program = started("run", "--name", "edited", "it.py", cwd=tmp_path)
    assert program.stdout.readline() == "wrote\n"
    for words in (("stack", str(program.pid)), ("debug", "edited", "-c", "up")):
        assert SAID in pyharness(*words, cwd=tmp_path).stderr, words


def test_what_the_program_itself_has_written_and_imported(pyharness, tmp_path):
    text = "from pathlib import Path\nPath('made.py').write_text('def f():\\n    return 1\\n')\nimport made\nmade.f()\n"
    (tmp_path / "it.py").write_text(text)
    environment = {**pyharness.environment, "PYTHONDONTWRITEBYTECODE": ""}
    done = pyharness("step", "it.py", "--at", "py:it.py:4", "--into", cwd=tmp_path, env=environment)
    assert ("→ 2 │     return 1" in done.stdout, done.stderr) == (True, "")


@pytest.mark.parametrize(("newer", "said"), [(1, "op.cpp is newer than op.so: "), (-1, "")])
def test_native_sources(tmp_path, monkeypatch, newer, said):
    monkeypatch.chdir(tmp_path)
    for name, at in (("op.so", 1000), ("op.cpp", 1000 + newer)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at, at))
    frame = Frame("native", "op", str(tmp_path / "op.cpp"), 1, library=str(tmp_path / "op.so"))
    assert changed(frame, 0, "the program started").startswith(said)
    assert bool(said) == bool(changed(frame, 0, "the program started"))


def test_no_lines_are_made_up_for_a_file_that_is_gone(pyharness, tmp_path):
    """Bytecode was shown as if it were the source; where Python optimizes, that took for ever, and all memory."""
    (tmp_path / "goes.py").write_text("import os\nos.remove(__file__)\nx = 1\nprint('over', x)\n")
    done = pyharness(
        "step", "goes.py", "--at", "py:goes.py:4", "--print", "x", env={**os.environ, "PYTHONOPTIMIZE": "1"}
    )
    assert "breakpoint · python · <module> · goes.py:4\n   x = 1\n" in done.stdout
    assert "over 1" in done.stdout
    assert done.returncode == 0, done.stderr

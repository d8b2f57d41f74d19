"""Programs that a limit leaves no room for a debugger: one sentence, and no traceback of ours."""

import sys

import pytest

LIMITED = '#!/bin/sh\nulimit -v 60000\nexec {python} "$@"\n'
SAYS = (
    "Python cannot be debugged in this program: RuntimeError: no memory for a thread\n"
    "A limit is too small for a debugger in it: `ulimit -v` shows that of memory"
)


@pytest.mark.parametrize("words", [("step", "--over"), ("debug",)], ids=lambda words: words[0])
def test_it_is_said_in_one_sentence(tmp_path, pyharness, words):
    limited, script = tmp_path / "python", tmp_path / "program.py"
    limited.write_text(LIMITED.format(python=sys.executable))
    limited.chmod(0o755)
    script.write_text("print('runs')\n")
    verb, *rest = words
    done = pyharness(verb, "--python", str(limited), *rest, str(script))
    assert done.returncode == 1
    assert done.stderr.partition("pyharness: ")[2].startswith(SAYS), done.stderr
    assert "Traceback" not in done.stderr + done.stdout

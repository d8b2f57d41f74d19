"""Log points at the prompt: they print and run on, are saved, and are missed where the program never came to them."""

import re

import pytest

from kit.dialogue import blocks
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=2)


def test_a_log_point_prints_and_runs_on(piped, line):
    done = piped([f'log py:prompted.py:{line["add"]} "now {{result}} of {{len(values)}}"', "c"])
    printed = re.findall(r"now \d of 3\n", blocks(done.stdout)["c"])  # the program's own output is written meanwhile
    assert printed == ["now 0 of 3\n", "now 2 of 3\n", "now 6 of 3\n"]


def test_a_message_has_quotes_and_braces_of_its_own(piped, line):
    done = piped([f'log py:prompted.py:{line["add"]} "say \\"{{\'}}\' + str(result)}}\\"!"', "c"])
    assert 'say "}0"!\n' in blocks(done.stdout)["c"], done.stderr


def test_a_place_and_its_condition_as_pdb_has_them(piped, line):
    done = piped([f"b {line['add']}, result == 2", "c", "p result", "p/x result"])
    shown = blocks(done.stdout)
    told = shown[f"b {line['add']}, result == 2"]
    assert re.search(rf"py:[~\w./-]*prompted.py:{line['add']} if result == 2", told)
    assert shown["p result"].strip() == "2"
    assert "`gdb p/x result`" in done.stderr


def test_a_saved_session_file_has_the_log_points(piped, line, tmp_path):
    file = tmp_path / "saved.toml"
    piped(
        [
            f'log py:prompted.py:{line["add"]} "now {{result}}"',
            f"b py:prompted.py:{line['returns']}",
            "c",
            f"save {file}",
        ]
    )
    text = file.read_text()
    assert f'[[log]]\nat = "py:{PROGRAMS}/prompted.py:{line["add"]}"\nmessage = "now {{result}}"\n' in text


def test_a_log_point_that_never_printed_is_told_of_as_a_breakpoint_is(piped, line):
    never, reached = (f"py:prompted.py:{line[mark]}" for mark in ("asked", "add"))
    for command in (f"""log {never} "x" """, f"b {never}"):
        done = piped([command, "log native:no_such_function 'x'", f"log {reached} 'y'", "c"])
        told = done.stderr.replace(f"{PROGRAMS}/", "")
        assert f"The program ended without reaching {never}" in told
        assert "No loaded native code has native:no_such_function." in told
        assert reached not in told

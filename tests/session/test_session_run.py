"""Session files played on a real program through the command line."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)


GOOD = """[program]
script = "{WORDS}"
args = ["5"]
exit_code = 5

[[step]]
at = "py:session_words.py:11 if word == 'or'"
print = ["total", "hex(id(word))"]
expect = { function = "count", source = "~len(word)", reason = "breakpoint", printed = { word = "^'or'$" } }

[[step]]
out = true
expect = { function = "<module>", stack_contains = ["<module>"] }

[[step]]
continue = true
expect.reason = "ended"
"""


def test_a_session_whose_expectations_hold_exits_0(session, pyharness):
    result = pyharness("session", "run", session(GOOD))
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("✓ as expected") == 3
    assert "total = 4" in result.stdout


def test_the_json_has_the_expectations_too(session, pyharness):
    data = json.loads(pyharness("session", "run", session(GOOD), "--json").stdout)
    assert [stop["function"] for stop in data["stops"]] == ["count", "<module>"]
    assert [(each["step"], each["line"], each["holds"]) for each in data["expectations"]] == [
        (1, 9, True),
        (2, 13, True),
        (3, 17, True),
    ]
    assert data["exit_code"] == 5


def test_an_expectation_that_fails_shows_the_difference_and_the_session_goes_on(session, pyharness):
    file = session(GOOD.replace('function = "count"', 'function = "cuont"').replace("\"^'or'$\"", '"~be"'))
    result = pyharness("session", "run", file)
    assert result.returncode == 1
    words = result.stdout.split()
    assert "✗ not as expected (line 9)" in result.stdout
    first = words.index("wanted") - 1
    assert words[first : first + 5] == ["function", "wanted", "cuont", "got", "count"]
    assert "printed.word  wanted ~be\n" in result.stdout
    assert result.stdout.count("✓ as expected") == 2


def test_another_exit_code_than_expected_fails(session, pyharness):
    data = json.loads(
        pyharness("session", "run", session(GOOD.replace("exit_code = 5", "exit_code = 6")), "--json").stdout
    )
    assert data["expectations"][-1]["line"] == 4
    assert data["expectations"][-1]["mismatches"][0]["key"] == "exit_code"


def test_a_program_that_ends_too_early_is_an_error_not_a_traceback(session, pyharness):
    text = GOOD.replace("expect.reason", "print = 'x'\nexpect.reason")
    result = pyharness("session", "run", session(text))
    assert result.returncode == 1
    assert "Nothing to look at after step 3 (continue): the program ended with exit code 5." in result.stderr
    assert "Traceback" not in result.stderr


def test_a_session_can_be_checked_without_running_it(session, pyharness):
    result = pyharness("session", "check", session(GOOD))
    assert (result.returncode, result.stderr) == (0, "")
    assert "3 steps" in result.stdout
    result = pyharness("session", "check", session(GOOD.replace("script =", "scrpt =")))
    assert result.returncode == 2
    assert "it.toml:2: there is no key 'scrpt' here.\nDid you mean script?" in result.stderr
    assert pyharness("session", "check", session(GOOD.replace("{WORDS}", "{WORDS}x"))).returncode == 2


@pytest.mark.rotated
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_session_gives_the_same_transcript_each_time(session, pyharness, form):
    file = session(GOOD)
    with ThreadPoolExecutor(2) as pool:
        outputs = {result.stdout for result in pool.map(lambda _: pyharness("session", "run", file, *form), range(6))}
    assert len(outputs) == 1

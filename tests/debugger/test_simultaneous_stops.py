"""Several threads of Python come to a breakpoint at once: each of them stops, or logs, one after the other."""

import pytest

import pyharness

pytestmark = pytest.mark.rotated_tests(turns=2)

SCRIPT = """import threading
together = threading.Barrier(3)
def work(number):
    together.wait()
    doubled = number * 2
    return doubled
threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""

HELD_AS_IT_LOGS = """import threading, time
inside = threading.Event()
def held(number):
    if number:
        inside.set()
        while threading.current_thread().additional_info.pydev_state != 2:  # pydevd's STATE_SUSPEND
            time.sleep(0.001)
    return number
def work(number):
    if not number:
        inside.wait()
    doubled = number * 2
    return doubled
threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "meets.py"
    path.write_text(SCRIPT)
    return path


def numbers(program, places):
    found = []
    for place in places:
        stop = program.run_to(place)
        found.append((stop.frame.line, program.evaluate("number")))
    return found


def test_each_thread_stops(script):
    with pyharness.debug(str(script)) as program:
        stops = numbers(program, [f"py:{script}:5"] * 3)
        assert sorted(stops) == [(5, "0"), (5, "1"), (5, "2")]
        assert program.finish() == 0


def test_a_place_that_is_wanted_no_more(script):
    with pyharness.debug(str(script)) as program:
        first, *others = numbers(program, [f"py:{script}:5", *[f"py:{script}:6"] * 3])
        assert first[0] == 5
        assert sorted(others) == [(6, "0"), (6, "1"), (6, "2")]
        assert program.finish() == 0


def test_each_thread_logs_and_is_asked_its_condition(script):
    heard = []
    with pyharness.debug(str(script)) as program:
        program.log(f"py:{script}:5", "{number}", to=heard.append)
        program.set_breakpoint(f"py:{script}:5 if number != 1")
        assert program.resume().frame.line == 5
        assert program.resume().frame.line == 5
        assert program.resume() is None
    assert sorted(heard) == ["0", "1", "2"]


def test_a_thread_that_is_held_right_behind_its_log_line_logs_once(tmp_path):
    path = tmp_path / "held.py"
    path.write_text(HELD_AS_IT_LOGS)
    heard = []
    with pyharness.debug(str(path)) as program:
        program.log(f"py:{path}:12", "{held(number)}", to=heard.append)
        program.set_breakpoint(f"py:{path}:12 if number == 0")
        assert program.resume().frame.line == 12
        assert program.resume() is None
    assert sorted(heard) == ["0", "1"]


def test_a_step_of_one_thread_does_not_carry_the_others_past_theirs(script):
    with pyharness.debug(str(script)) as program:
        program.set_breakpoint(f"py:{script}:5")
        stood = set()
        stop = program.resume()
        while stop is not None:
            if stop.reason == "breakpoint":
                stood.add(program.evaluate("number"))
            stop = program.over() if len(stood) < 3 else program.resume()
    assert stood == {"0", "1", "2"}

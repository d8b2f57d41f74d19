"""What an agent has of ``pyharness mcp``: sessions that stop, run, pause, end; roots; pages; errors with a remedy."""

import os
import signal
import time

import pytest

from kit.marks import line_of
from kit.mcp_client import served
from kit.paths import PROGRAMS
from kit.processes import ends_within

PROGRAM = PROGRAMS / "served.py"
SHOWN = f"py:{PROGRAM.name}:{line_of('shown', PROGRAM)}"
LONGEST = 3340


@pytest.fixture(scope="module")
def server():
    with served(PROGRAMS) as client:
        yield client


@pytest.fixture
def start(server):
    """``start(...)``: a session that ends with the test."""
    begun = []

    def run(**arguments):
        answer = server.call("start", script=PROGRAM.name, **arguments)
        assert not answer.is_error, answer.text
        begun.append(answer.told["session"])
        return answer

    yield run
    for session in begun:
        server.call("end", session=session)


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def running(client, file, start=None):
    """A session whose program waits for that file; one of ``start`` ends with its test."""
    arguments = {"args": [str(file)], "run": True, "timeout_s": 0.3}
    told = (start(**arguments) if start else client.call("start", script=PROGRAM.name, **arguments)).told
    while not told["output"] and told["state"] == "running":  # it is still being started
        told = client.call("go", session=told["session"], how="wait", timeout_s=0.3).told
    return told


def test_at_most_nine_tools_each_with_schemas_and_what_it_may_do(server):
    tools = {each.name: each for each in server.begin(server.session.list_tools()).result(30).tools}
    assert len(tools) <= 9
    assert {name for name, each in tools.items() if each.annotations.read_only_hint} == {"stack", "doctor"}
    assert {name for name, each in tools.items() if each.annotations.destructive_hint} == {"end"}
    assert all(each.input_schema["additionalProperties"] is False and each.output_schema for each in tools.values())
    assert all(each.description for each in tools.values())


def test_a_stop_is_whole_and_short(start, server):
    answer = start(breakpoints=[SHOWN])
    told = answer.told
    assert (told["state"], told["reason"]) == ("stopped", "breakpoint")
    assert told["at"]["function"] == "shown"
    assert told["at"]["line"] == line_of("shown", PROGRAM)
    assert told["changed"]["number"] == "0"
    assert told["output"] == "begins\n"
    assert [line.split()[1] for line in told["stack"]] == ["shown", "main", "<module>"]
    assert len(answer.text) <= LONGEST
    again = server.call("go", session=told["session"])
    assert again.told["changed"] == {"number": "1"}
    assert again.told["output"] == "sum 9000\n"


def test_values_and_the_rest_of_a_long_one_by_cursor(start, server):
    session = start(breakpoints=[SHOWN]).told["session"]
    answer = server.call("look", session=session, expressions=["text", "number + 1", "nosuch"])
    assert answer.told["values"]["number + 1"] == "1"
    assert "NameError" in answer.told["values"]["nosuch"]
    texts, cursor = [answer.text], answer.told["cursor"]
    while cursor:
        page = server.call("look", cursor=cursor)
        texts.append(page.text)
        cursor = page.told["cursor"]
    assert "x" * 9000 in "".join(text.partition("\n… more")[0] for text in texts)
    assert all(len(text) <= LONGEST for text in texts)
    assert "The last ones are" in server.error("look", cursor="c999").text


def test_what_runs_is_waited_for_paused_and_given_breakpoints(start, server, tmp_path):
    told = running(server, tmp_path / "go", start)
    session = told["session"]
    assert told["state"] == "running"
    assert server.call("go", session=session, how="wait", timeout_s=0.1).told["state"] == "running"
    assert 'how="pause"' in server.error("look", session=session, show=["locals"]).text
    placed = server.call("breakpoints", session=session, set=[{"where": SHOWN, "once": True}])
    assert placed.told["breakpoints"][0]["where"].endswith(SHOWN.removeprefix("py:"))
    paused = server.call("go", session=session, how="pause")
    assert (paused.told["state"], paused.told["reason"]) == ("stopped", "pause")
    (tmp_path / "go").touch()
    assert server.call("go", session=session).told["at"]["function"] == "shown"
    over = server.call("go", session=session)
    assert (over.told["state"], over.told["exit_code"]) == ("ended", 0)
    assert over.told["output"].endswith("ends\n")
    assert "has ended" in server.error("go", session=session).text


def test_a_pause_ends_counted_steps(start, server, tmp_path):
    session = start(
        args=[str(tmp_path / "never")], breakpoints=[f"py:{PROGRAM.name}:{line_of('waits', PROGRAM)}"]
    ).told["session"]
    server.call("breakpoints", session=session, remove=[1])
    assert server.call("go", session=session, how="over", count=1000, timeout_s=0.3).told["state"] == "running"
    assert server.call("breakpoints", session=session, set=[{"where": SHOWN}]).told["breakpoints"]
    begun = time.monotonic()
    paused = server.call("go", session=session, how="pause")
    assert paused.told["state"] == "stopped"
    assert time.monotonic() - begun < 1
    assert len(paused.text) < 20000


def test_a_stop_is_told_to_each_call_that_waits_for_it(start, server, tmp_path):
    session = running(server, tmp_path / "never", start)["session"]
    waits = server.begin(server.calling("go", {"session": session, "how": "wait"}))
    paused = server.call("go", session=session, how="pause")
    answers = (paused.text, waits.result(30).text)
    assert all("pause" in text for text in answers), answers


def test_a_process_may_be_named_by_a_number(server):
    assert "There is no process 4194304" in server.error("start", process=1 << 22).text


def test_sessions_are_apart(start, server):
    one, other = start(breakpoints=[SHOWN]).told, start(breakpoints=[SHOWN]).told
    server.call("go", session=one["session"])
    values = [server.call("look", session=each["session"], expressions=["number"]) for each in (one, other)]
    assert [each.told["values"]["number"] for each in values] == ["1", "0"]
    assert one["session"] in server.error("look", session=one["session"] + "x").told["remedy"]


def test_a_call_that_is_cancelled_ends_the_expression_and_nothing_else(start, server, tmp_path):
    session = start(breakpoints=[SHOWN]).told["session"]
    begins = tmp_path / "begun"
    waits = {"session": session, "expressions": [f"(open({str(begins)!r}, 'w').close(), [0 for _ in iter(int, 1)])"]}
    calling = server.begin(server.calling("look", waits))
    while not begins.exists():
        time.sleep(0.01)
    begun = time.monotonic()
    calling.cancel()
    assert server.call("look", session=session, expressions=["number"]).told["values"]["number"] == "0"
    assert time.monotonic() - begun < 3
    assert server.call("go", session=session).told["state"] == "stopped"


@pytest.mark.rotated_tests(turns=5, number=0)
def test_detached_a_program_runs_on(server, tmp_path):
    told = running(server, tmp_path / "go")
    ended = server.call("end", session=told["session"], how="detach").told
    assert ended["runs_on"]
    assert runs(told["pid"])
    (tmp_path / "go").touch()
    assert ends_within(told["pid"], 30)  # the folder goes with the test, and the program would wait for ever


@pytest.mark.rotated_tests(turns=5, number=1)
def test_all_programs_end_with_the_client(tmp_path):
    with served(PROGRAMS) as client:
        wait = {"script": PROGRAM.name, "args": [str(tmp_path / "never")]}
        pids = [client.call("start", **wait).told["pid"], running(client, tmp_path / "never")["pid"]]
        assert all(map(runs, pids))
    assert all(ends_within(pid, 5) for pid in pids)


def test_paths_outside_of_the_roots_are_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out.py").write_text("print(1)")
    (tmp_path / "in" / "link.py").symlink_to(tmp_path / "out.py")
    with served(tmp_path / "in") as client:
        for script in ("../out.py", str(tmp_path / "out.py"), "link.py"):
            error = client.error("start", script=script)
            assert error.told["code"] == "outside_roots"
            assert "--root" in error.told["remedy"]
        assert client.error("check", what="verify", names=["../out.py:f"]).told["code"] == "outside_roots"
        assert client.error("start", core="/etc/passwd").told["code"] == "outside_roots"
        for what in ("crash", "trace"):
            answer = client.call("check", what=what, script="--cwd=..", args=["out.py"])
            assert "./--cwd=.." in answer.text, "a script's name is no option"
            assert "1\n" not in answer.text
        assert client.error("start", script="x.py", cwd="/").told["code"] == "outside_roots"
    with served(tmp_path / "in", roots=[tmp_path]) as client:
        assert client.call("start", script="out.py").told["state"] == "stopped"
    with served(tmp_path / "in", "--root", str(tmp_path)) as client:
        assert client.call("start", script="out.py").told["state"] == "stopped"


@pytest.mark.parametrize(
    ("tool", "arguments", "message", "remedy"),
    [
        ("stat", {}, "There is no tool 'stat'.", "start"),
        ("start", {}, "one program", "script, module, process, core"),
        ("start", {"script": "servd.py"}, "There is no script", "served.py"),
        ("start", {"scrip": "served.py"}, "start takes no 'scrip'.", "Did you mean script?"),
        ("start", {"script": "served.py", "breakpoints": ["pyt:served.py:3"]}, "pyt:served.py:3", "py:"),
        ("start", {"script": "served.py", "breakpoints": ["py:served.py:9999"]}, "after the last line", ""),
        ("start", {"process": "99999999"}, "99999999", ""),
        ("start", {"core": "served.py"}, "is not a core file", ""),
        (
            "start",
            {"script": "served.py", "breakpoints": [{"where": "f"}]},
            "a valid string.",
            "It was {'where': 'f'}.",
        ),
        ("breakpoints", {"session": "s1", "set": ["f"]}, "a valid dictionary.", "It was 'f'."),
        ("go", {"how": "ino"}, "how: ", "into"),
        ("go", {"timeout_s": -1}, "timeout_s", ""),
        ("go", {}, "Which session?", "start begins one."),
        ("check", {"what": "verify"}, "verify takes the model", "names"),
        ("check", {"what": "nan", "names": ["a:b"]}, "nan takes no names", ""),
        ("graph", {}, "Which program?", "script"),
        ("stack", {"process": "1", "ranks": "all"}, "one of", ""),
        ("stack", {"core": "served.py"}, "is not a core file", ""),
        ("stack", {"process": "nosuchprocess"}, "nosuchprocess", ""),
        ("doctor", {"process": "nosuchprocess"}, "nosuchprocess", ""),
    ],
    ids=str,
)
def test_errors_name_the_remedy(tool, arguments, message, remedy, server):
    error = server.error(tool, **arguments)
    assert message in error.told["message"]
    assert remedy in error.text
    assert "bug" not in error.told["code"]
    assert "Traceback" not in error.text


def test_a_check_that_compares_nothing_finds_no_difference(tmp_path):
    (tmp_path / "raises.py").write_text('raise ValueError("at import")\n')
    with served(tmp_path) as client:
        error = client.error("check", what="determinism", names=["raises.py:Net", "raises.py:fuse"])
    assert "cannot be imported: ValueError: at import" in error.told["message"]
    assert "mend it first" in error.told["remedy"]


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [("graph", {"what": "nodes"}, "call_module"), ("check", {"what": "trace"}, "aten::linear")],
)
def test_what_a_program_prints_is_behind_the_answer(server, tool, arguments, answer):
    text = server.call(tool, script="prints_much.py", **arguments).text
    assert answer in text.partition("the program printed:")[0]
    assert "step 3 loss" not in text
    assert len(text) < LONGEST


def test_who_overwrites_a_saved_tensor_is_told(tmp_path):
    (tmp_path / "data.py").write_text(
        "import torch\ny = torch.ones(3, requires_grad=True) * 1\nz = y.sin()\ny.data.add_(1)\nz.sum().backward()\n"
    )
    with served(tmp_path) as client:
        answer = client.call("check", what="overwritten", script="data.py")
    assert answer.told["meaning"].startswith("one was")
    assert "data.py:4" in answer.text
    assert "SinBackward0 takes a tensor that was overwritten after it was saved" in answer.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"args": ["a", "\0"]}, "args: No file and no program can be given a NUL character."),
        ({"cwd": "x\0"}, "cwd: No file"),
        ({"args": ["x" * 200_000]}, "too long for the kernel"),
    ],
    ids=["NUL", "NUL in a folder", "too long"],
)
@pytest.mark.parametrize("tool", ["start", "check"])
def test_what_no_program_can_be_given_is_refused(tool, arguments, message, server):
    error = server.error(tool, script=PROGRAM.name, **arguments)
    assert message in error.told["message"]


def test_a_root_of_another_host_or_with_a_nul_is_none(tmp_path):
    roots = ["file://elsewhere/tmp", f"file://{tmp_path}/%00", tmp_path.as_uri()]
    with served(tmp_path, roots=roots) as client:
        assert str(tmp_path) in client.error("start", script="/tmp/x.py").text  # noqa: S108


def test_a_check_that_takes_too_long_says_where_the_program_was(server, tmp_path):
    arguments = {"script": PROGRAM.name, "args": [str(tmp_path / "never")], "timeout_s": 1.2}
    answer = server.call("check", what="crash", **arguments)
    assert answer.told["meaning"].startswith("it still ran after 1.2 s, and was ended")
    assert f"served.py:{line_of('waits', PROGRAM)}" in answer.text


def test_output_reports_and_generated_code_are_resources(start, server):
    session = start(breakpoints=[SHOWN]).told["session"]
    listed = server.begin(server.session.list_resources()).result(30).resources
    uri = f"pyharness://{session}/output.txt"
    assert uri in {str(each.uri) for each in listed}
    (content,) = server.begin(server.session.read_resource(uri)).result(30).contents
    assert content.text == "begins\n"
    with pytest.raises(Exception, match="no resource"):
        server.begin(server.session.read_resource("pyharness://s1/../../etc/passwd")).result(30)


def test_a_long_start_tells_its_progress(start):
    assert start(breakpoints=[SHOWN]).progress


@pytest.mark.rotated_tests(turns=5, number=2)
def test_a_server_that_is_told_to_end_takes_its_programs_along(tmp_path):
    with served(PROGRAMS) as client:
        told = client.call("start", script=PROGRAM.name, args=[str(tmp_path / "never")]).told
        parent = int(next(line for line in _status(told["pid"]) if line.startswith("PPid")).split()[1])
        os.kill(parent, signal.SIGTERM)
        assert ends_within(told["pid"], 5)


def _status(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:  # noqa: PTH123
        return status.readlines()

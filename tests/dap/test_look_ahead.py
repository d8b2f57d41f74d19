"""What gdb reads before an editor asks for it is what it would read then: after a step, an assignment, in haste."""

from debugging import Debugging

from kit.marks import line_of


def shown(program, thread):
    """What an editor asks for at each stop, in its order: the frame that it opens, and that one's arguments."""
    program.client.request("threads")
    top = program.stack(thread)[0]
    (arguments,) = (scope for name, scope in program.scopes(top["id"]).items() if name == "Arguments")
    return top, arguments, values(program, arguments)


def values(program, scope):
    return {each["name"]: each["value"] for each in program.children(scope)}


def standing_in_scaled(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch(native=("held",))
    stood = program.into(program.stood())
    assert (stood.function, program.at(stood)) == ("crossing::scaled", "scaled")
    return program, stood


def test_each_stop_shows_its_own_values(dap):
    program, stood = standing_in_scaled(dap)
    assert shown(program, stood.thread)[2] == {"value": "1", "factor": "2"}
    for where, expected in (("scaled_return", {"value": "1", "factor": "2"}), ("held", {"value": "1"})):
        program.client.request("next" if where != "held" else "stepOut", threadId=stood.thread)
        body = program.client.event("stopped")
        top, _, found = shown(program, body["threadId"])
        assert (top["line"], found) == (program.native_line(where), expected)
    program.set_lines(program.extension, [])
    program.client.request("continue", threadId=stood.thread)
    assert program.run_out() == 7
    program.leave()


def test_a_change_between_two_looks_is_seen(dap):
    program, stood = standing_in_scaled(dap)
    top, arguments, found = shown(program, stood.thread)
    assert found == {"value": "1", "factor": "2"}
    assert program.evaluate("value = 7", top["id"], "repl") == "7"
    _, arguments, found = shown(program, stood.thread)
    assert found == {"value": "7", "factor": "2"}
    reference = arguments["variablesReference"]
    program.client.request("setVariable", variablesReference=reference, name="factor", value="5")
    assert values(program, arguments)["factor"] == "5"
    program.client.request("threads")
    program.stack(stood.thread)  # gdb reads the arguments now
    assert program.evaluate("value = 8", top["id"], "repl") == "8"
    assert shown(program, stood.thread)[2] == {"value": "8", "factor": "5"}
    program.leave()


def test_a_step_in_haste_gets_the_answers_of_its_own_stop(dap):
    """A client that waits for no answer before it steps gets them all, and none of an earlier stop."""
    program, stood = standing_in_scaled(dap)
    top = shown(program, stood.thread)[0]
    program.client.request("next", threadId=stood.thread)
    program.client.event("stopped")
    posted = [program.client.post("threads"), program.client.post("stackTrace", threadId=stood.thread)]
    posted.append(program.client.post("stepOut", threadId=stood.thread))
    assert all(program.client.response(number)["success"] for number in posted)
    stood = program.stood()
    assert (stood.function, stood.line) == ("crossing::held", line_of("held", program.extension))
    assert "no frame" in program.client.refused("scopes", frameId=top["id"])
    assert shown(program, stood.thread)[2] == {"value": "1"}
    program.leave()

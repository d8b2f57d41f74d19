"""Child processes as sessions of their own, or left alone, as the launch says and as the client can."""

import queue
import time

import pytest
from debugging import EXTENSION, Debugging

from kit.ranked_job import free_port

pytestmark = pytest.mark.rotated_tests(turns=6)


PATIENCE = 60


def launched(client, script, *words, answer=None, supported=True, **arguments):
    """A parent, and the queue of the sessions that the client is asked to start."""
    asked = queue.SimpleQueue()

    def start(request):
        asked.put(request)
        return answer or {}

    client.reverse["startDebugging"] = start
    program = Debugging(client, script)
    program.initialize(supportsStartDebuggingRequest=supported)
    client.post("launch", program=program.script, args=list(words), **arguments)
    client.event("initialized")
    return program, asked


def child_of(asked, client, script, *marks, native=()):
    """The session that the client was asked to start, with its breakpoints; it runs then."""
    request = asked.get(timeout=PATIENCE)
    configuration = request["configuration"]
    assert (request["request"], configuration["request"]) == ("attach", "attach")
    child = Debugging(client, script)
    child.initialize(supportsStartDebuggingRequest=True)
    answer = client.post("attach", **configuration)
    client.event("initialized")
    child.configure(marks, native)
    assert client.response(answer)["success"]
    process = client.event("process")
    assert str(process["systemProcessId"]) in configuration["name"]
    return child


@pytest.mark.rotated
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_child_is_debugged_in_both_languages_beside_its_parent(dap, way):
    client = dap.tcp()
    parent, asked = launched(client, "dap_children.py", way, subProcess="debug", token=dap.token)
    parent.configure(native=("held",))
    at_parent = parent.stood()
    assert parent.evaluate("value", at_parent.frame) == "1"
    child = child_of(asked, dap.connect(), "dap_children.py", "work", native=("scaled",))
    stood = child.stood()
    assert (stood.function, child.at(stood), child.evaluate("number", stood.frame)) == ("work", "work", "20")
    assert stood.thread != at_parent.thread
    stood = child.run_on(stood)
    assert (stood.function, child.evaluate("value", stood.frame)) == ("crossing::scaled", "20")
    assert "work" in [frame["name"] for frame in child.stack(stood.thread)]
    child.set_lines(EXTENSION, [])
    stood = child.out(child.out(stood))
    assert (child.at(stood), child.evaluate("doubled", stood.frame)) == ("worked", "41")
    assert child.run_out(stood) == 0
    child.leave()
    parent.set_lines(EXTENSION, [])
    assert parent.run_out(at_parent) == 7
    assert parent.output().split("\n")[-3:] == ["child 41", "parent of 0", ""]
    parent.leave()


def test_the_workers_of_a_data_loader(dap):
    parent, asked = launched(dap.stdio(), "attach_ranks.py", subProcess="debug")
    parent.configure()
    first = child_of(asked, dap.stdio(), "attach_ranks.py", "item")
    second = child_of(asked, dap.stdio(), "attach_ranks.py", "item")
    indices = []
    for worker in (first, second):
        stood = worker.stood()
        assert stood.function == "__getitem__"
        indices.append(worker.evaluate("index", stood.frame))
    assert sorted(indices) == ["0", "2"]  # whichever was first
    second.leave()  # it runs on
    first.set_lines(first.script, [])
    first.client.request("continue", threadId=first.client.request("threads")["threads"][0]["id"])
    assert parent.run_out() == 0
    assert parent.output() == "[[0, 1], [4, 9]]\n"
    parent.leave()


LEFT = {
    "by default": ({}, {}, ""),
    "by name": ({"subProcess": "leave"}, {}, ""),
    "of a client without child sessions": ({"subProcess": "debug"}, {"supported": False}, "has no child sessions"),
    "of a client that fails": ({"subProcess": "debug"}, {"answer": "no window"}, ""),
}


@pytest.mark.rotated
@pytest.mark.parametrize("case", LEFT)
def test_children_that_run_on(dap, case):
    arguments, options, said = LEFT[case]
    parent, asked = launched(dap.stdio(), "dap_children.py", "fork", **options, **arguments)
    parent.configure()
    assert parent.run_out() == 7
    assert parent.output() == "child 41\nparent of 0\n"
    assert asked.empty() == ("answer" not in options)
    assert said in parent.output("console")
    parent.leave()


def test_a_child_that_waits_goes_on_when_its_parents_client_leaves(dap):
    parent, asked = launched(dap.stdio(), "dap_children.py", "fork", subProcess="debug")
    parent.configure(marks=("parent",))
    stood = parent.stood()
    asked.get(timeout=PATIENCE)
    assert parent.at(stood) == "parent"
    parent.leave(terminateDebuggee=False)
    assert not dap.wait_gone()


def test_of_a_job_the_ranks_that_are_named_become_sessions(dap):
    """The others run on, and do not give up while this one stands for longer than their timeout."""
    client = dap.tcp()
    words = ("3", "spawn", str(free_port()))
    parent, asked = launched(client, "ranks/trains.py", *words, ranks="1", token=dap.token)
    parent.configure()
    child = child_of(asked, dap.connect(), "ranks/trains.py", "reduced")
    stood = child.stood()
    assert (child.at(stood), child.evaluate("rank", stood.frame)) == ("reduced", "1")
    time.sleep(4)
    child.set_lines(child.script, [])
    assert child.run_out(stood) == 0
    assert parent.run_out() == 0
    assert asked.empty()


def test_ranks_that_are_none_are_refused(dap):
    client = dap.tcp()
    program = Debugging(client, "ranks/trains.py")
    program.initialize()
    answer = client.post("launch", program=program.script, ranks="first", token=dap.token)
    said = client.response(answer)
    assert not said["success"]
    assert "'first' names no ranks." in said["message"]

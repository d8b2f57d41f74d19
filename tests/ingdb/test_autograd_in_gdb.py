"""The autograd node that each native thread runs, on a torch without debug information, live and in a core."""

import pytest
from tensor_session import looked_at

pytestmark = pytest.mark.rotated_tests(turns=6, number=1)


@pytest.fixture(params=["live", "core"])
def threads(tmp_path_factory, request):
    return looked_at(tmp_path_factory.getbasetemp())[request.param]["threads"]


def thread_of(threads, name):
    return next(one for one in threads if one["current"] and one["current"]["name"] == name)


def test_only_threads_in_a_backward_have_a_node(threads):
    names = sorted(one["current"]["name"] for one in threads if one["current"])
    assert names == ["MulBackward0", "WaitsBackward", "tensor_kernel::Waiting"]
    assert len(threads) > len(names)


def test_a_generated_node_of_torch(threads):
    thread = thread_of(threads, "MulBackward0")
    assert [(function, node["name"]) for function, node in thread["running"]] == [
        ("torch::autograd::generated::MulBackward0::apply", "MulBackward0")
    ]
    assert thread["current"]["number"] is not None


def test_a_function_written_in_python_has_its_name(threads):
    thread = thread_of(threads, "WaitsBackward")
    assert [function for function, _ in thread["running"]] == ["torch::autograd::PyNode::apply"]


def test_outer_nodes_are_found_where_there_is_debug_information(threads):
    thread = thread_of(threads, "tensor_kernel::Waiting")
    running = {function: node for function, node in thread["running"] if function.startswith("tensor_kernel::")}
    assert [node["name"] for node in running.values()] == ["tensor_kernel::Waiting", "tensor_kernel::Nesting"]
    assert running["tensor_kernel::Waiting::apply"] == thread["current"]


def test_no_frame_but_one_shows_a_node(threads):
    for thread in threads:
        addresses = [node["address"] for _, node in thread["running"]]
        assert len(addresses) == len(set(addresses))

"""The page of a report, without a browser: what it holds, and that no name in it is markup."""

from hostile_graph import HOSTILE
from made_report import a_report
from test_page import Parts

from pyharness.aftermath.page import page
from pyharness.aftermath.writing import name_of


def test_threads_frames_and_variables():
    data = Parts(page(a_report())).data
    assert (data["program"], data["what"]) == ("train.py", "SIGSEGV (Segmentation fault) at 0x0: a null pointer")
    first, second = data["threads"]
    assert [frame["function"] for frame in first["frames"]] == ["kernel", "dispatch", "forward"]
    assert first["frames"][0]["variables"] == [["table", "0x0"]]
    assert [number for number, _text in first["frames"][2]["source"]][:2] == [1, 2]
    assert second["title"] == 'Thread 12 "loader"'


def test_names_are_never_markup():
    harmless = [tag for tag, _ in Parts(page(a_report())).tags]
    parts = Parts(page(a_report(HOSTILE)))
    assert [tag for tag, _ in parts.tags] == harmless
    assert parts.data["threads"][0]["frames"][0]["variables"][0][0] == HOSTILE


def test_a_name_of_the_programs_is_no_path():
    report = a_report("../../etc/passwd <b>")
    assert "/" not in name_of(report)
    assert " " not in name_of(report)

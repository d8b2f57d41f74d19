"""The page of a job's ranks, without a browser: what it holds, and that no name in it is markup."""

from hostile_graph import HOSTILE
from test_page import Parts

from kit.made_job import a_job
from pyharness.ranks.blame.judging import judge
from pyharness.ranks.shown.page import page


def parts_of(job):
    return Parts(page(job, judge(job)))


def test_the_tree_the_table_and_the_threads():
    data = parts_of(a_job(4, culprit=1)).data
    assert data["verdict"]["culprits"] == [1]
    assert [node["text"] for node in data["tree"]] == ["main"]
    assert [child["ranks"] for child in data["tree"][0]["children"]] == ["0", "1", "2", "3"]
    (group,) = data["groups"]
    assert (group["name"], group["numbers"]) == ("default_pg", [1, 2])
    states = {row["ranks"]: [cell["state"] for cell in row["cells"]] for row in group["rows"]}
    assert states == {"0,2-3": ["over", "open"], "1": ["over", "absent"]}
    assert "clock_nanosleep" in data["stacks"][data["ranks"][1]["threads"][0][1]]


def test_names_are_never_markup():
    harmless = [tag for tag, _ in parts_of(a_job(4, culprit=1)).tags]
    parts = parts_of(a_job(4, culprit=1, name=HOSTILE))
    assert [tag for tag, _ in parts.tags] == harmless
    assert parts.data["tree"][0]["children"][0]["text"] == f"{HOSTILE}0"

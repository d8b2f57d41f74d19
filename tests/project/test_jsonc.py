"""JSON with comments: read like JSON, and added to without touching what is there."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyharness.model.errors import UsageError
from pyharness.model.text import jsonc
from pyharness.project.jsonc_merge import Wanted, merged

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
NEW = {"name": "new", "type": "pyharness", "env": {"PYTHONPATH": "x" * 60, "TORCH_EXTENSIONS_DIR": "y" * 60}}
WANTED = {"configurations": Wanted("name", [NEW])}
THEIRS = """\ufeff// Theirs.
{
\t"version": "0.2.0", /* why? */
\t"configurations": [
\t\t{"name": "one", "url": "http://x/*no comment*/"}, // the first
\t\t{
\t\t\t"name": "two", "args": [1, 2,],  // a trailing comma
\t\t} /* the end */
\t\t// { "name": "switched off" }
\t],
\t"unknown": {"a": [ ]}
}
// behind
"""


@given(VALUES, st.integers(0, 4))
def test_all_json_is_read_as_json(value, indent):
    text = json.dumps(value, indent=indent or None, ensure_ascii=False)
    assert jsonc.loads(text) == value
    assert jsonc.loads(jsonc.dumps(value)) == value


def test_comments_and_trailing_commas_are_no_data():
    found = jsonc.loads(THEIRS)
    assert [one["name"] for one in found["configurations"]] == ["one", "two"]
    assert found["configurations"][0]["url"] == "http://x/*no comment*/"
    assert found["configurations"][1]["args"] == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: a value is expected, not the end of the file"),
        ('{"a": 1,\n  b: 2}', "line 2, column 3: a name in double quotes is expected"),
        ('{"a" 1}', "line 1, column 6: ':' is expected"),
        ("[1 2]", "line 1, column 4: ',' is expected"),
        ("[1,,2]", "column 4: a value is expected, not ,"),
        ("[tru]", "column 2: a value is expected, not tru"),
        ("{} {}", "column 4: something follows"),
        ('{"a": "open}', "a value is expected"),
        ("[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(text, message):
    with pytest.raises(jsonc.JsoncError, match=message):
        jsonc.loads(text)


def test_every_character_of_theirs_stays():
    after, added = merged(THEIRS, WANTED, "0.2.0", "launch.json")
    assert added == ["new"]
    assert jsonc.loads(after)["configurations"] == [*jsonc.loads(THEIRS)["configurations"], NEW]
    inserted = after.index("{\n", after.index("switched off"))
    assert (
        after[:inserted].replace(" /* the end */", " /* the end */").startswith(THEIRS[: THEIRS.index(" /* the end")])
    )
    rest = iter(after)
    assert all(letter in rest for letter in THEIRS), "theirs is what is left when ours is taken out"
    assert '\n\t\t{\n\t\t\t"name": "new"' in after, "it is indented as theirs"
    assert merged(after, WANTED, "0.2.0", "launch.json") == (after, [])


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "// only a comment\n",
        "{}",
        '{"version": "0.2.0"}',
        '{"configurations": []}',
        '{"configurations": [\n]}',
        '{"configurations": [{"name": "a"}]}',
        '{"configurations": [{"name": "a"},]}',
        '{\r\n  "configurations": [\r\n    {"name": "a"} // x\r\n  ]\r\n}',
        '{\n    "a": 1 // one\n}',
        '{\n    "a": 1, // one\n}',
        '{"configurations": [1, null, {"name": "a"}]}',
    ],
)
def test_files_of_every_shape_take_an_entry_once(text):
    after, added = merged(text, WANTED, "0.2.0", "launch.json")
    assert added == ["new"]
    assert jsonc.loads(after)["configurations"][-1] == NEW
    before = {} if text is None or jsonc.is_empty(text) else jsonc.loads(text)
    assert all(jsonc.loads(after)[key] == value for key, value in before.items() if key != "configurations")
    assert jsonc.loads(after)["configurations"][:-1] == before.get("configurations", [])
    assert ("\r\n" in after) == ("\r\n" in (text or ""))
    assert "\r\n" not in after or "\n" not in after.replace("\r\n", "")
    assert merged(after, WANTED, "0.2.0", "launch.json") == (after, [])


@given(VALUES, st.lists(st.fixed_dictionaries({"name": st.text()}), max_size=3), st.sampled_from([None, 1, 2, "\t"]))
def test_whatever_else_is_in_the_file(other, configurations, indent):
    text = json.dumps({"other": other, "configurations": configurations, "last": other}, indent=indent)
    after, added = merged(text, WANTED, "0.2.0", "launch.json")
    data = jsonc.loads(after)
    assert (data["other"], data["last"]) == (other, other)
    assert data["configurations"] == [*configurations, *([NEW] if added else [])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "launch.json is not JSON: line 1"),
        ("[]", "launch.json is not a JSON object"),
        ('{"configurations": {}}', "'configurations' is not a list"),
    ],
)
def test_a_file_that_cannot_be_added_to(text, message):
    with pytest.raises(UsageError, match=message) as raised:
        merged(text, WANTED, "0.2.0", "launch.json")
    assert raised.value.remedy

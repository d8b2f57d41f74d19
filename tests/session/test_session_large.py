"""Session files that are too deep, too large, no files, or merely long; and on which line what of them begins."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyharness.model.errors import UsageError
from pyharness.session.document import Document, read
from pyharness.session.document import _toml as tomllib
from pyharness.session.parse import plan_of
from pyharness.session.statements import lines_of

pytestmark = pytest.mark.rotated_tests(turns=2)


def test_one_that_is_nested_too_deeply(session):
    for text in ("x = " + "[" * 5000 + "]" * 5000, "x = " + "{a=" * 5000 + "1" + "}" * 5000):
        with pytest.raises(UsageError, match=r"nested too deeply|cannot be nested|not TOML"):
            plan_of(session(text))


def test_one_that_no_session_is(session):
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        plan_of(session("# nothing\n" * 560_000))


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    for name in (tmp_path / "pipe.toml", "/dev/zero"):
        with pytest.raises(UsageError, match="is not a file"):
            read(str(name))


STEP = '[[step]]\nat = "py:{WORDS}:11"\nexpect.line = 11\n\n'


def test_thousands_of_steps_know_their_lines(session):
    """Each is looked for once: it took a time that grew with the square of their number."""
    plan = plan_of(session('[program]\nscript = "{WORDS}"\n' + STEP.replace("{WORDS}", "session_words.py") * 3_000))
    lines = [each.line for step in plan.steps for each in step.expects]
    assert lines == list(range(5, 12_005, 4))


def first_line(text, path):
    """The first cut behind a statement that has the value ends with its statement: slow, and by the parser alone."""
    lines, before = text.splitlines(), 0
    for count in range(1, len(lines) + 1):
        try:
            data = tomllib.loads("\n".join(lines[:count]))
        except ValueError:
            continue
        if has(data, path):
            return before + 1
        before = count
    return None


def has(data, path):
    for part in path:
        if isinstance(part, int):
            if not isinstance(data, list) or part >= len(data):
                return False
        elif not isinstance(data, dict) or part not in data:
            return False
        data = data[part]
    return True


def paths(data, path=()):
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


TEXTS = [
    (
        '# c [\n\na.b = 1\na."c\\"d" = """x\n[no]\n"""\n'
        "[t] # [\"\nk = [1,\n  # ]\n  {z = \"]\"},\n]\n[t.u]\nv = '''\"\n'''\n"
    ),
    '[[s]]\nx = 1\n[[s]]\n[s.y]\nz = 2\n[[s.n]]\nq = """a"""""\n[[s.n]]\n[[s]]\nx = \'"\'\n[[s.n]]\nw = 3\n',
    'a = "#"\n"b.c" = \'#[\' # "\n[ d . "e" ]\nf = {g = [[1], [2]], h.i = 3}\n[d]\nj = 1\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_each_value_begins_where_its_statement_does(text):
    found = lines_of(text, tomllib.loads)
    for path in paths(tomllib.loads(text)):
        assert found[path] == first_line(text, path), path


KEYS = st.sampled_from(["a", "b", '"c d"', "a.b", "b.'#'.a"])
VALUES = st.sampled_from(
    ["1", '"]"', "'\"'", '"""\n[x]\n"""', "[\n1, # ]\n2]", "{k = [{l = 1}]}", "'''\n\"'''", "[]", "{}"]
)
LINES = st.one_of(
    st.builds("{} = {}".format, KEYS, VALUES),
    st.builds("[{}]".format, KEYS),
    st.builds("[[{}]]".format, KEYS),
    st.sampled_from(["", "# x = [", "   # '''"]),
)


@given(st.lists(LINES, max_size=8))
def test_whatever_is_toml(lines):
    text = "\n".join(lines)
    try:
        data = tomllib.loads(text)
    except ValueError:
        return
    found = lines_of(text, tomllib.loads)
    for path in paths(data):
        assert found[path] == first_line(text, path), (text, path)


def test_the_error_is_about_the_line():
    document = Document("[program]\n\nx = [\n1]\n", "it.toml")
    assert str(document.error(("program", "x"), "no")) == "it.toml:3: no"

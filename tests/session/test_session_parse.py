"""A session file becomes a plan, and each mistake in one becomes a message with its line."""

import pytest

from pyharness.model.errors import UsageError
from pyharness.session.document import Document
from pyharness.session.parse import plan_of

HEAD = '[program]\nscript = "{WORDS}"\n'


def test_all_of_a_session_file_is_read(session):
    plan = plan_of(
        session("""full = true
eval_timeout = 2.5
[program]
script = "{WORDS}"
args = ["3"]
env = { A = "b" }
include = "*/nn/*"
exit_code = 3
debug_kernels = true

[[step]]
at = "py:session_words.py:11 if word == 'be'"
print = "word"

[[step]]
into_native = true
print = ["a", "b"]
stack = true
expect = { function = "f", line = 3, fx.node = "relu", printed = { a = "~1" }, stack_contains = ["f", { line = 9 }] }

[[step]]
print = "c"
expect.reason = "step"

[[step]]
element = "gelu[2,-7]"
""")
    )
    at, into, element = plan.steps
    assert (element.move, str(element.element)) == ("element", "gelu[2, -7]")
    assert (at.move, at.where.line, at.where.condition, at.prints) == ("at", 11, "word == 'be'", ("word",))
    assert (into.move, into.prints, into.stack) == ("into_native", ("a", "b", "c"), True)
    first, second = into.expects
    assert first.fields == {"function": "f", "line": 3, "fx.node": "relu"}
    assert first.printed == {"a": "~1"}
    assert first.stack == ({"function": "f"}, {"line": 9})
    assert (first.step, first.line, second.step, second.line) == (2, 19, 3, 23)
    assert plan.target.arguments == ("3",)
    assert plan.target.env == {"A": "b"}
    assert plan.include == ("*/nn/*",)
    assert (plan.exit_code, plan.exit_code_line, plan.full, plan.expecting) == (3, 8, True, True)
    assert plan.eval_timeout == 2.5
    assert plan.target.debug_kernels


def test_paths_are_relative_to_the_session_file(tmp_path):
    (tmp_path / "sessions").mkdir()
    (tmp_path / "train.py").write_text("x = 1\n")
    file = tmp_path / "sessions" / "it.toml"
    file.write_text('[program]\nscript = "../train.py"\ncwd = ".."\n[[step]]\nat = "py:../train.py:1"\n')
    plan = plan_of(str(file))
    assert plan.target.script == f"{tmp_path}/train.py"
    assert plan.target.cwd == str(tmp_path)
    assert plan.steps[0].where.file == str(tmp_path / "train.py")


@pytest.mark.parametrize(
    ("text", "line", "message", "remedy"),
    [
        ("[[step]]\nover = true\nprnt = 'x'", 5, "no key 'prnt'", "print"),
        ("[[step]]\nover = true\nexpect = { funtion = 'f' }", 5, "no key 'funtion'", "function"),
        ("[[step]]\nover = true\nexpect.fx.nod = 'f'", 5, "no key 'nod'", "node"),
        ("[[step]]\nover = true\nexpect.language = 'pyhton'", 5, "cannot be 'pyhton'", "python"),
        ("[[step]]\nover = true\nexpect.printed.x = '('", 5, "is not a regular expression", "~text"),
        ("[[step]]\nover = true\nexpect.line = true", 5, "a whole number", ""),
        ("[[step]]\n\nover = 3", 5, "true or false", ""),
        ("[[step]]\nover = true\nout = true", 5, "one move", "[[step]]"),
        ("[[step]]\nprint = 'x'", 4, "stands nowhere", "into"),
        ("[[step]]\nat = 'fy:x'", 4, "is not a place", "fx"),
        ("[[step]]\nelement = 'gelu'", 4, "is no element", "gelu[2, 7]"),
        ("[[step]]\nat = 'py:session_wrods.py:3'", 4, "no file", "session_words.py"),
        ("[[steps]]\nover = true", 3, "no key 'steps'", "step"),
        ("scritp = 'x'", 3, "no key 'scritp'", "script"),
        ("args = [\n  1,\n]", 3, "list of strings", ""),
        ("exit_code = 1.5", 3, "a whole number", ""),
        ("exit_code = nan", 3, "a whole number", ""),
        ("exit_code = 256", 3, "No program ends with 256", "0 to 255"),
        ("exit_code = -65", 3, "No program ends with -65", "-11"),
        ("kill = true\nexit_code = 0", 4, "returns no exit code", "Take one"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_nearest_name(session, text, line, message, remedy):
    file = session(HEAD + text)
    with pytest.raises(UsageError) as error:
        plan_of(file)
    assert error.value.message.startswith(f"{file}:{line}: ")
    assert message in error.value.message
    assert remedy in error.value.remedy


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "1e400", "-1", "0", "true", "1" * 400])
def test_a_time_limit_that_is_none_is_refused(session, seconds):
    with pytest.raises(UsageError, match=r":1: .*(time limit of an expression cannot be|must be a number)"):
        plan_of(session(f"eval_timeout = {seconds}\n{HEAD}"))


def test_a_folder_is_named_as_one(tmp_path):
    with pytest.raises(UsageError, match=r" is a folder\.\n?"):
        plan_of(str(tmp_path))


def test_what_is_not_toml_says_where(session):
    with pytest.raises(UsageError, match=r"is not TOML: .*line 2"):
        plan_of(session("[program]\nscript =\n"))


def test_a_file_may_begin_with_a_mark_of_its_byte_order(session):
    plan = plan_of(session(f"\ufeff{HEAD}exit_code = 3\n"))
    assert (plan.exit_code, plan.exit_code_line) == (3, 3)


def test_a_mistyped_session_file_offers_the_nearest(session, tmp_path):
    session(HEAD, "transformer.toml")
    with pytest.raises(UsageError, match=r"no session file(.|\n)*transformer\.toml"):
        plan_of(str(tmp_path / "tranformer.toml"))


def test_the_line_of_a_value_is_where_its_statement_begins():
    document = Document('a = """\nb = 1\n"""\n# c = 2\nc = [\n 1,\n]\n[t]\n\nd.e = 3\n', "it")
    lines = [document.line_of(path) for path in (("a",), ("c",), ("t",), ("t", "d", "e"))]
    assert lines == [1, 5, 8, 10]

"""What people type: places, conditions, hit conditions, expressions, session files. It is understood or refused."""

import sys

import pytest
from fuzzing import fuzzed, understood
from hypothesis import example
from hypothesis import strategies as st

from pyharness.debuggee import agent, bounded  # noqa: F401  (registers the request)
from pyharness.debuggee.lines.frame_expressions import evaluated
from pyharness.model import where
from pyharness.model.conditions import hits as hit_condition
from pyharness.model.conditions.condition import compile_condition
from pyharness.session import document

PIECES = ["py:", "native:", "fx:", "op:", "node:", " if ", " when ", "nan(out)", "::", ":", "a.py", "f.cpp", "0", "-1"]
PIECES += [
    "99999999999999999999",
    "x[0]",
    "(",
    ")",
    "[",
    '"',
    "'",
    "\\",
    "\0",
    "\x1b[31m",
    "\ud800",
    "<",
    "&&",
    " ",
    "1e999",
]
NAMES = ["steps", "at", "do", "expect", "script", "print", "stack", "true", "reason", "if"]
words = st.text(max_size=40) | st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join)
toml = st.lists(
    st.sampled_from([*NAMES, *PIECES, "[[", "]]", "[", "]", "=", "{", "}", ",", "\n", "'''", '"""', "#", "2026-01-01"])
    | st.text(max_size=6),
    max_size=60,
).map("".join)


@fuzzed(words)
@example("native:" + "(" * 500)
@example("py:a.py:1 if " + "[" * 5000)
def test_a_place(text):
    assert understood(where.parse, text, [])


@fuzzed(words)
@example("(" * 20000)
@example("-" * 20000 + "1")
def test_a_native_condition(text):
    assert understood(compile_condition, text)


@fuzzed(words, st.integers(-1, 10**20))
def test_a_hit_condition(text, hits):
    assert understood(lambda: hit_condition.holds(hit_condition.checked(text), hits))


@fuzzed(st.text(alphabet="()[]{}.,:=+-*/%<>'\"\\ xyf01\n\0\x1b\ud800λ", max_size=30))
@example("(" * 10000)
def test_an_expression(text):
    """Python's own errors are the answer, and none of ours."""
    x = [1, 2]  # noqa: F841  (an expression may mean it)
    try:
        evaluated(text, sys._getframe())
    except (SyntaxError, ValueError, NameError, TypeError, ArithmeticError, LookupError, AttributeError):
        pass
    except (MemoryError, RecursionError):
        assert len(text) > 100


@fuzzed(
    st.text(max_size=80)
    | st.binary(max_size=80).map(repr)
    | st.sampled_from(["{", "[]", "null", '{"do": 1}', '{"do":'])
    | st.dictionaries(
        st.sampled_from(["do", "expression", "command", "file", "x"]), st.text(max_size=9) | st.integers()
    ).map(str)
)
def test_a_request_to_the_agent(text):
    assert "error" in agent.answer(text)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("session") / "session.toml"


@fuzzed(content=st.binary(max_size=120) | toml.map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(content=b"[" * 5000)
@example(content=b"a = " + b"[" * 5000)
def test_a_session_file(file, content):
    file.write_bytes(content)
    assert understood(document.read, str(file))

"""What lies on the disk: core files, source maps, handles, traces, folders of generated code. It is read or refused."""

import json
import struct
import time

import pytest
from fuzzing import fuzzed, understood
from hypothesis import strategies as st

from pyharness.debugger.core.header import check_core, check_program, truncated
from pyharness.fx.code.old_files import forget_old
from pyharness.host import handles
from pyharness.model import source_map
from pyharness.model.results import trace_file

pytestmark = pytest.mark.rotated_tests(turns=2)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
header = st.tuples(
    st.sampled_from([b"\x7fELF", b"\x7fELG", b"\x1f\x8b\x08\x00", b"(\xb5/\xfd"]),
    st.binary(min_size=12, max_size=12) | st.just(b"\x02\x01\x01" + bytes(9)),
    st.sampled_from([4, 3, 2, 0, 65535]),
    st.sampled_from([62, 183, 0]),
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 400), min_size=3, max_size=3),
    st.lists(st.integers(0, 2**16 - 1), min_size=6, max_size=6),
    st.binary(max_size=300),
).map(lambda it: it[0] + it[1] + struct.pack("<HHI3QI6H", it[2], it[3], 1, *it[4], 0, *it[5]) + it[6])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzzed")


@fuzzed(content=header | st.binary(max_size=200), cut=st.integers(0, 400))
def test_a_core_file(folder, content, cut):
    path = folder / "core"
    path.write_bytes(content[: max(1, len(content) - cut)])
    assert understood(check_core, path)
    assert understood(check_program, path)
    assert understood(truncated, path)


row = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("line", "last_line", "node", "op", "target", "module", "file", "user_line"), json_values),
)


@fuzzed(
    data=json_values
    | st.fixed_dictionaries(
        {
            "version": st.sampled_from([1, 2, "1"]),
            "file": json_values,
            "graph": json_values,
            "lines": st.lists(row | json_values),
        }
    ),
    line=st.integers(-1, 99),
)
def test_a_source_map(folder, data, line):
    path = folder / f"{time.monotonic_ns()}.py"
    beside = path.with_name(path.name + source_map.SUFFIX)
    beside.write_text(json.dumps(data))
    source_map.place_of(str(path), line)
    beside.unlink()


@fuzzed(
    content=json_values.map(json.dumps).map(str.encode) | st.binary(max_size=60),
    name=st.sampled_from(["x", "a.b", "-"]),
)
def test_a_card_of_a_handle(content, name):
    from pyharness.host.state import state_dir

    card = state_dir("run") / f"{name}.json"
    card.write_bytes(content)
    assert handles.live() == []
    card.unlink(missing_ok=True)


@fuzzed(data=json_values.map(json.dumps).map(str.encode) | st.binary(max_size=80))
def test_a_trace(data):
    assert understood(trace_file.load, data)


@fuzzed(
    names=st.lists(st.sampled_from(["a.py", "a.py.map.json", "a", ".b", "c" * 200, "é.py", "\ud800.py"]), unique=True)
)
def test_a_folder_of_generated_code(folder, names):
    generated = folder / f"generated-{time.monotonic_ns()}"
    generated.mkdir()
    for name in names:
        path = generated / name.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
        path.mkdir() if name == "a" else path.write_bytes(b"x")
    forget_old(generated, time.time() + 10**9)
    assert "a" not in names or (generated / "a").is_dir()

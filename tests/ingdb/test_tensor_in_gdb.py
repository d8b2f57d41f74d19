"""Every kind of tensor as gdb reads it, in a live process and in its core, against what torch says of it."""

import json
import math
import re

import numpy as np
import pytest
import torch
from tensor_session import looked_at

pytestmark = pytest.mark.rotated_tests(turns=2)


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return looked_at(tmp_path_factory.getbasetemp())


@pytest.fixture(params=["live", "core"])
def seen(zoo, request):
    return zoo[request.param]


def test_the_program_goes_on_afterwards(zoo):
    assert zoo["exit"] == 0


def test_every_dtype_of_torch_is_in_the_table(zoo):
    names = {said["dtype"] for said in zoo["torch"].values()}
    every = {str(one) for one in vars(torch).values() if isinstance(one, torch.dtype)}
    assert {name.removeprefix("torch.") for name in every} - names <= {"qint8", "qint32", "quint4x2", "quint2x4"}


FACTS = (
    *("dtype", "sizes", "strides", "offset", "numel", "device", "requires_grad", "is_leaf", "has_grad", "grad_fn"),
    *("version", "conjugated", "negated"),
)


@pytest.mark.parametrize("fact", FACTS)
def test_facts_are_torchs(zoo, seen, fact):
    torch_says = {name: said[fact] for name, said in zoo["torch"].items()}
    assert {name: found[fact] for name, found in seen["tensors"].items()} == torch_says


def rounded(value):
    """Numbers as torch printed them: float32 as the nearest float64; complex as text; cut lists left as they are."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, str) and value.endswith("j)"):
        return str(complex(value))
    return value


def test_elements_are_torchs(zoo, seen):
    compared = 0
    for name, said in zoo["torch"].items():
        found = seen["tensors"][name]
        if said["elements"] is None or "…" in json.dumps(found["elements"], ensure_ascii=False):
            continue
        compared += 1
        expected = [] if not said["numel"] else said["elements"]
        assert rounded(found["elements"]) == rounded(expected), name
    assert compared > 35


def flat(value):
    """The numbers of nested lists, complex ones as two."""
    if isinstance(value, list):
        return [number for item in value for number in flat(item)]
    number = complex(value) if isinstance(value, str) and value.endswith(")") else value
    return [number.real, number.imag] if isinstance(number, complex) else [float(number)]


def test_elements_as_an_array_of_gdbs_are_torchs(zoo, seen):
    arrays = {name: found["array"] for name, found in seen["tensors"].items() if found["array"] is not None}
    assert len(arrays) > 35
    for name, array in arrays.items():
        expected = zoo["torch"][name]["elements"]
        if expected is not None:
            numbers, wanted = flat(array), flat(expected)
            if "complex" in zoo["torch"][name]["dtype"] and len(numbers) < len(wanted):
                wanted = wanted[::2]  # all are real
            assert numbers == pytest.approx(wanted, nan_ok=True), name
            assert not isinstance(expected, list) or len(array) == len(expected), name


def test_large_tensors_are_summarised(seen):
    rows = seen["tensors"]["large"]["elements"]
    assert len(rows) == 7
    assert rows[0] == [0.0, 1.0, 2.0, "…", 197.0, 198.0, 199.0]
    assert rows[3] == "…"
    assert seen["tensors"]["large transposed"]["elements"][0] == [0.0, 200.0, 400.0, "…", 39400.0, 39600.0, 39800.0]
    assert seen["tensors"]["expanded beyond memory"]["elements"] == [1.0, 1.0, 1.0, "…", 1.0, 1.0, 1.0]
    assert seen["tensors"]["far apart"]["elements"] == list(range(0, 4_000_000, 100_000))


def test_statistics(seen):
    found = seen["tensors"]["large transposed"]["statistics"]
    wanted = torch.arange(40_000.0).double()
    assert found["counted"] == found["total"] == 40_000
    assert (found["minimum"], found["maximum"], found["mean"]) == (0.0, 39_999.0, 19_999.5)
    assert math.isclose(found["deviation"], wanted.std().item())
    found = seen["tensors"]["not finite"]["statistics"]
    assert (found["nan"], found["infinite"], found["minimum"], found["maximum"]) == (1, 2, 1.0, 2.0)
    assert seen["tensors"]["expanded beyond memory"]["statistics"]["counted"] == 100_000


UNREADABLE = {
    "meta": "meta tensors have no data",
    "sparse": "sparse: see its parts",
    "compressed": "sparse: see its parts",
    "wrapper": "it has no storage",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_has_no_elements_says_so(seen, name):
    assert seen["tensors"][name]["unreadable"] == UNREADABLE[name]


def test_sparse_tensors_show_their_parts(seen):
    parts = seen["tensors"]["sparse"]["parts"]
    assert parts["indices"]["elements"] == [[0, 1], [1, 0]]
    assert parts["values"]["elements"] == [1.0, 2.0]
    assert seen["tensors"]["compressed"]["parts"]["values"]["elements"] == [1.0, 2.0]


def test_both_halves_show_a_tensor_in_the_same_words(zoo, seen):
    texts = {name: said["text"] for name, said in zoo["torch"].items()}
    assert {name: found["line"] for name, found in seen["tensors"].items()} == texts


def test_both_halves_count_the_same_statistics(zoo, seen):
    small = [name for name, said in zoo["torch"].items() if 0 < said["numel"] <= 100_000]
    texts = {name: zoo["torch"][name]["statistics"] for name in small}
    assert {name: seen["tensors"][name]["numbers"] for name in small} == texts
    assert sum(text is not None for text in texts.values()) > 50


MATRIX = "Tensor float32 [2, 3] cpu grad_fn=<MulBackward0> [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"
LEAF = "Tensor float32 [2, 3] cpu requires_grad [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"
SHOWN = {
    **dict.fromkeys(("argument", "copy", "base", "counted", "borrowed", "owned", "boxed_tensor"), re.escape(MATRIX)),
    "pointer": r"\(at::Tensor \*\) 0x[0-9a-f]+ " + re.escape(MATRIX),
    "impl": r"\(c10::TensorImpl \*\) 0x[0-9a-f]+ " + re.escape(MATRIX),
    "null_pointer": r"\(at::Tensor \*\) 0x0 <null tensor>",
    "undefined": "Tensor undefined",
    "maybe": re.escape(LEAF),
    "nothing": "nullopt",
    "many": r"\[" + re.escape(LEAF) + r", Tensor float32 \[3\] cpu grad_fn=<MulBackward0> \[.*\]\]",
    "vector": r"\[" + re.escape(LEAF) + ", Tensor .*",
    "list": r"\[" + re.escape(LEAF) + ", Tensor .*",
    "sizes": r"\[2, 3\]",
    "small": r"\[2, 3\]",
    "symbolic": r"\[4, 5\]",
    "long_sizes": r"\[(1, ){20}…\] \(100\)",
    "corrupt_sizes": "<corrupt: a length of 1099511627776>",
    "some_sizes": r"\[2, 3\]",
    "no_sizes": "nullopt",
    "number": "7",
    "no_dtype": "nullopt",
    "sym_int": "5",
    "scalar": "1.5",
    "real": "2.5",
    "integer": "3",
    "boolean": "True",
    "complex": r"1\.0-2\.0j",
    "dtype": "bfloat16",
    "meta": "float32",
    "device": "cpu",
    "accelerator": "cuda:1",
    "boxed_number": "1.5",
    "boxed_text": "'hello'",
    "boxed_nothing": "None",
    "boxed_list": r"\[1, 2, 3\]",
    "boxed_tuple": r"\(1, True\)",
    "boxed_dict": r"\{'one': 1, 'two': 2\}",
    "boxed_device": "cuda:1",
    "boxed_complex": r"1\.0-2\.0j",
    "boxed_object": r"torch\.classes\.tensor_kernel\.Counter \{count = 3\}",
    "boxed_module": r"Box\(scale=2\.5, name='box'\)",
    "boxed_generator": r"Generator\(cpu\) at 0x[0-9a-f]+",
    "boxed_storage": r"24 bytes at 0x[0-9a-f]+",
    "loop": r"TensorIterator \[6\]: computes elements in float32, 1 output, 2 inputs",
    "reduction": r"TensorIterator \[6\]: reduces in float32, 1 output, 1 input",
    "python_text": "'hello'",
    "no_object": "no object",
    "table": r"\{'one': 1, 'two': 2\}",
    "hashed": r"ska::flat_hash_map with 1 element = \{\[\"rate\"\] = 0\.5\}",
    "context_pointer": r"0x[0-9a-f]+ → saves float32 \[2, 3\], float32 \[\], saved_data \{\[\"rate\"\] = 0\.5\}",
    "no_context": "0x0",
    "pointer_to_sizes": r"0x[0-9a-f]+ → \[2, 3\]",
    "pointer_to_hashed": r"0x[0-9a-f]+ → ska::flat_hash_map with 1 element = \{\[\"rate\"\] = 0\.5\}",
    "pointer_to_text": '0x[0-9a-f]+ → "hello"',
    "wild_text": "0x8",
    "wild_hashed": r"<corrupt: a length of -?\d+>",
    "no_hashed": "ska::flat_hash_map with 0 elements",
    "half": "1.5",
    "brain_float": "2.5",
    "eighth": "0.5",
    "accessor": r"\w*TensorAccessor float32 \[2, 3\] \[\[.*\]\]",
    "packed": r"\w*PackedTensorAccessor\w* float32 \[2, 3\] \[\[.*\]\]",
    "options": r"TensorOptions\(dtype=float32, requires_grad=True\)",
    "generator": r"Generator\(cpu\) at 0x[0-9a-f]+",
    "op": "aten::mul.Tensor",
    "keys": r"DispatchKeySet\(CPU, AutogradCPU\)",
    "saved": r"Tensor float32 \[2, 3\] cpu \[\[0\.0, .*\]\] \(saved at version 0.*\)",
    "storage": r"\d+ bytes at 0x[0-9a-f]+",
    "format": "ChannelsLast",
    "corrupt": r".*<corrupt tensor at 0x[0-9a-f]+: it would have \d+ dimensions>",
    "unmapped": ".*<corrupt tensor at 0x8: its TensorImpl cannot be read>",
    "ready": "1",
    "byte": "114 'r'",
}


@pytest.mark.parametrize("name", SHOWN)
def test_variables_of_torchs_types_are_readable(seen, name):
    assert re.fullmatch(SHOWN[name], seen["variables"][name])


def test_an_iterator_expands_into_its_operands(seen):
    operands = seen["operands"]
    assert len(operands) == 3
    assert operands[0].startswith("output, strides of [4] bytes: Tensor float32 [2, 3]")
    assert operands[1].startswith("input, strides of [4] bytes: ")


def test_print_uses_the_printers(seen):
    assert seen["printed"]["argument"].endswith(f" {MATRIX}\n")
    assert LEAF in seen["printed"]["vector"]
    assert LEAF in seen["printed"]["list"]
    assert seen["printed"]["boxed_list"].endswith(" = [1, 2, 3]\n")


ANSWERS = {
    "ph-tensor copy": r"version 0\n  \[\[0\.0, 1\.0, 2\.0\],\n   \[3\.0, 4\.0, 5\.0\]\]",
    "ph-tensor impl --stats": r"min 0\.0, max 5\.0, mean 2\.5, std 1\.87083; NaN 0, Inf 0",
    "ph-tensor maybe": r"requires_grad True, leaf",
    "ph-tensor matrix": r"Tensor float32 \[2, 3\] cpu requires_grad",
    "ph-tensor local --stats": r"grad_fn <MulBackward0> of sequence number \d+.*\n  min ",
    "ph-tensor nosuch": 'nosuch cannot be evaluated: No symbol "nosuch" in current context.',
    "ph-tensor scalar": "scalar is not a tensor but 1.5",
    "ph-tensor copy --ful": "no option --ful.\nDid you mean --full",
    "ph-tensor copy --max 0": "--max takes a number of elements from 1 to 1000000, not 0",
    "ph-tensor": "ph-tensor needs an expression",
    "ph-tensor 0x10": "<corrupt tensor at 0x10: its TensorImpl cannot be read>",
    "ph-tensor corrupt": r"<corrupt tensor at 0x[0-9a-f]+: it would have",
    "ph-tensor undefined --save /nowhere/x": "cannot be saved: the tensor is undefined",
    "ph-tensor copy --save /nowhere/x.npy": "Cannot save to /nowhere/x.npy",
    "ph-tensor nothing": "nothing is not a tensor but nullopt",
    "ph-tensor null_pointer": "<null tensor>",
}


@pytest.mark.parametrize("command", ANSWERS)
def test_ph_tensor(seen, command):
    assert re.search(ANSWERS[command], seen["commands"][command])


def test_ph_tensor_json(seen):
    found = json.loads(seen["commands"]["ph-tensor copy --json"])
    assert found["grad_fn"]["name"] == "MulBackward0"
    assert found["elements"] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_ph_tensor_saves_what_numpy_reads(zoo):
    assert np.load(zoo["folder"] / "copy.npy").tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert np.load(zoo["folder"] / "local.npy").tolist() == zoo["torch"]["result"]["elements"]


def test_the_version_is_that_of_the_loaded_torch(seen):
    assert seen["version"] == torch.__version__

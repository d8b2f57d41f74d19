"""Arrays of Eigen in expressions of C++: shown, indexed as in the program, expanded, written, from memory alone."""

import re

import pytest

from kit import builds
from kit.looking import standing
from pyharness.model.errors import HarnessError

SOURCE = builds.EIGEN_ARRAYS
MATRIX = "float32 [2, 3] [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"
SHOWN = {
    "matrix": f"Eigen::Matrix {MATRIX}",
    "*pointer": f"Eigen::Matrix {MATRIX}",
    "null": "(const Eigen::MatrixXf *) 0x0 <null tensor>",
    "rows": "Eigen::Matrix float64 [2, 2] [[1.0, 2.0], [3.0, 4.0]]",
    "counts": "Eigen::Array int32 [2, 3] [[0, 0, 1], [1, 1, 1]]",
    "row_vector": "Eigen::Matrix float64 [3] [7.0, 8.0, 9.0]",
    "bounded": "Eigen::Matrix float32 [2, 1] [[5.0], [6.0]]",
    "halves": "Eigen::Matrix float16 [2] [1.5, -2.5]",
    "complex": "Eigen::Matrix complex64 [1] [1.0+2.0j]",
    "every_other": "Eigen::Map float32 [3] [1.0, 2.0, 3.0]",
    "holes": "Eigen::Map float32 [1, 2] [[1.0, 3.0]]",
    "reference": "Eigen::Ref float32 [2] [2.0, 5.0]",
    "row": "Eigen::Block float32 [3] [4.0, 5.0, 6.0]",
    "column": "Eigen::Block float32 [2] [3.0, 6.0]",
    "segment": "Eigen::VectorBlock float32 [1] [5.0]",
    "block": "Eigen::Block float32 [2, 2] [[2.0, 3.0], [5.0, 6.0]]",
    "transposed": "Eigen::Transpose float32 [3, 2] [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]",
    "of_transposed": "Eigen::Block float32 [2] [3.0, 6.0]",
    "as_array": f"Eigen::ArrayWrapper {MATRIX}",
    "diagonal": "Eigen::Diagonal float32 [2] [2.0, 6.0]",
    "sum": f"<not evaluated> sum(Eigen::Matrix {MATRIX}, product(2, Eigen::Matrix {MATRIX}))",
    "empty": "Eigen::Matrix float32 [0, 0] []",
    "sparse": "Eigen::SparseMatrix float32 [2, 3] sparse_csr <sparse: see its parts>",
    "sparse.starts": "Tensor int32 [3] [0, 1, 1]",
    "sparse.columns": "Tensor int32 [1] [1]",
    "sparse.values": "Tensor float32 [1] [5.0]",
    "fixed_tensor": "Eigen::TensorFixedSize float64 [2, 3] [[1.5, 1.5, 1.5], [1.5, 1.5, 1.5]]",
    "tensor": "Eigen::Tensor float32 [1, 2, 2] [[[1.0, 2.0], [3.0, 4.0]]]",
    "tensor_map": "Eigen::TensorMap float32 [3, 2] [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]",
    "quaternion": "(x=0.0, y=0.0, z=0.0, w=1.0)",
    "isometry": "Eigen::Matrix float64 [3, 3] [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, …]]",
    "several[1]": f"Eigen::Matrix {MATRIX}",
    "matrix(1, 2)": "6.0",
    "matrix[1, 2]": "6.0",
    "matrix[1]": "[4.0, 5.0, 6.0]",
    "several[0](0, 1)": "2.0",
    "row_vector(1)": "8.0",
    "tensor(0, 1, 1)": "4.0",
    "matrix.shape": "[2, 3]",
    "matrix.strides": "[1, 2] (column-major)",
    "matrix.rows() * 10 + matrix.cols()": "23",
    "pointer->size()": "6",
    "matrix.coeff(1, 2) * 2": "12",
    "matrix(1, 2) * 2 + several[0](0, 1)": "14",
    "row_vector[2] + 1": "10",
    "matrix.data()[0:3]": "[1, 4, 2]",
}
REFUSED = {
    "matrix(1)": "matrix(1) has 1 of 2 indices",
    "matrix(5, 0)": "matrix has 2 elements",
    "matrix.coeff(5, 0)": "Its sizes are [2, 3]",
    "matrix.coeff(0)": "It has 2 dimensions",
    "matrix(5, 0) * 2": "Its sizes are [2, 3]",
    "matrix()": "gdb has no value for 'matrix()'",
    "look(1, 2)": "Cannot resolve function look",
}

pytestmark = pytest.mark.rotated_tests(turns=3)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with standing(SOURCE, tmp_path_factory.mktemp("looks"), f"-I{builds.eigen()}") as stopped:
        yield stopped


@pytest.mark.parametrize("expression", SHOWN)
def test_it_is_shown(program, expression):
    assert program.evaluate(expression) == SHOWN[expression]


@pytest.mark.parametrize("expression", REFUSED)
def test_it_is_refused(program, expression):
    with pytest.raises(HarnessError, match=re.escape(REFUSED[expression])):
        program.evaluate(expression)


def test_a_class_is_shown_without_bases_that_have_no_members(program):
    assert program.evaluate("factors").startswith("{m_matrix = Eigen::Matrix float32 [2, 2] [[1.0, 0.0], [0.0, 1.0]], ")


def test_what_has_not_been_constructed_is_corrupt(program):
    assert re.fullmatch(
        r"<corrupt Eigen::Matrix at 0x\w+: its sizes are \[-1, 3\], its elements at 0x\w+>",
        program.evaluate("(matrix.m_storage.m_rows = -1, matrix)"),
    )
    assert program.evaluate("(matrix.m_storage.m_rows = 2, matrix)") == f"Eigen::Matrix {MATRIX}"


def test_nothing_that_optimized_code_keeps_in_registers_or_nowhere_is_called_corrupt(tmp_path):
    with standing(SOURCE, tmp_path, f"-I{builds.eigen()}", "-O2", mark="middle") as stopped:
        shown = stopped.variables()
    assert len(shown) > 5
    assert not {name: text for name, text in shown.items() if "corrupt" in text or "unreadable" in text}

"""Arrays of xtensor and OpenCV in expressions of C++."""

import pytest

from kit import needs
from kit.looking import standing
from kit.paths import PROGRAMS

SOURCE = PROGRAMS / "other_arrays.cpp"
SHOWN = {
    "array": "xt::xarray_container float64 [2, 3] [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]",
    "array(1, 2)": "6.0",
    "tensor": "xt::xtensor_container int32 [2, 2] [[1, 2], [3, 4]]",
    "adopted": "xt::xarray_adaptor float32 [3, 2] [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]",
    "image": "cv::Mat uint8 [2, 2, 3] [[[1, 2, 3], [1, 2, 3]], [[1, 2, …], …]]",
    "image[1, 0]": "[1, 2, 3]",
    "part": "cv::Mat uint8 [2, 1, 3] [[[1, 2, 3]], [[1, 2, 3]]]",
    "grey": "cv::Mat float32 [2, 3] [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]",
    "grey(1, 2)": "0.5",
    "nothing": "cv::Mat uint8 [0] []",
    "fixed": "cv::Matx float32 [2, 3] [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]",
    "pixel": "cv::Vec uint8 [3] [1, 2, 3]",
}

pytestmark = [
    pytest.mark.rotated_tests(turns=3),
    needs.header("xtensor/xarray.hpp", "Debian has it in libxtensor-dev"),
    needs.header("opencv2/core.hpp", "Debian has it in libopencv-core-dev, below /usr/include/opencv4"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with standing(SOURCE, tmp_path_factory.mktemp("looks"), *needs.OPENCV, "-lopencv_core") as stopped:
        yield stopped


@pytest.mark.parametrize("expression", SHOWN)
def test_it_is_shown(program, expression):
    assert program.evaluate(expression) == SHOWN[expression]

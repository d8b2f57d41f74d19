// Eigen's matrices and arrays: those that own their elements, those that look at others', and what is not computed yet.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <unsupported/Eigen/CXX11/Tensor>
#include <vector>

using namespace Eigen;

extern "C" long look() {
  MatrixXf matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  const MatrixXf *pointer = &matrix, *null = nullptr;
  Matrix<double, 2, 2, RowMajor> rows;
  rows << 1, 2, 3, 4;
  ArrayXXi counts = (matrix.array() > 2).cast<int>();
  RowVector3d row_vector(7, 8, 9);
  Matrix<float, Dynamic, Dynamic, 0, 4, 4> bounded(2, 1);
  bounded << 5, 6;
  Matrix<half, 2, 1> halves(half(1.5f), half(-2.5f));
  VectorXcf complex(1);
  complex << std::complex<float>(1, 2);
  Map<VectorXf, 0, InnerStride<2>> every_other(matrix.data(), 3);
  Map<MatrixXf, 0, Stride<4, 2>> holes(matrix.data(), 1, 2);
  Ref<VectorXf> reference = matrix.col(1);
  auto row = matrix.row(1);
  auto column = matrix.col(2);
  auto segment = matrix.col(1).segment(1, 1);
  auto block = matrix.block(0, 1, 2, 2);
  auto transposed = matrix.transpose();
  auto of_transposed = matrix.transpose().row(2);
  auto as_array = matrix.array();
  auto diagonal = matrix.diagonal(1); // @middle
  auto sum = matrix + 2 * matrix;
  MatrixXf empty;
  SparseMatrix<float, RowMajor> sparse(2, 3);
  sparse.insert(0, 1) = 5;
  sparse.makeCompressed();
  TensorFixedSize<double, Sizes<2, 3>> fixed_tensor;
  fixed_tensor.setConstant(1.5);
  Tensor<float, 3> tensor(1, 2, 2);
  tensor.setValues({{{1, 2}, {3, 4}}});
  TensorMap<Tensor<float, 2, RowMajor>> tensor_map(matrix.data(), 3, 2);
  Quaternionf quaternion(1, 0, 0, 0);
  Isometry2d isometry = Isometry2d::Identity();
  LLT<Matrix2f> factors(Matrix2f::Identity());
  std::vector<MatrixXf> several{matrix, matrix};
  return matrix.size() + (pointer != null); // @look
}

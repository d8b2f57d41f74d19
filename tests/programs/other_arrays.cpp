// Arrays of xtensor and matrices of OpenCV.
#include <opencv2/core.hpp>
#include <vector>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>

extern "C" long look() {
  std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  xt::xarray<double> array = {{1., 2., 3.}, {4., 5., 6.}};
  xt::xtensor<int, 2> tensor = {{1, 2}, {3, 4}};
  auto adopted = xt::adapt(numbers.data(), 6, xt::no_ownership(), std::vector<size_t>{3, 2});
  cv::Mat image(2, 2, CV_8UC3, cv::Scalar(1, 2, 3));
  cv::Mat part = image(cv::Rect(1, 0, 1, 2));
  cv::Mat_<float> grey(2, 3, 0.5f);
  cv::Mat nothing;
  cv::Matx23f fixed(1, 2, 3, 4, 5, 6);
  cv::Vec3b pixel(1, 2, 3);
  return array.size() + grey.total(); // @look
}

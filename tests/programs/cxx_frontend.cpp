// A model of torch's C++ frontend, as an extension may have one.
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <cstdint>

namespace own {

struct ScaleImpl : torch::nn::Module {
  explicit ScaleImpl(int64_t size) {
    weight = register_parameter("weight", at::ones({size, 2}));
    bias = register_parameter("bias", at::zeros({size}), false);
  }

  at::Tensor weight, bias;
};
TORCH_MODULE(Scale);

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t size)
      : heads(7), first(register_module("first", Scale(size))) {
    second = register_module("second", Scale(2));
    running = register_buffer("running", at::zeros({2}));
  }

  int64_t heads;
  Scale first, second{nullptr};
  at::Tensor running;
};
TORCH_MODULE(Net);

} // namespace own

extern "C" int look() {
  own::Net net(3);
  std::shared_ptr<torch::nn::Module> base = net.ptr();
  torch::nn::Module* pointer = base.get();
  own::Net empty{nullptr};
  auto named = net->named_parameters();
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(1e-2));
  std::vector<torch::optim::OptimizerParamGroup> groups{
      {net->first->parameters(),
       std::make_unique<torch::optim::SGDOptions>(0.5)},
      {{net->second->bias}, std::make_unique<torch::optim::SGDOptions>(0.25)}};
  auto owned = std::make_unique<torch::optim::SGD>(
      groups, torch::optim::SGDOptions(0.1));
  torch::optim::Optimizer& either = *owned;
  net->second->eval();
  return static_cast<int>(named.size() + either.size()); // @look
}

// Loads the library of a model that AOTInductor compiled, and runs it twice on ones of 5 x 20. No Python, no torch C++.
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_runtime/interface.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <cstdio>
#include <vector>

#define FROM(library, function) reinterpret_cast<decltype(&function)>(dlsym(library, #function))

int main(int, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  if (!library) {
    std::puts(dlerror());
    return 1;
  }
  AOTInductorModelContainerHandle model = nullptr;
  FROM(library, AOTInductorModelContainerCreateWithDevice)(&model, 1, "cpu", nullptr);
  std::vector<float> ones(5 * 20, 1.0f);
  const int64_t sizes[] = {5, 20};
  const int64_t strides[] = {20, 1};
  for (int turn = 0; turn < 2; ++turn) {
    AtenTensorHandle input = nullptr;
    AtenTensorHandle output = nullptr;
    aoti_torch_create_tensor_from_blob(
        ones.data(), 2, sizes, strides, 0, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0, &input);
    const auto error = FROM(library, AOTInductorModelContainerRun)(model, &input, 1, &output, 1, nullptr, nullptr);  // @runs
    std::printf("ran: %d\n", static_cast<int>(error));
  }
  return 0;
}

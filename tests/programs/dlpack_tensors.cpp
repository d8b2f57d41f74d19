// Tensors as libraries hand them on by DLPack.
#include <ATen/dlpack.h>

static float numbers[] = {0, 1, 2, 3, 4, 5};
static short halves[] = {0x3f80, 0x4000};
static int64_t table[] = {2, 3}, turned[] = {3, 2}, steps[] = {1, 3}, pair[] = {2};

extern "C" int look() {
  DLTensor plain = {numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, table, nullptr, 0};
  DLTensor transposed = {numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, turned, steps, 0};
  DLTensor behind = {numbers, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, pair, nullptr, 3 * sizeof(float)};
  DLTensor brain = {halves, {kDLCPU, 0}, 1, {kDLBfloat, 16, 1}, pair, nullptr, 0};
  DLTensor lanes = {numbers, {kDLCPU, 0}, 1, {kDLFloat, 32, 4}, pair, nullptr, 0};
  DLTensor scalar = {numbers + 4, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
  DLTensor cuda = {numbers, {kDLCUDA, 1}, 1, {kDLFloat, 16, 1}, pair, nullptr, 0};
  DLTensor wrong = {numbers, {(DLDeviceType)77, 0}, 2, {kDLFloat, 32, 1}, table, nullptr, 0};
  DLTensor nothing = {};
  DLManagedTensor managed = {plain, nullptr, nullptr};
  DLManagedTensorVersioned versioned = {.flags = 1, .dl_tensor = plain};
  DLManagedTensor *pointer = &managed, *null = nullptr;
  return plain.ndim + (pointer != null); // @look
}

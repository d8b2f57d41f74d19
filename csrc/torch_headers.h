// The torch headers that most sources need: precompiled, and included first in
// every source. Sources still include what they use. Never torch/extension.h:
// it costs every source half a minute.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/operator_name.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

// RecordFunction has a member that only a libtorch built without NDEBUG
// maintains ("are the inputs valid?"); torch's own build has NDEBUG, so our
// debug build must see this one header as torch was built, or inputs() fails
// for nothing.
#ifndef NDEBUG
#define NDEBUG
#define PYHARNESS_RESTORE_ASSERTS
#endif
#include <ATen/record_function.h>
#ifdef PYHARNESS_RESTORE_ASSERTS
#undef NDEBUG
#undef PYHARNESS_RESTORE_ASSERTS
#endif
#include <cassert>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

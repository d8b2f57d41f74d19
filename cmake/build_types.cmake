# What debug, release, asan and tsan mean, in one place: CMake's own flags for a build type are emptied.

set(CMAKE_CXX_FLAGS_DEBUG "")
set(CMAKE_CXX_FLAGS_RELEASE "")
set(CMAKE_CXX_FLAGS_ASAN "")
set(CMAKE_CXX_FLAGS_TSAN "")

add_library(pyharness_build_type INTERFACE)
add_library(pyharness::build_type ALIAS pyharness_build_type)
target_compile_features(pyharness_build_type INTERFACE cxx_std_20)
target_compile_options(pyharness_build_type INTERFACE -Wall -Wextra -Wno-unused-parameter)

# Options come after CMAKE_CXX_FLAGS (where $CXXFLAGS lands), so -UNDEBUG wins over any -DNDEBUG that an interpreter,
# a distribution or torch injects: assert() and TORCH_INTERNAL_ASSERT_DEBUG_ONLY are on.
set(asserts -UNDEBUG)

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(pyharness_build_type INTERFACE ${asserts} -O0 -g -fno-omit-frame-pointer)
elseif(CMAKE_BUILD_TYPE STREQUAL "Asan")
  target_compile_options(
    pyharness_build_type INTERFACE ${asserts} -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
                                   -fno-sanitize=vptr) # vptr asks for typeinfo that torch's hidden classes lack
  target_link_options(pyharness_build_type INTERFACE -fsanitize=address,undefined)
elseif(CMAKE_BUILD_TYPE STREQUAL "Tsan")
  target_compile_options(pyharness_build_type INTERFACE ${asserts} -O1 -g -fno-omit-frame-pointer -fsanitize=thread)
  target_link_options(pyharness_build_type INTERFACE -fsanitize=thread)
else()
  # Error messages (__FILE__) name files as the source distribution has them, not as the machine that built it.
  target_compile_options(
    pyharness_build_type INTERFACE "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" "-fmacro-prefix-map=${PYHARNESS_TORCH}/=")
  # No -march: the build runs on any x86-64; kernels choose wider instructions at run time, function by function.
  target_compile_options(pyharness_build_type INTERFACE -DNDEBUG -O3 -fno-math-errno -fno-trapping-math)
endif()

if(PYHARNESS_OPENMP)
  # libgomp resolves to the copy that torch has already loaded under the same name.
  target_compile_options(pyharness_build_type INTERFACE -fopenmp)
  target_link_options(pyharness_build_type INTERFACE -fopenmp)
endif()

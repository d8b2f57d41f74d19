# The targets pyharness::torch and pyharness::python: headers and libraries of the interpreter that PYHARNESS_PYTHON names.
# Not torch's own CMake package: it enables languages, adds flags (-DNDEBUG among them) and takes seconds.

set(describe "${CMAKE_SOURCE_DIR}/cmake/describe_python.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${describe}")
# -I: in pip's build environment, which has no torch, this still finds the torch of the environment that is installed to.
execute_process(
  COMMAND "${PYHARNESS_PYTHON}" -I "${describe}"
  OUTPUT_VARIABLE facts
  ERROR_VARIABLE complaint
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${complaint}")
endif()
cmake_language(EVAL CODE "${facts}")
message(STATUS "Python ${PYHARNESS_PYTHON_VERSION}, torch ${PYHARNESS_TORCH_VERSION} in ${PYHARNESS_TORCH}")

if(NOT EXISTS "${PYHARNESS_PYTHON_INCLUDE}/Python.h")
  message(FATAL_ERROR "${PYHARNESS_PYTHON_INCLUDE}/Python.h is missing: install the interpreter's headers (python3-dev)")
endif()

add_library(pyharness_python INTERFACE)
add_library(pyharness::python ALIAS pyharness_python)
target_include_directories(pyharness_python SYSTEM INTERFACE "${PYHARNESS_PYTHON_INCLUDE}")

# pybind11 is the copy that torch ships, so that both agree on its internals.
add_library(pyharness_torch INTERFACE)
add_library(pyharness::torch ALIAS pyharness_torch)
target_include_directories(
  pyharness_torch SYSTEM INTERFACE "${PYHARNESS_TORCH}/include"
                                   "${PYHARNESS_TORCH}/include/torch/csrc/api/include")
foreach(name c10 torch_cpu torch_python)
  target_link_libraries(pyharness_torch INTERFACE "${PYHARNESS_TORCH}/lib/lib${name}.so")
endforeach()

// A program in C++ that runs Python: on its main thread, and on threads of its
// own. Its argument is a folder with embedded.py; "isolated" before it has
// Python read no environment.
#include <Python.h>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace engine {

double scale(double value, double factor) {
  double result = value * factor; // @scale
  return result;
}

double turn(PyObject* tick, int step) {
  PyObject* made = PyObject_CallFunction(tick, "di", 2.0, step); // @turn
  const double value = made != nullptr ? PyFloat_AsDouble(made) : -1;
  Py_XDECREF(made);
  return value; // @turned
}

void work(PyObject* tick) {
  const char* asked = std::getenv("STEPS");
  const int steps = asked != nullptr ? std::atoi(asked) : 20;
  for (int step = 0; step < steps; ++step) {
    const PyGILState_STATE state = PyGILState_Ensure();
    turn(tick, step);
    PyGILState_Release(state);
  }
}

} // namespace engine

static PyObject* scale(PyObject* /*module*/, PyObject* args) {
  double value = 0;
  double factor = 0;
  if (PyArg_ParseTuple(args, "dd", &value, &factor) == 0) {
    return nullptr;
  }
  return PyFloat_FromDouble(engine::scale(value, factor));
}

static PyMethodDef methods[] = {
    {"scale", scale, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "engine", nullptr, -1, methods};

static PyObject* begin() {
  return PyModule_Create(&module);
}

int main(int count, char** words) {
  PyImport_AppendInittab("engine", begin);
  const bool isolated = std::strcmp(words[1], "isolated") == 0;
  PyConfig config;
  if (isolated) {
    PyConfig_InitIsolatedConfig(&config);
  } else {
    PyConfig_InitPythonConfig(&config);
  }
  PyConfig_SetBytesString(&config, &config.home, HOME);
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0) {
    Py_ExitStatusException(status);
  }
  PyObject* path = PySys_GetObject("path");
  PyObject* folder = PyUnicode_FromString(words[count - 1]);
  PyList_Insert(path, 0, folder);
  Py_DECREF(folder);
  PyObject* embedded = PyImport_ImportModule("embedded");
  PyObject* tick = embedded != nullptr
      ? PyObject_GetAttrString(embedded, "tick")
      : nullptr;
  if (tick == nullptr) {
    PyErr_Print();
    return 1;
  }
  engine::turn(tick, -1);
  PyThreadState* saved = PyEval_SaveThread();
  std::thread first(engine::work, tick);
  std::thread second(engine::work, tick);
  first.join();
  second.join();
  PyEval_RestoreThread(saved);
  Py_DECREF(tick);
  Py_DECREF(embedded);
  return Py_FinalizeEx() == 0 ? 0 : 2;
}

// The module _kernel_avx2: learning and decoding in vectors of 32 bytes, for the bindings of _kernel.
#include <Python.h>

#include "engines.h"

namespace {

PyObject* draw_secret(PyObject*, PyObject* arguments) {
  unsigned long long addend, factor;
  if (!PyArg_ParseTuple(arguments, "KK", &addend, &factor)) return nullptr;
  seqtag::set_secret(addend, factor);
  Py_RETURN_NONE;
}

}  // namespace

PyMODINIT_FUNC PyInit__kernel_avx2() {
  static seqtag::Engines engines;
  static PyMethodDef functions[] = {{"draw_secret", draw_secret, METH_VARARGS, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_kernel_avx2", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
  PyObject* module = PyModule_Create(&definition);
  PyObject* capsule = module ? PyCapsule_New(&engines, "seqtag.engines", nullptr) : nullptr;
  if (!capsule || PyModule_AddObject(module, "engines", capsule) < 0) {
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    return nullptr;
  }
  return module;
}

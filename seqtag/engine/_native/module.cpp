// Python's door to the kernel: arrays in, arrays out, checked here once, GIL released inside.
#include <nanobind/nanobind.h>

#include <exception>
#include <new>

#include "bind.h"
#include "engines.h"
#include "limits.h"

namespace nb = nanobind;

namespace {

seqtag::Engines in_use;  // by default those compiled for every machine

void use_engines(const nb::capsule& engines) {
  in_use = *static_cast<const seqtag::Engines*>(engines.data("seqtag.engines"));
}

// Whether this machine can run a kernel compiled for AVX2.
bool has_avx2() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

void say_memory_is_short(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const seqtag::NoRoom& refused) {
    PyErr_SetString(PyExc_MemoryError, refused.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "found too little memory; use fewer labels, features or sentences at a time");
  }
}

}  // namespace

const seqtag::Engines& seqtag::engines() { return in_use; }

NB_MODULE(_kernel, m) {
  m.doc() = "Native kernel of seqtag; native.py is its only caller.";
  nb::register_exception_translator(say_memory_is_short);
  nb::set_leak_warnings(false);  // of what threads hold while Python ends
  m.def("has_avx2", &has_avx2);
  m.def("use_engines", &use_engines, nb::arg("engines"));
  m.def("draw_secret", &seqtag::set_secret, nb::arg("addend"), nb::arg("factor"));
  seqtag::bind_weights(m);
  seqtag::bind_decoder(m);
  seqtag::bind_features(m);
  seqtag::bind_strings(m);
  seqtag::bind_text(m);
  seqtag::bind_clustering(m);
}

// Python's door to the kernel: arrays in, arrays out, checked here once, GIL released inside.
#include <nanobind/nanobind.h>

#include <exception>
#include <new>

#include "bind.h"
#include "limits.h"
#include "secret.h"

namespace nb = nanobind;

namespace {

// Whether this machine can run a kernel compiled for AVX2.
bool has_avx2() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

void draw_secret(uint64_t addend, uint64_t factor) { seqtag::process_secret() = {addend, factor | 1}; }

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

NB_MODULE(SEQTAG_KERNEL, m) {
  m.doc() = "Native kernel of seqtag; native.py is its only caller.";
  nb::register_exception_translator(say_memory_is_short);
  nb::set_leak_warnings(false);  // of what threads hold while Python ends
  m.def("has_avx2", &has_avx2);
  m.def("draw_secret", &draw_secret, nb::arg("addend"), nb::arg("factor"));
  seqtag::bind_weights(m);
  seqtag::bind_decoder(m);
#ifdef SEQTAG_COMPLETE
  seqtag::bind_strings(m);
  seqtag::bind_text(m);
  seqtag::bind_clustering(m);
#endif
}

// Python's door to the kernel: arrays in, arrays out, checked here once, GIL released inside.
#include <nanobind/nanobind.h>

#include <exception>
#include <new>

#include "bind_attributes.h"
#include "bind_characters.h"
#include "bind_exchange.h"
#include "bind_frozen.h"
#include "bind_lists.h"
#include "bind_scanner.h"
#include "bind_sentences.h"
#include "bind_tables.h"
#include "bind_tokens.h"
#include "bind_weights.h"

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
  seqtag::bind_weights<float>(m, "Weights32");
  seqtag::bind_weights<double>(m, "Weights64");
  seqtag::bind_dropout(m);
  seqtag::bind_frozen(m);
  seqtag::bind_scanner(m);
  seqtag::bind_sentences(m);
  seqtag::bind_lists(m);
  seqtag::bind_characters(m);
  seqtag::bind_tables(m);
  seqtag::bind_tokens(m);
  seqtag::bind_exchange(m);
  seqtag::bind_attributes(m);
}

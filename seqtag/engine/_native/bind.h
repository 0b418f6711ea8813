// Shared by all bindings: numpy arrays in and out, records of arrays.py, and argument checks. The
// kernel binds its classes and functions under the names of the reference, with the same arguments and
// results.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "label_components.h"
#include "limits.h"

namespace seqtag {

namespace nb = nanobind;

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T> nb::object to_numpy(std::vector<T>&& values, std::vector<size_t> shape = {}) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  if (shape.empty()) shape = {owned->size()};
  T* data = owned->data();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
}

// What another thread cannot write to after it was checked, while a call works without Python's lock.
template <class T> std::vector<T> copied(const In<T>& values) {
  return {values.data(), values.data() + values.shape(0)};
}
template <class T> std::vector<T> copied(const In2<T>& values) {
  return {values.data(), values.data() + values.shape(0) * values.shape(1)};
}

// A record of arrays.py, by its name and fields.
template <class... Fields> nb::object record(const char* name, Fields&&... fields) {
  return nb::module_::import_("seqtag.engine.arrays").attr(name)(std::forward<Fields>(fields)...);
}

inline void require(bool ok, const char* message) {
  if (!ok) throw nb::value_error(message);
}

// Calls that change an object, one at a time: another thread, or a function of Python that a call asks, would find
// it half changed. So would every later call, if memory ran out in the middle of one.
class OneAtATime {
 public:
  template <class Work> decltype(auto) run(Work work) {
    const Turn turn(*this);
    try {
      return work();
    } catch (const std::bad_alloc&) {
      failed_ = true;
      throw;
    }
  }
  class Turn {  // of a call that leaves an object usable if memory runs out
   public:
    explicit Turn(OneAtATime& calls) : calls_(calls) {
      if (calls.failed_) throw std::runtime_error("an earlier call ran out of memory; make a new object");
      if (calls.busy_) throw std::runtime_error("another call is using this object; make one for each thread");
      calls.busy_ = true;
    }
    Turn(const Turn&) = delete;
    ~Turn() { calls_.busy_ = false; }

   private:
    OneAtATime& calls_;
  };

 private:
  bool busy_ = false, failed_ = false;  // read and written with Python's lock
};

inline bool ascending(const int64_t* ptr, size_t n, size_t end) {
  if (n == 0 || ptr[0] != 0 || size_t(ptr[n - 1]) != end) return false;
  for (size_t i = 1; i < n; ++i)
    if (ptr[i] < ptr[i - 1]) return false;
  return true;
}
inline bool ascending(const In<int64_t>& ptr, size_t end) { return ascending(ptr.data(), ptr.shape(0), end); }
inline bool ascending(const std::vector<int64_t>& ptr, size_t end) { return ascending(ptr.data(), ptr.size(), end); }

// Whether the values of each row ascend.
template <class Index> bool ascending_within(const In<int64_t>& ptr, const In<Index>& values) {
  const Index* value = values.data();
  int64_t falls = 0;  // without leaving early, so that several are compared at a time
  for (size_t i = 1; i < values.shape(0); ++i) falls += value[i] <= value[i - 1];
  for (size_t r = 1; r + 1 < ptr.shape(0); ++r)  // those from one row to the next are fine
    falls -= ptr(r) > 0 && ptr(r) < ptr(r + 1) && value[ptr(r)] <= value[ptr(r) - 1];
  return falls == 0;
}

template <class Index> bool within(const Index* values, size_t n, int64_t limit) {
  constexpr int64_t most = std::numeric_limits<Index>::max();
  if (n && limit <= 0) return false;
  const Index last = Index(limit > most ? most : limit - 1);
  Index wrong = 0;  // without leaving early, so that several are compared at a time
  for (size_t i = 0; i < n; ++i) wrong = Index(wrong | Index(values[i] < 0) | Index(values[i] > last));
  return wrong == 0;
}

// Records of arrays.py are tuples.
using PyComponents = std::optional<std::tuple<In<int64_t>, In<int32_t>, int>>;
template <class Real> using PyCells = std::tuple<In<int64_t>, In<int32_t>, In<Real>, In<Real>, In<Real>>;
using PyRows = std::tuple<In<uint64_t>, In<int64_t>, In<uint16_t>, In<int8_t>>;
using PyTagDictionary = std::tuple<int, In<uint64_t>, In<int64_t>, In<uint16_t>>;
using PyKeyPlan = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>, In<uint64_t>, In<uint64_t>, In<int32_t>, int>;
using PyLabelsByTags = std::tuple<PyKeyPlan, In<uint64_t>, In<int64_t>, In<uint16_t>>;
using PyQuantizedWeights = std::tuple<PyRows, PyRows, PyRows, In<float>, In<float>, In2<float>, double>;
using PyAllowed = std::optional<std::tuple<In<int64_t>, In<int32_t>>>;

inline LabelComponents parts_of(int labels, const PyComponents& parts) {
  if (!parts) return {};
  const auto& [ptr, part, number] = *parts;
  require(ptr.shape(0) == size_t(labels) + 1 && ascending(ptr, part.shape(0)),
          "part_ptr must ascend from 0 to the number of parts listed, one step per label");
  require(number > 0, "labels made of parts must have at least one part");
  require(within(part.data(), part.shape(0), number), "part holds a part out of range");
  return {{ptr.data(), ptr.data() + ptr.shape(0)}, {part.data(), part.data() + part.shape(0)}, number};
}

// What computes in vectors, in the width in use. Changed with Python's lock, before there are objects.
struct Engines;
const Engines& engines();

// Each adds its classes and functions to the module.
void bind_weights(nb::module_& m);
void bind_decoder(nb::module_& m);
void bind_features(nb::module_& m);
void bind_strings(nb::module_& m);
void bind_text(nb::module_& m);
void bind_clustering(nb::module_& m);

}  // namespace seqtag

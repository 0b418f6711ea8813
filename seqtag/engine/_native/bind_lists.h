// Lists of strings in and out. engine/lists.py: Values, label_lists().
#pragma once
#include "bind.h"
#include "simd.h"

namespace seqtag {

// Strings of Python, numbered as they come: a table by their hashes, which Python keeps in them. Each
// step asks for the memory of the next, for the strings of a corpus are anywhere.
class PyValues {
 public:
  PyValues() : slots_(1024) {}

  nb::object number(nb::list rows, size_t count) {
    std::vector<nb::object> kept;  // what is made here, until all is numbered
    std::vector<PyObject*> values;
    values.reserve(count);
    for (nb::handle row : rows) kept.push_back(as_list(row));
    for (size_t r = 0, n = kept.size(); r < n; ++r) collect(nb::object(kept[r]), kept, values);
    require(values.size() == count, "count must be the number of values");
    std::vector<Py_hash_t> hashes(count);
    for (size_t i = 0; i < count; ++i) {
      if (i + 2 * kAhead < count) SEQTAG_PREFETCH(values[i + 2 * kAhead]);
      hashes[i] = PyObject_Hash(values[i]);
    }
    std::vector<int32_t> ids(count);
    for (size_t i = 0; i < count; ++i) {
      if (i + 2 * kAhead < count) SEQTAG_PREFETCH(&slots_[home(hashes[i + 2 * kAhead])]);
      if (i + kAhead < count) SEQTAG_PREFETCH(slots_[home(hashes[i + kAhead])].value);
      ids[i] = number_of(values[i], hashes[i]);
    }
    return to_numpy(std::move(ids));
  }
  // Values that were numbered since the last call, in order.
  nb::list new_values() {
    nb::list out;
    for (; reported_ < values_.size(); ++reported_) out.append(values_[reported_]);
    return out;
  }

 private:
  static constexpr size_t kAhead = 8;
  struct Slot {
    PyObject* value = nullptr;  // of values_
    Py_hash_t hash = 0;
    int32_t number = 0;
  };
  std::vector<Slot> slots_;
  std::vector<nb::object> values_;
  size_t reported_ = 0;

  size_t home(Py_hash_t hash) const { return size_t(hash) & (slots_.size() - 1); }
  static nb::object as_list(nb::handle row) {
    if (PyList_Check(row.ptr()) || PyTuple_Check(row.ptr())) return nb::borrow(row);
    return made(PySequence_List(row.ptr()));
  }
  static nb::object made(PyObject* object) {
    if (!object) throw nb::python_error();
    return nb::steal(object);
  }
  // Nothing here runs code of others, so that no list changes meanwhile.
  static void collect(const nb::object& row, std::vector<nb::object>& kept, std::vector<PyObject*>& values) {
    const bool list = PyList_Check(row.ptr());
    const Py_ssize_t n = list ? PyList_Size(row.ptr()) : PyTuple_Size(row.ptr());
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* value = list ? PyList_GetItem(row.ptr(), i) : PyTuple_GetItem(row.ptr(), i);
      if (!PyUnicode_Check(value)) throw nb::type_error("values must be strings");
      if (!PyUnicode_CheckExact(value)) {  // of a class that may have its own ideas of what is equal
        kept.push_back(made(PyUnicode_FromObject(value)));
        value = kept.back().ptr();
      }
      values.push_back(value);
    }
  }
  int32_t number_of(PyObject* value, Py_hash_t hash) {
    size_t i = home(hash);
    for (; slots_[i].value; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].hash == hash && (slots_[i].value == value || PyUnicode_Compare(slots_[i].value, value) == 0))
        return slots_[i].number;
    require(values_.size() < size_t(std::numeric_limits<int32_t>::max()), "there are more than 2147483647 values");
    const int32_t number = int32_t(values_.size());
    values_.push_back(nb::borrow(value));
    slots_[i] = {value, hash, number};
    if (2 * values_.size() > slots_.size()) grow();
    return number;
  }
  void grow() {
    std::vector<Slot> old(4 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (!slot.value) continue;
      size_t i = home(slot.hash);
      while (slots_[i].value) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }
};

inline nb::list label_lists(nb::list names, In<int32_t> ids, In<int64_t> ptr) {
  require(ascending(ptr, ids.shape(0)), "ptr must ascend from 0 to the number of ids");
  require(within(ids.data(), ids.shape(0), int64_t(nb::len(names))), "an id without a name");
  std::vector<nb::object> name_of;
  for (nb::handle name : names) name_of.push_back(nb::borrow(name));
  nb::list out;
  for (size_t s = 0; s + 1 < ptr.shape(0); ++s) {
    const int64_t begin = ptr(s), end = ptr(s + 1);
    nb::object labels = nb::steal(PyList_New(Py_ssize_t(end - begin)));
    if (!labels.is_valid()) throw nb::python_error();
    for (int64_t n = begin; n < end; ++n)  // takes a reference over
      PyList_SetItem(labels.ptr(), Py_ssize_t(n - begin), nb::object(name_of[size_t(ids(size_t(n)))]).release().ptr());
    out.append(labels);
  }
  return out;
}

inline void bind_lists(nb::module_& m) {
  nb::class_<PyValues>(m, "Values")
      .def(nb::init<>())
      .def("number", &PyValues::number, nb::arg("rows"), nb::arg("count"))
      .def("new_values", &PyValues::new_values);
  m.def("label_lists", &label_lists, nb::arg("names"), nb::arg("ids"), nb::arg("ptr"));
}

}  // namespace seqtag

// Strings of Python: numbered, hashed, and as attributes. engine/keys.py: Values, label_lists(),
// hash_strings(), join_keys(), count_cells(); interface.py: HashAttributes.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "attributes.h"
#include "bind.h"
#include "index.h"
#include "interning.h"
#include "keys.h"
#include "quantized_rows.h"
#include "secret.h"
#include "simd.h"
#include "word_reader.h"

namespace seqtag {
namespace {

// Strings of Python, numbered as they come: a table by their hashes, which Python keeps in them. Each
// step asks for the memory of the next, for the strings of a corpus are anywhere.
class PyValues {
 public:
  PyValues() : slots_(1024) {}

  nb::object number(nb::list rows, size_t count) {
    const OneAtATime::Turn turn(calls_);
    std::vector<nb::object> kept;  // what is made here, until all is numbered
    std::vector<PyObject*> values;
    const nb::tuple as_given(rows);  // rows may run code that changes the list
    for (nb::handle row : as_given) kept.push_back(as_list(row));
    size_t total = 0;
    for (const nb::object& row : kept) total += size_t(size_of(row));
    require(total == count, "count must be the number of values");
    values.reserve(count);
    for (size_t r = 0, n = kept.size(); r < n; ++r) collect(nb::object(kept[r]), kept, values);
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
  OneAtATime calls_;

  size_t home(Py_hash_t hash) const { return size_t(hash) & (slots_.size() - 1); }
  static nb::object as_list(nb::handle row) {
    if (PyList_Check(row.ptr()) || PyTuple_Check(row.ptr())) return nb::borrow(row);
    return made(PySequence_List(row.ptr()));
  }
  static nb::object made(PyObject* object) {
    if (!object) throw nb::python_error();
    return nb::steal(object);
  }
  static Py_ssize_t size_of(const nb::object& row) {
    return PyList_Check(row.ptr()) ? PyList_Size(row.ptr()) : PyTuple_Size(row.ptr());
  }
  // Nothing here runs code of others, so that no list changes meanwhile.
  static void collect(const nb::object& row, std::vector<nb::object>& kept, std::vector<PyObject*>& values) {
    const bool list = PyList_Check(row.ptr());
    for (Py_ssize_t i = 0, n = size_of(row); i < n; ++i) {
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

nb::list label_lists(nb::list names, In<int32_t> ids, In<int64_t> ptr) {
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

// Hash of each attribute's value per word, 0 if absent: (attributes, words).
nb::object hash_attributes(nb::list given, const std::vector<PyAttributeUse>& attributes, const nb::callable& describe,
                           const nb::callable& spell) {
  const std::vector<AttributeUse> uses = uses_of(attributes);
  UnicodeTable& table = process_characters();
  WordReader reader(table, describe, spell);
  Words read;
  const nb::tuple words(given);  // describe and spell may change the list
  for (nb::handle word : words) reader.read(word, read);
  return hashes_of(table, read, uses);
}

// Hash of each string; lone surrogates are hashed as they are.
nb::object hash_strings(nb::sequence values) {
  std::vector<uint64_t> hashes;
  for (nb::handle value : values) {
    if (!PyUnicode_Check(value.ptr())) throw nb::type_error("expected strings");
    Py_ssize_t size;
    if (const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size)) {
      hashes.push_back(hash_bytes(bytes, size_t(size)));
      continue;
    }
    PyErr_Clear();
    const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogatepass"));
    if (!encoded.is_valid()) throw nb::python_error();
    const auto bytes = nb::cast<nb::bytes>(encoded);
    hashes.push_back(hash_bytes(bytes.c_str(), bytes.size()));
  }
  return to_numpy(std::move(hashes));
}

size_t longest_probe_of_values(nb::bytes blob, In<int64_t> offsets) {
  require(ascending(offsets, blob.size()), "offsets must ascend from 0 to the length of blob");
  Interner values;
  for (size_t i = 0; i + 1 < offsets.shape(0); ++i)
    values.intern(blob.c_str() + offsets(i), size_t(offsets(i + 1) - offsets(i)));
  return values.longest_probe();
}

// Of tables of keys in training and in a frozen model, and of tuples that hold their halves.
nb::tuple longest_probes_of_keys(In<uint64_t> keys) {
  KeyNumbers numbers;
  PairNumbers pairs;
  TupleNumbers<4> tuples;
  for (size_t i = 0; i < keys.shape(0); ++i) {
    numbers.number(keys(i));
    const int32_t high = int32_t(keys(i) >> 32), low = int32_t(keys(i));
    pairs.number({high, low});
    tuples.number({1, 2, high, low});
  }
  const std::vector<int64_t> row_ptr(keys.shape(0) + 1, 0);
  const QuantizedRows rows({keys.data(), keys.shape(0), row_ptr.data(), nullptr, nullptr});
  return nb::make_tuple(numbers.longest_probe(), rows.longest_probe(), pairs.longest_probe(), tuples.longest_probe());
}

// visit(i) for each bit i of `count` that is 1; the first bit of a byte is the highest.
template <class Visit> void each_one(const uint8_t* bytes, size_t count, Visit visit) {
  for (size_t begin = 0; begin < count; begin += 64) {
    uint64_t word = 0;
    for (size_t i = begin; i < begin + 64; i += 8) word = word << 8 | (i < count ? bytes[i / 8] : 0);
    if (count - begin < 64) word &= ~uint64_t(0) << (64 - (count - begin));
#if defined(__GNUC__) || defined(__clang__)
    while (word) {
      const int first = __builtin_clzll(word);
      visit(begin + size_t(first));
      word ^= uint64_t(1) << (63 - first);
    }
#else
    for (size_t i = begin; word; ++i, word <<= 1)
      if (word >> 63) visit(i);
#endif
  }
}

// Keys of 48 bits as model files store many of them.
nb::object join_keys(In<uint32_t> low, In<uint8_t> high) {
  const size_t n = low.shape(0), bits = n + 65536;
  require(high.shape(0) == (bits + 7) / 8, "high must have a bit per key and value");
  std::vector<uint64_t> keys(n);
  size_t key = 0;
  each_one(high.data(), bits, [&](size_t i) {
    if (key < n) keys[key] = uint64_t(i - key) << 32 | low.data()[key];
    ++key;
  });
  require(key == n, "high must have a bit per key");
  return to_numpy(std::move(keys));
}

// Number of cells of each row, given a bit per cell, 1 for the last of its row.
nb::object count_cells(In<uint8_t> ends, size_t cells) {
  require(ends.shape(0) == cells / 8 + (cells % 8 != 0), "ends must have a bit per cell");
  std::vector<uint16_t> counts;
  size_t begin = 0, most = 0;
  each_one(ends.data(), cells, [&](size_t i) {
    most = std::max(most, i + 1 - begin);
    counts.push_back(uint16_t(i + 1 - begin));
    begin = i + 1;
  });
  require(most <= 65535, "a row must have at most 65535 cells");
  return to_numpy(std::move(counts));
}

}  // namespace

void bind_strings(nb::module_& m) {
  nb::class_<PyValues>(m, "Values")
      .def(nb::init<>())
      .def("number", &PyValues::number, nb::arg("rows"), nb::arg("count"))
      .def("new_values", &PyValues::new_values);
  m.def("label_lists", &label_lists, nb::arg("names"), nb::arg("ids"), nb::arg("ptr"));
  m.def("hash_strings", &hash_strings, nb::arg("values"));
  m.def("join_keys", &join_keys, nb::arg("low"), nb::arg("high"));
  m.def("count_cells", &count_cells, nb::arg("ends"), nb::arg("cells"));
  m.def("hash_attributes", &hash_attributes, nb::arg("words"), nb::arg("attributes"), nb::arg("describe"),
        nb::arg("spell"));
  m.def("longest_probe_of_values", &longest_probe_of_values, nb::arg("blob"), nb::arg("offsets"));
  m.def("longest_probes_of_keys", &longest_probes_of_keys, nb::arg("keys"));
}

}  // namespace seqtag

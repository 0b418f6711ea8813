// Strings of Python: numbered, hashed, and as attributes. engine/keys.py: Values, label_lists(),
// hash_strings(); interface.py: HashAttributes.
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

namespace seqtag {
namespace {

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

// Words from Python, and what must be known of their characters. All of it holds the lock.
class WordReader {
 public:
  // describe(block): the properties of its code points. spell(word): the form of a word in which
  // attributes see it, and that in lower case; asked of words whose characters do not say so one by one.
  WordReader(UnicodeTable& table, const nb::callable& describe, const nb::callable& spell, bool normal)
      : table_(table), describe_(describe), spell_(spell), normal_(normal) {}

  void read(nb::handle word, Words& out) {
    const size_t form = out.forms.size(), lower = out.lowers.size();
    append(word, out.forms);
    if (is_ascii(out.forms, form)) {  // normal, and in lower case each by itself
      for (size_t i = form; i < out.forms.size(); ++i) out.lowers.push_back(uint32_t(character(out.forms[i]).lower[0]));
    } else {
      if (!normalize(word, out.forms, form) || !lower_case(out.forms, form, out.lowers)) {
        out.forms.resize(form);
        out.lowers.resize(lower);
        const nb::object spelt = spell_(word);
        append(spelt[0], out.forms);
        append(spelt[1], out.lowers);
        learn(out.forms, form);
      }
      learn(out.lowers, lower);
    }
    out.form_ptr.push_back(out.forms.size());
    out.lower_ptr.push_back(out.lowers.size());
  }

 private:
  UnicodeTable& table_;
  const nb::callable &describe_, &spell_;
  bool normal_;

  static void append(nb::handle word, std::vector<uint32_t>& codes) {
    if (!PyUnicode_Check(word.ptr())) throw nb::type_error("expected words as strings");
    const Py_ssize_t n = PyUnicode_GetLength(word.ptr());
    const size_t first = codes.size();
    codes.resize(first + size_t(n));
    if (n && !PyUnicode_AsUCS4(word.ptr(), codes.data() + first, n, 0)) throw nb::python_error();
  }
  static bool is_ascii(const std::vector<uint32_t>& codes, size_t first) {
    uint32_t some = 0;
    for (size_t i = first; i < codes.size(); ++i) some |= codes[i];
    return some < 0x80;
  }
  void learn(const std::vector<uint32_t>& codes, size_t first) {
    for (size_t i = first; i < codes.size(); ++i) character(codes[i]);
  }
  const Character& character(uint32_t code) {
    if (!table_.knows(code)) learn_block(code / UnicodeTable::kBlock);
    return table_[code];
  }
  void learn_block(size_t block) {
    using Described = std::tuple<In2<int32_t>, In<uint16_t>, In<uint8_t>>;
    const nb::object answer = describe_(block);
    const auto [codes, bits, combining] = nb::cast<Described>(answer);
    constexpr size_t n = UnicodeTable::kBlock;
    require(codes.shape(0) == n && codes.shape(1) == Character::kCodes && bits.shape(0) == n && combining.shape(0) == n,
            "a description of characters must have (32, 10) codes, 32 bits and 32 combining classes");
    for (size_t i = 0; i < n * Character::kCodes; ++i)
      require(codes.data()[i] < int32_t(UnicodeTable::kCodes) && codes.data()[i] > -0x8000, "codes is out of range");
    auto characters = std::make_unique<UnicodeTable::Block>();
    for (size_t i = 0; i < n; ++i) {
      const int32_t* c = &codes(i, 0);
      (*characters)[i] = {c[0], {c[1], c[2], c[3]}, {c[4], c[5], c[6]}, c[7], c[8], c[9], bits(i), combining(i)};
    }
    table_.learn(block, std::move(characters));
  }

  // Puts a word, from `first` on, into the form in which attributes see it; false if that is not plain.
  bool normalize(nb::handle word, std::vector<uint32_t>& codes, size_t first) {
    if (!normal_) {
      learn(codes, first);
      return true;
    }
    size_t kept = first;
    for (size_t i = first; i < codes.size(); ++i) {
      const int32_t plain = character(codes[i]).plain;
      if (plain != Character::kNone) codes[kept++] = uint32_t(plain);
    }
    if (kept == first) {  // of invisible characters alone: it stays as it is
      codes.resize(first);
      append(word, codes);
      return true;
    }
    codes.resize(kept);
    uint8_t before = 0;
    for (size_t i = first; i < kept; ++i) {  // the quick check of the Unicode standard, annex 15
      const Character& c = character(codes[i]);
      if (!(c.bits & Character::kComposed) || (c.combining && c.combining < before)) return false;
      before = c.combining;
    }
    return true;
  }
  // The lower case of a word, from `first` on; false if it is not that of the characters one by one.
  bool lower_case(const std::vector<uint32_t>& form, size_t first, std::vector<uint32_t>& lower) {
    for (size_t i = first; i < form.size(); ++i) {
      const Character& c = table_[form[i]];
      if (c.bits & Character::kContextual) return false;
      for (int32_t code : c.lower)
        if (code != Character::kNone) lower.push_back(uint32_t(code));
    }
    return true;
  }
};

// Name, number, letters.
using PyAttributeUse = std::tuple<std::string, int, std::vector<std::tuple<uint32_t, uint32_t>>>;

AttributeUse use_of(const PyAttributeUse& given) {
  const auto& [name, n, letters] = given;
  const auto* found = std::find(std::begin(kAttributeNames), std::end(kAttributeNames), name);
  require(found != std::end(kAttributeNames), "attributes names one that the kernel does not know");
  AttributeUse use{Attribute(found - std::begin(kAttributeNames)), n};
  using A = Attribute;
  const bool of_length = use.attribute == A::kPrefix || use.attribute == A::kSuffix || use.attribute == A::kSkeleton;
  require(of_length ? n > 0 : use.attribute != A::kPart || n != 0, "an attribute has a number out of range");
  for (const auto& [letter, written] : letters) use.letters.emplace_back(letter, written);
  for (const auto& [letter, written] : use.letters)
    require(letter < UnicodeTable::kCodes && written < UnicodeTable::kCodes, "letters is out of range");
  std::sort(use.letters.begin(), use.letters.end());
  return use;
}

// Hash of each attribute's value per word, 0 if absent: (attributes, words).
nb::object hash_attributes(nb::list words, const std::vector<PyAttributeUse>& attributes, bool normal,
                           const nb::callable& describe, const nb::callable& spell) {
  std::vector<AttributeUse> uses;
  for (const PyAttributeUse& each : attributes) uses.push_back(use_of(each));
  UnicodeTable& table = process_characters();
  WordReader reader(table, describe, spell, normal);
  Words read;
  for (nb::handle word : words) reader.read(word, read);
  std::vector<uint64_t> hashes(uses.size() * read.size());
  {
    nb::gil_scoped_release release;
    const Attributes made(table, read);
    for (size_t a = 0; a < uses.size(); ++a) made.hash(uses[a], hashes.data() + a * read.size());
  }
  return to_numpy(std::move(hashes), {uses.size(), read.size()});
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

// Of tables of keys in training and in a frozen model, and of pairs whose halves they are.
nb::tuple longest_probes_of_keys(In<uint64_t> keys) {
  KeyNumbers numbers;
  PairNumbers pairs;
  for (size_t i = 0; i < keys.shape(0); ++i) {
    numbers.number(keys(i));
    pairs.number(int32_t(keys(i) >> 32), int32_t(keys(i)));
  }
  const std::vector<int64_t> row_ptr(keys.shape(0) + 1, 0);
  const QuantizedRows rows(keys.data(), keys.shape(0), row_ptr.data(), nullptr, nullptr);
  return nb::make_tuple(numbers.longest_probe(), rows.longest_probe(), pairs.longest_probe());
}

}  // namespace

void bind_strings(nb::module_& m) {
  nb::class_<PyValues>(m, "Values")
      .def(nb::init<>())
      .def("number", &PyValues::number, nb::arg("rows"), nb::arg("count"))
      .def("new_values", &PyValues::new_values);
  m.def("label_lists", &label_lists, nb::arg("names"), nb::arg("ids"), nb::arg("ptr"));
  m.def("hash_strings", &hash_strings, nb::arg("values"));
  m.def("hash_attributes", &hash_attributes, nb::arg("words"), nb::arg("attributes"), nb::arg("normal"),
        nb::arg("describe"), nb::arg("spell"));
  m.def("longest_probe_of_values", &longest_probe_of_values, nb::arg("blob"), nb::arg("offsets"));
  m.def("longest_probes_of_keys", &longest_probes_of_keys, nb::arg("keys"));
}

}  // namespace seqtag

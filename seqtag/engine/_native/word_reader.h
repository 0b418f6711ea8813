// Words from Python, as attributes see them. engine/interface.py: HashAttributes.
#pragma once
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attributes.h"
#include "bind.h"

namespace seqtag {

// Words from Python, and what must be known of their characters. All of it holds the lock.
class WordReader {
 public:
  // describe(block): the properties of its code points. spell(word): the form of a word in which
  // attributes see it, and that in lower case; asked of words whose characters do not say so one by one.
  WordReader(UnicodeTable& table, const nb::callable& describe, const nb::callable& spell)
      : table_(table), describe_(describe), spell_(spell) {}

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
  // The same for UTF-8, which may hold lone surrogates.
  void read(const std::string& word, Words& out) {
    if (std::any_of(word.begin(), word.end(), [](char c) { return (c & 0x80) != 0; })) {
      const nb::object decoded = nb::steal(PyUnicode_DecodeUTF8(word.data(), Py_ssize_t(word.size()), "surrogatepass"));
      if (!decoded.is_valid()) throw nb::python_error();
      return read(nb::handle(decoded), out);
    }
    for (char c : word) {
      out.forms.push_back(uint32_t(c));
      out.lowers.push_back(uint32_t(character(uint32_t(c)).lower[0]));
    }
    out.form_ptr.push_back(out.forms.size());
    out.lower_ptr.push_back(out.lowers.size());
  }

 private:
  UnicodeTable& table_;
  const nb::callable &describe_, &spell_;

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
    UnicodeTable::Block characters;
    for (size_t i = 0; i < n; ++i) {
      const int32_t* c = &codes(i, 0);
      characters[i] = {c[0], {c[1], c[2], c[3]}, {c[4], c[5], c[6]}, c[7], c[8], c[9], bits(i), combining(i)};
    }
    table_.learn(block, characters);
    // `read` asks for the characters of an ASCII word, and attributes look at those of its lower case, too.
    if (block == 'A' / UnicodeTable::kBlock && !table_.knows('a')) learn_block('a' / UnicodeTable::kBlock);
  }

  // Puts a word, from `first` on, into the form in which attributes see it; false if that is not plain.
  bool normalize(nb::handle word, std::vector<uint32_t>& codes, size_t first) {
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

inline AttributeUse use_of(const PyAttributeUse& given) {
  const auto& [name, n, letters] = given;
  const auto* found = std::find(std::begin(kAttributeNames), std::end(kAttributeNames), name);
  require(found != std::end(kAttributeNames), "attributes names one that the kernel does not know");
  AttributeUse use{Attribute(found - std::begin(kAttributeNames)), n};
  using A = Attribute;
  const bool of_length = use.attribute == A::kPrefix || use.attribute == A::kSuffix || use.attribute == A::kSkeleton;
  require(!of_length || n > 0, "an attribute has a number out of range");
  for (const auto& [letter, written] : letters) use.letters.emplace_back(letter, written);
  for (const auto& [letter, written] : use.letters)
    require(letter < UnicodeTable::kCodes && written < UnicodeTable::kCodes, "letters is out of range");
  std::sort(use.letters.begin(), use.letters.end());
  return use;
}

inline std::vector<AttributeUse> uses_of(const std::vector<PyAttributeUse>& given) {
  std::vector<AttributeUse> uses;
  for (const PyAttributeUse& each : given) uses.push_back(use_of(each));
  return uses;
}

// Hash of each attribute's value per word, 0 if absent: (attributes, words).
inline nb::object hashes_of(const UnicodeTable& table, const Words& read, const std::vector<AttributeUse>& uses) {
  std::vector<uint64_t> hashes(uses.size() * read.size());
  {
    nb::gil_scoped_release release;
    const Attributes made(table, read);
    for (size_t a = 0; a < uses.size(); ++a) made.hash(uses[a], hashes.data() + a * read.size());
  }
  return to_numpy(std::move(hashes), {uses.size(), read.size()});
}

}  // namespace seqtag

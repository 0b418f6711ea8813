// The built-in attributes of features/builtin.py, as hashes of their values, for many words at a time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "keys.h"
#include "unicode.h"

namespace seqtag {

enum class Attribute {
  kForm,
  kValue,
  kLower,
  kNormal,
  kPrefix,
  kSuffix,
  kSkeleton,
  kShape,
  kOutline,
  kFlags,
  kLength,
};
constexpr std::string_view kAttributeNames[] = {"form",     "value", "lower",   "normal", "prefix", "suffix",
                                                "skeleton", "shape", "outline", "flags",  "length"};

using Letters = std::vector<std::pair<uint32_t, uint32_t>>;  // ascending: what to write for each

// An attribute and its arguments.
struct AttributeUse {
  Attribute attribute;
  int n = 0;          // length
  Letters letters{};  // none: vowels as V
};

// keys.h: BytesHash of a value that comes code point by code point, up to MAX_LENGTH of attributes.py.
class ValueHash {
 public:
  void add(uint32_t code) {
    if (left_ == 0) return;
    --left_;
    add_code(code);
  }
  void add(const uint32_t* first, const uint32_t* last) {
    if (size_t(last - first) > left_) last = first + left_;
    left_ -= size_t(last - first);
    for (; first < last; ++first) add_code(*first);
  }
  uint64_t value() const { return hash_.value(); }

 private:
  BytesHash hash_;
  size_t left_ = 1000;
  void byte(uint32_t b) { hash_.add(uint8_t(b)); }
  void add_code(uint32_t code) {
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
      byte(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        byte(0xe0 | code >> 12);
      } else {
        byte(0xf0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3f));
      }
      byte(0x80 | (code >> 6 & 0x3f));
    }
    byte(0x80 | (code & 0x3f));
  }
};

struct Codes {  // code points end to end
  const uint32_t* first;
  size_t size;
  const uint32_t* begin() const { return first; }
  const uint32_t* end() const { return first + size; }
};

// Words in the form in which attributes see them, and in lower case.
class Words {
 public:
  size_t size() const { return form_ptr.size() - 1; }
  Codes form(size_t i) const { return {forms.data() + form_ptr[i], form_ptr[i + 1] - form_ptr[i]}; }
  Codes lower(size_t i) const { return {lowers.data() + lower_ptr[i], lower_ptr[i + 1] - lower_ptr[i]}; }

  std::vector<uint32_t> forms, lowers;
  std::vector<size_t> form_ptr{0}, lower_ptr{0};
};

class Attributes {
 public:
  Attributes(const UnicodeTable& table, const Words& words) : table_(table), words_(words) {}
  // Hash of an attribute's value per word, 0 if absent.
  void hash(const AttributeUse& use, uint64_t* out) const {
    const size_t n = size_t(use.n);
    switch (use.attribute) {
      case Attribute::kForm:
        return each(out, [&](size_t i) { return hash_of(words_.form(i)); });
      case Attribute::kValue:
        return each(out, [&](size_t i) { return words_.form(i).size ? hash_of(words_.form(i)) : 0; });
      case Attribute::kLower:
        return each(out, [&](size_t i) { return hash_of(words_.lower(i)); });
      case Attribute::kNormal:
        return each(out, [&](size_t i) { return normal(words_.form(i), words_.lower(i)); });
      case Attribute::kPrefix:
        return each(out, [&](size_t i) { return prefix(words_.lower(i), n); });
      case Attribute::kSuffix:
        return each(out, [&](size_t i) { return suffix(words_.lower(i), n); });
      case Attribute::kSkeleton:
        if (use.letters.empty()) return each(out, [&](size_t i) { return skeleton(words_.lower(i), n); });
        return each(out, [&](size_t i) { return skeleton(words_.lower(i), n, use.letters); });
      case Attribute::kShape:
        return each(out, [&](size_t i) { return shape(words_.form(i)); });
      case Attribute::kOutline:
        return each(out, [&](size_t i) { return outline(words_.form(i)); });
      case Attribute::kFlags:
        return each(out, [&](size_t i) { return flags(words_.form(i)); });
      case Attribute::kLength:
        return each(out,
                    [&](size_t i) { return hash_of_code('0' + uint32_t(std::min<size_t>(words_.form(i).size, 9))); });
    }
  }

 private:
  const UnicodeTable& table_;
  const Words& words_;

  template <class Value> void each(uint64_t* out, Value value) const {
    for (size_t i = 0; i < words_.size(); ++i) out[i] = value(i);
  }

  static uint64_t hash_of(Codes codes) {
    ValueHash hash;
    hash.add(codes.begin(), codes.end());
    return hash.value();
  }
  static uint64_t hash_of_code(uint32_t code) { return hash_of({&code, 1}); }
  uint64_t normal(Codes form, Codes lower) const {
    if (is_alpha(form)) return hash_of(lower);
    ValueHash hash;
    for (uint32_t code : lower) hash.add(is(code, Character::kDecimal) ? '0' : code);
    return hash.value();
  }
  static uint64_t prefix(Codes lower, size_t n) { return lower.size < n ? 0 : hash_of({lower.first, n}); }
  static uint64_t suffix(Codes lower, size_t n) { return lower.size < n ? 0 : hash_of({lower.end() - n, n}); }
  uint64_t skeleton(Codes lower, size_t n) const {
    if (lower.size < n) return 0;
    const Codes suffix{lower.end() - n, n};
    ValueHash hash;
    bool same = true, leave_out = is(suffix.first[0], Character::kBeginsLate);
    for (uint32_t code : suffix) {
      const Character& c = table_[code];
      same = same && c.skeleton[0] == int32_t(code) && c.skeleton[1] == Character::kNone;
      for (int32_t written : c.skeleton) {
        if (written != Character::kNone && !leave_out) hash.add(uint32_t(written));
        leave_out = false;
      }
    }
    return same ? 0 : hash.value();
  }
  uint64_t skeleton(Codes lower, size_t n, const Letters& letters) const {
    if (lower.size < n) return 0;
    ValueHash hash;
    bool same = true;
    for (uint32_t code : Codes{lower.end() - n, n}) {
      const uint32_t* written = find(letters, code);
      if (!written) written = find(letters, uint32_t(table_[code].base));
      same = same && (!written || *written == code);
      hash.add(written ? *written : code);
    }
    return same ? 0 : hash.value();
  }
  uint64_t shape(Codes form) const {
    ValueHash hash;
    for (uint32_t code : form) hash.add(uint32_t(table_[code].shape));
    return hash.value();
  }
  uint64_t outline(Codes form) const {
    ValueHash hash;
    int32_t before = Character::kNone;
    for (uint32_t code : form) {
      const int32_t kind = table_[code].outline;
      if (kind == before || kind == Character::kNone) continue;
      if (kind < 0) {
        hash.add(uint32_t(-kind) >> 8);
        hash.add(uint32_t(-kind) & 0xff);
      } else {
        hash.add(uint32_t(kind));
      }
      before = kind;
    }
    return hash.value();
  }

  static const uint32_t* find(const Letters& letters, uint32_t code) {
    const auto found = std::lower_bound(letters.begin(), letters.end(), std::pair<uint32_t, uint32_t>(code, 0));
    return found != letters.end() && found->first == code ? &found->second : nullptr;
  }
  bool is(uint32_t code, Character::Bits bit) const { return (table_[code].bits & bit) != 0; }
  bool all(Codes codes, Character::Bits bit) const {
    for (uint32_t code : codes)
      if (!is(code, bit)) return false;
    return codes.size > 0;
  }
  bool is_title(Codes form) const { return form.size && is(form.first[0], Character::kUpper); }
  static bool has_hyphen(Codes form) {
    for (uint32_t code : form)
      if (code == '-') return true;
    return false;
  }
  bool is_alpha(Codes form) const { return all(form, Character::kAlpha); }
  uint64_t flags(Codes form) const {
    uint16_t some = 0, every = form.size ? 0xffff : 0, inner = 0;
    for (size_t i = 0; i < form.size; ++i) {
      const uint16_t bits = table_[form.first[i]].bits;
      some = uint16_t(some | bits);
      every = uint16_t(every & bits);
      if (i) inner = uint16_t(inner | bits);
    }
    const bool is_upper = (some & Character::kUpper) && !(some & Character::kSmall);
    const bool bits[] = {is_title(form),
                         is_upper,
                         (some & Character::kDecimal) != 0,
                         has_hyphen(form),
                         (every & Character::kAlpha) != 0,
                         (inner & Character::kUpper) != 0};
    ValueHash hash;
    for (bool bit : bits) hash.add(bit ? '1' : '0');
    return hash.value();
  }
};

}  // namespace seqtag

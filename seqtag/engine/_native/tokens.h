// Text in tokens, one sentence a line, to type ids. corpus/text.py: read_tokens.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "scan.h"

namespace seqtag {

class TokenScanner {
 public:
  // Numbers the tokens of some whole lines; a line without any is a sentence without words.
  void scan(const char* text, size_t size, bool file_start) {
    types_.clear();
    sentence_ptr_.assign(1, 0);
    const char* p = text;
    const char* const end = text + size;
    if (file_start && size >= 3 && std::memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    while (p < end) {
      const char* first = p;
      while (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '\n') ++p;
      if (p > first) types_.push_back(interner_.intern(first, size_t(p - first)));
      if (p < end && *p++ == '\n') sentence_ptr_.push_back(int64_t(types_.size()));
    }
    if (int64_t(types_.size()) > sentence_ptr_.back()) sentence_ptr_.push_back(int64_t(types_.size()));
  }
  const std::vector<int32_t>& types() const { return types_; }
  const std::vector<int64_t>& sentence_ptr() const { return sentence_ptr_; }
  const Interner& interner() const { return interner_; }

 private:
  Interner interner_;
  std::vector<int32_t> types_;
  std::vector<int64_t> sentence_ptr_;
};

}  // namespace seqtag

// What numbers of the widths in use can hold. arrays.py states the same limits, and why.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

namespace seqtag {

constexpr size_t kMostRoom = size_t(1) << 29;  // bytes for one of the things that decoding a sentence keeps

struct NoRoom : std::bad_alloc {
  const char* what() const noexcept override {
    return "expected a sentence that is decoded in half a gigabyte, found one that is too long for the labels of the "
           "model; mark where its sentences end, ask for fewer sequences, or use fewer labels";
  }
};

// Refuses what would take more, before it is asked for.
inline void check_room(size_t count, size_t bytes) {
  if (count > kMostRoom / bytes) throw NoRoom();
}

constexpr int kMaxLabels = 65535;                    // a cell of a frozen row names its label in 16 bits
constexpr int kMaxTrigramLabels = 255;               // and a pair of labels
constexpr int kMaxBigramLabels = 46339;              // K * (K + 2) cells are numbered in 32 bits
constexpr int64_t kMaxRows = 2147483647;             // rows are numbered in 32 bits; so are tokens
constexpr int32_t kMaxOffset = 1000;                 // how far a template looks
constexpr int64_t kMaxWords = int64_t(1) << 31;      // of frozen rows: three for each row, one for each cell
constexpr int64_t kExactFloat = int64_t(1) << 24;    // whole numbers up to this are exact in float32
constexpr int64_t kMaxWeight = 128;                  // of 8 bits, without the sign
constexpr int64_t kNarrowRows = 32767 / kMaxWeight;  // rows that a sum of 16 bits can hold

}  // namespace seqtag

// What is known of code points. Python tells it, a block at a time, when a word first needs it: so it
// is what the Python at work knows. features/native.py: describe.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace seqtag {

struct Character {
  static constexpr int32_t kNone = -1;
  enum Bits : uint16_t {
    kUpper = 1,        // str.isupper
    kSmall = 2,        // str.islower, or a title-case letter: a word with it is not in upper case
    kDecimal = 4,      // str.isdecimal
    kAlpha = 8,        // str.isalpha
    kComposed = 16,    // NFC keeps it after any character, if marks are in order
    kContextual = 32,  // its lower case depends on its neighbors
    kBeginsLate = 64   // a skeleton that begins with it leaves out the first code point
  };
  static constexpr size_t kCodes = 10;  // code points, in this order
  int32_t plain;                        // what it counts as; kNone: nothing
  int32_t lower[3], skeleton[3];        // what is written for it, filled up with kNone
  int32_t base;                         // without its marks
  int32_t shape;
  int32_t outline;  // kNone: none; -(256 a + b): the two letters a and b
  uint16_t bits;
  uint8_t combining;  // canonical combining class
};

// Blocks are there for good once they are, so that threads may read while another one learns. Many
// share one piece of memory: alone, each would keep a page of the memory around it from being freed.
class UnicodeTable {
 public:
  static constexpr size_t kCodes = 0x110000, kBlock = 32, kBlocks = kCodes / kBlock;
  using Block = std::array<Character, kBlock>;

  bool knows(uint32_t code) const { return blocks_[code / kBlock].load(std::memory_order_acquire) != nullptr; }
  const Character& operator[](uint32_t code) const {
    return (*blocks_[code / kBlock].load(std::memory_order_acquire))[code % kBlock];
  }
  void learn(size_t block, const Block& characters) {
    const std::lock_guard<std::mutex> alone(learning_);
    if (blocks_[block].load(std::memory_order_relaxed)) return;
    if (left_ == 0) {
      next_ = new Block[kTogether];  // kept for good, as the table is
      left_ = kTogether;
    }
    *next_ = characters;
    blocks_[block].store(next_, std::memory_order_release);
    ++next_, --left_;
  }

 private:
  static constexpr size_t kTogether = 128;  // 180 kB

  std::array<std::atomic<const Block*>, kBlocks> blocks_{};
  std::mutex learning_;
  Block* next_ = nullptr;
  size_t left_ = 0;
};

// What this process knows. Never destroyed: a thread may still read when others end the process.
inline UnicodeTable& process_characters() {
  static UnicodeTable& table = *new UnicodeTable;
  return table;
}

}  // namespace seqtag

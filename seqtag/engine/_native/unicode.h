// What is known of code points. Python tells it, a block at a time, when a word first needs it: so it
// is what the Python at work knows. features/native.py: describe.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace seqtag {

struct Character {
  static constexpr int32_t kNone = -1;
  enum Bits : uint16_t {
    kUpper = 1,        // str.isupper
    kSmall = 2,        // str.islower, or a title-case letter: a word with it is not in upper case
    kDecimal = 4,      // str.isdecimal
    kAlpha = 8,        // str.isalpha
    kPunct = 16,       // punctuation or symbol
    kComposed = 32,    // NFC keeps it after any character, if marks are in order
    kContextual = 64,  // its lower case depends on its neighbors
    kBeginsLate = 128  // a skeleton that begins with it leaves out the first code point
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

// Blocks are there for good once they are, so that threads may read while another one learns.
class UnicodeTable {
 public:
  static constexpr size_t kCodes = 0x110000, kBlock = 32, kBlocks = kCodes / kBlock;
  using Block = std::array<Character, kBlock>;

  bool knows(uint32_t code) const { return blocks_[code / kBlock].load(std::memory_order_acquire) != nullptr; }
  const Character& operator[](uint32_t code) const {
    return (*blocks_[code / kBlock].load(std::memory_order_acquire))[code % kBlock];
  }
  void learn(size_t block, std::unique_ptr<const Block> characters) {
    const Block* none = nullptr;
    if (blocks_[block].compare_exchange_strong(none, characters.get())) characters.release();
  }

 private:
  std::array<std::atomic<const Block*>, kBlocks> blocks_{};
};

// What this process knows. Never destroyed: a thread may still read when others end the process.
inline UnicodeTable& process_characters() {
  static UnicodeTable& table = *new UnicodeTable;
  return table;
}

}  // namespace seqtag

// The lossless code that weights and channel parameters are stored in, and its decoder: the
// function of the NPU's LOADW unit. docs/weight_compression.md describes the format bit by bit.
//
// A block is a sequence of tokens, each a canonical prefix code of at most 12 bits: one byte, a run
// of the table's fill byte, or a repetition of the last byte written. Token t belongs to lane t
// mod 8. Every lane has a bit buffer and, before a token, takes the next 16-bit word of the one
// stream when it holds fewer than 12 bits: hardware decodes eight tokens a cycle from a single
// sequential read.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace deputy::arch {

inline constexpr int kCodeLanes = 8;
inline constexpr int kMaxCodeBits =
    12;  ///< of one token; also the fill below which a lane takes a word
inline constexpr int kLiterals = 256;  ///< symbol v + 128 stands for the byte of the signed value v
inline constexpr int kRunKinds = 16;
inline constexpr int kFirstFill = kLiterals;  ///< symbols 256..271: runs of the fill byte
inline constexpr int kFirstRepeat =
    kFirstFill + kRunKinds;  ///< symbols 272..287: the last byte again
inline constexpr int kCodeSymbols = kFirstRepeat + kRunKinds;
/// Bytes that the i-th run symbol of either kind stands for.
inline constexpr std::array<std::uint16_t, kRunKinds> kRunLengths = {
    2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 64, 128, 256};
/// A table in memory: 288 code lengths of four bits (0: the symbol does not occur; the even symbol
/// in the low half), then the fill byte.
inline constexpr int kCodeTableBytes = kCodeSymbols / 2 + 1;

/// A prefix code by its lengths: codes are handed out in order of (length, symbol), as in RFC 1951.
struct CodeLengths {
  std::array<std::uint8_t, kCodeSymbols> bits{};
  std::uint8_t fill = 0;
  bool operator==(const CodeLengths&) const = default;
};
using CodeTable = std::array<std::uint8_t, kCodeTableBytes>;
CodeTable pack_table(const CodeLengths& lengths);
CodeLengths unpack_table(std::span<const std::uint8_t, kCodeTableBytes> table);

/// The code that is built into the decoder, for tables and for channel parameters: zeros, all-ones
/// bytes and repetitions are short, everything else has nine bits.
const CodeLengths& fixed_code();

/// Code words by symbol, right-aligned; only where bits is not 0. The lengths must be a prefix
/// code.
std::array<std::uint16_t, kCodeSymbols> canonical_codes(const CodeLengths& lengths);

enum class CodeFault : std::uint8_t {
  kNone = 0,
  kBadTable,   ///< a length above kMaxCodeBits, or more codes than fit
  kBadCode,    ///< bits that no symbol has
  kTruncated,  ///< a token needs bits beyond the end of the stream
  kOverrun,    ///< a run goes beyond the decoded size, or repeats before the first byte
  kTrailing,   ///< the stream goes on after the last token
};
std::string_view code_fault_text(CodeFault fault);

/// Decodes blocks. Takes any bytes: reads only `stream`, writes only `out`, and says what is wrong.
class WeightDecoder {
 public:
  /// Makes `lengths` the code of the next blocks. kBadTable leaves a decoder that refuses every
  /// block.
  CodeFault set_code(const CodeLengths& lengths);
  /// Fills `out` from the whole of `stream`. After a fault, `out` holds what was decoded before it.
  CodeFault decode(std::span<const std::uint8_t> stream, std::span<std::uint8_t> out) const;

 private:
  struct Entry {
    std::uint16_t symbol = 0;
    std::uint8_t bits = 0;  // 0: no symbol has this code
  };
  CodeLengths lengths_;
  std::vector<Entry> entries_;  // by the next kMaxCodeBits bits; empty until a code is set
};

/// Puts decoded bytes where LOADW does: out[i % n * planes + i / n] = in[i] with n = in.size() /
/// planes, so that records of `planes` bytes are stored one byte position after the other. Sizes
/// are equal and a multiple of `planes`.
void interleave_planes(std::span<const std::uint8_t> in, int planes, std::span<std::uint8_t> out);

}  // namespace deputy::arch

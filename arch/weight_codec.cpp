#include "arch/weight_codec.h"

#include <algorithm>

namespace deputy::arch {
namespace {

constexpr int kWordBits = 16;
constexpr std::size_t kEntries = std::size_t{1} << kMaxCodeBits;

bool is_prefix_code(const CodeLengths& lengths) {
  std::size_t used = 0;
  for (const std::uint8_t bits : lengths.bits) {
    if (bits > kMaxCodeBits) return false;
    if (bits != 0) used += kEntries >> bits;
  }
  return used <= kEntries;
}

// The single stream that the lanes take words from. Bytes beyond its end read as 0 and are counted,
// so that a lane which uses one can be told from a lane which only looked ahead.
class WordReader {
 public:
  explicit WordReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint32_t next(int& missing_bits) {
    const std::uint32_t low = byte(at_), high = byte(at_ + 1);
    missing_bits = at_ + 2 <= bytes_.size() ? 0 : at_ < bytes_.size() ? 8 : 16;
    at_ += 2;
    return low << 8 | high;
  }
  bool reached_end() const { return at_ >= bytes_.size(); }

 private:
  std::uint32_t byte(std::size_t at) const { return at < bytes_.size() ? bytes_[at] : 0; }
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

struct Lane {
  std::uint32_t buffer = 0;  // the next bit is the highest of `bits`
  int bits = 0;
  int missing = 0;  // of these, how many at the end are not in the stream
};

}  // namespace

CodeTable pack_table(const CodeLengths& lengths) {
  CodeTable table{};
  for (std::size_t s = 0; s < kCodeSymbols; ++s)
    table[s / 2] |= static_cast<std::uint8_t>(lengths.bits[s] << (s % 2 * 4));
  table.back() = lengths.fill;
  return table;
}

CodeLengths unpack_table(std::span<const std::uint8_t, kCodeTableBytes> table) {
  CodeLengths lengths;
  for (std::size_t s = 0; s < kCodeSymbols; ++s) lengths.bits[s] = table[s / 2] >> (s % 2 * 4) & 15;
  lengths.fill = table.back();
  return lengths;
}

const CodeLengths& fixed_code() {
  static const CodeLengths code = [] {
    CodeLengths c;
    std::fill_n(c.bits.begin(), kLiterals, 9);
    c.bits[0x00 ^ 0x80] = c.bits[0xFF ^ 0x80] = 4;
    std::fill_n(c.bits.begin() + kFirstRepeat, kRunKinds / 2, 5);
    std::fill_n(c.bits.begin() + kFirstRepeat + kRunKinds / 2, kRunKinds / 2, 6);
    return c;
  }();
  return code;
}

std::array<std::uint16_t, kCodeSymbols> canonical_codes(const CodeLengths& lengths) {
  std::array<std::uint16_t, kMaxCodeBits + 2> next{};
  for (const std::uint8_t bits : lengths.bits)
    if (bits != 0) ++next[bits + 1u];
  for (std::size_t bits = 2; bits < next.size(); ++bits)
    next[bits] = static_cast<std::uint16_t>((next[bits] + next[bits - 1]) << 1);
  std::array<std::uint16_t, kCodeSymbols> codes{};
  for (std::size_t s = 0; s < kCodeSymbols; ++s)
    if (lengths.bits[s] != 0) codes[s] = next[lengths.bits[s]]++;
  return codes;
}

std::string_view code_fault_text(CodeFault fault) {
  switch (fault) {
    case CodeFault::kNone:
      return "no fault";
    case CodeFault::kBadTable:
      return "the code table is not a prefix code";
    case CodeFault::kBadCode:
      return "a code that no symbol has";
    case CodeFault::kTruncated:
      return "the stream ends inside a token";
    case CodeFault::kOverrun:
      return "a run beyond the block";
    case CodeFault::kTrailing:
      return "bytes after the last token";
  }
  return "unknown fault";
}

CodeFault WeightDecoder::set_code(const CodeLengths& lengths) {
  if (!entries_.empty() && lengths == lengths_) return CodeFault::kNone;
  entries_.clear();
  if (!is_prefix_code(lengths)) return CodeFault::kBadTable;
  lengths_ = lengths;
  entries_.resize(kEntries);
  const auto codes = canonical_codes(lengths);
  for (std::size_t s = 0; s < kCodeSymbols; ++s) {
    const int bits = lengths.bits[s];
    if (bits == 0) continue;
    const std::size_t span = kEntries >> bits;
    std::fill_n(entries_.begin() + static_cast<std::ptrdiff_t>(codes[s] * span), span,
                Entry{static_cast<std::uint16_t>(s), static_cast<std::uint8_t>(bits)});
  }
  return CodeFault::kNone;
}

CodeFault WeightDecoder::decode(std::span<const std::uint8_t> stream,
                                std::span<std::uint8_t> out) const {
  if (entries_.empty()) return CodeFault::kBadTable;
  WordReader words(stream);
  std::array<Lane, kCodeLanes> lanes{};
  std::size_t at = 0;
  for (std::size_t token = 0; at < out.size(); ++token) {
    Lane& lane = lanes[token % kCodeLanes];
    if (lane.bits < kMaxCodeBits) {
      int missing = 0;
      lane.buffer = lane.buffer << kWordBits | words.next(missing);
      lane.bits += kWordBits;
      lane.missing += missing;
    }
    const Entry entry = entries_[lane.buffer >> (lane.bits - kMaxCodeBits) & (kEntries - 1)];
    if (entry.bits == 0) return CodeFault::kBadCode;
    lane.bits -= entry.bits;
    if (lane.bits < lane.missing) return CodeFault::kTruncated;
    if (entry.symbol < kLiterals) {
      out[at++] = static_cast<std::uint8_t>(entry.symbol ^ 0x80);
      continue;
    }
    const bool repeat = entry.symbol >= kFirstRepeat;
    const std::size_t count = kRunLengths[(entry.symbol - kFirstFill) % kRunKinds];
    if (count > out.size() - at || (repeat && at == 0)) return CodeFault::kOverrun;
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), count,
                repeat ? out[at - 1] : lengths_.fill);
    at += count;
  }
  return words.reached_end() ? CodeFault::kNone : CodeFault::kTrailing;
}

void interleave_planes(std::span<const std::uint8_t> in, int planes, std::span<std::uint8_t> out) {
  const std::size_t width = static_cast<std::size_t>(planes), n = in.size() / width;
  for (std::size_t p = 0; p < width; ++p)
    for (std::size_t i = 0; i < n; ++i) out[i * width + p] = in[p * n + i];
}

}  // namespace deputy::arch

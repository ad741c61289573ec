#include "delegate/weights/weight_encoder.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace deputy::delegate {
namespace {

using arch::CodeLengths;
using arch::kCodeSymbols, arch::kFirstFill, arch::kFirstRepeat, arch::kLiterals, arch::kRunKinds;

constexpr int kPasses = 3;          // of tokens for lengths, lengths for tokens
constexpr int kGuessedRunBits = 6;  // of a run before any was counted
// Without at least one pair of equal neighbours in so many bytes, runs cost more table than they
// save.
constexpr std::size_t kWorthwhileRuns = 12;

using Histogram = std::array<std::uint64_t, kCodeSymbols>;

std::size_t literal(std::uint8_t byte) { return byte ^ 0x80u; }

// Calls take(symbol) for the cheapest tokens of a block.
template <class Take>
void tokenise(std::span<const std::uint8_t> block, const CodeLengths& code, Take&& take) {
  const std::size_t n = block.size();
  if (std::all_of(code.bits.begin() + kFirstFill, code.bits.end(),
                  [](int bits) { return bits == 0; })) {
    for (const std::uint8_t byte : block) {
      DEPUTY_CHECK(code.bits[literal(byte)] != 0, "a byte without a code");
      take(literal(byte));
    }
    return;
  }
  // From the back: the cheapest tokens from byte i on, and the first of them.
  std::vector<std::uint64_t> cost(n + 1, 0);
  std::vector<std::uint16_t> choice(n, 0);
  std::size_t same = 0;  // bytes from i on that equal byte i
  for (std::size_t i = n; i-- > 0;) {
    same = i + 1 < n && block[i] == block[i + 1] ? same + 1 : 1;
    const std::size_t symbol = literal(block[i]);
    DEPUTY_CHECK(code.bits[symbol] != 0, "a byte without a code");
    cost[i] = cost[i + 1] + code.bits[symbol];
    choice[i] = static_cast<std::uint16_t>(symbol);
    const auto runs = [&](int first) {
      for (int k = 0; k < kRunKinds; ++k) {
        const std::size_t length = arch::kRunLengths[static_cast<std::size_t>(k)];
        const auto run = static_cast<std::size_t>(first + k);
        if (length > same) break;
        if (code.bits[run] == 0 || cost[i + length] + code.bits[run] >= cost[i]) continue;
        cost[i] = cost[i + length] + code.bits[run];
        choice[i] = static_cast<std::uint16_t>(run);
      }
    };
    if (same < 2) continue;
    if (block[i] == code.fill) runs(kFirstFill);
    if (i > 0 && block[i - 1] == block[i]) runs(kFirstRepeat);
  }
  for (std::size_t i = 0; i < n;) {
    const std::size_t symbol = choice[i];
    take(symbol);
    i += symbol < kLiterals ? 1 : arch::kRunLengths[(symbol - kFirstFill) % kRunKinds];
  }
}

// A lane's bits, first bit first, as the 16-bit words that it takes.
class BitString {
 public:
  void append(std::uint32_t code, int bits) {
    pending_ = pending_ << bits | code;
    size_ += static_cast<std::size_t>(bits);
    waiting_ += bits;
    if (waiting_ < 16) return;
    waiting_ -= 16;
    words_.push_back(static_cast<std::uint16_t>(pending_ >> waiting_));
  }
  /// After the last append().
  void finish() {
    if (waiting_ > 0) words_.push_back(static_cast<std::uint16_t>(pending_ << (16 - waiting_)));
  }
  std::uint32_t word(std::size_t index) const { return index < words_.size() ? words_[index] : 0; }
  std::size_t size() const { return size_; }

 private:
  std::vector<std::uint16_t> words_;
  std::uint32_t pending_ = 0;
  int waiting_ = 0;  // bits of pending_ that are in no word yet, fewer than 16
  std::size_t size_ = 0;
};

}  // namespace

// Package-merge: of the items that weigh as much as their count, and the pairs made of the cheapest
// items and pairs one level below, the cheapest 2n - 2 are taken; a symbol's length is how many of
// those contain it.
std::vector<std::uint8_t> limited_lengths(std::span<const std::uint64_t> counts, int limit) {
  struct Item {
    std::uint64_t weight = 0;
    std::vector<std::uint16_t> symbols;
  };
  const auto lighter = [](const Item& a, const Item& b) { return a.weight < b.weight; };
  std::vector<Item> leaves;
  for (std::size_t s = 0; s < counts.size(); ++s)
    if (counts[s] != 0) leaves.push_back({counts[s], {static_cast<std::uint16_t>(s)}});
  std::vector<std::uint8_t> lengths(counts.size(), 0);
  if (leaves.empty()) return lengths;
  if (leaves.size() == 1) return lengths[leaves[0].symbols[0]] = 1, lengths;
  DEPUTY_CHECK(limit < 32 && leaves.size() <= std::size_t{1} << limit, "more symbols than codes");
  std::stable_sort(leaves.begin(), leaves.end(), lighter);
  std::vector<Item> level = leaves;
  for (int bit = 1; bit < limit; ++bit) {
    std::vector<Item> pairs;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      Item pair = level[i];
      pair.weight += level[i + 1].weight;
      pair.symbols.insert(pair.symbols.end(), level[i + 1].symbols.begin(),
                          level[i + 1].symbols.end());
      pairs.push_back(std::move(pair));
    }
    level.clear();
    std::merge(leaves.begin(), leaves.end(), pairs.begin(), pairs.end(), std::back_inserter(level),
               lighter);
  }
  for (std::size_t i = 0; i < 2 * leaves.size() - 2; ++i)
    for (const std::uint16_t s : level[i].symbols) ++lengths[s];
  return lengths;
}

FittedCode fit_code(std::span<const std::uint8_t> data) {
  FittedCode fitted;
  CodeLengths& code = fitted.lengths;
  Histogram counts{};
  std::size_t pairs = 0;  // of equal neighbours
  for (std::size_t i = 0; i < data.size(); ++i) {
    ++counts[literal(data[i])];
    pairs += i > 0 && data[i] == data[i - 1];
  }
  const auto commonest = std::max_element(counts.begin(), counts.begin() + kLiterals);
  if (*commonest == 0) return code.bits[literal(0)] = 1, fitted;
  code.fill = static_cast<std::uint8_t>((commonest - counts.begin()) ^ 0x80);
  const Histogram bytes = counts;
  const auto refit = [&] {
    // A byte that runs have swallowed whole may still stand alone in a block cut differently.
    for (std::size_t s = 0; s < kLiterals; ++s)
      if (counts[s] == 0 && bytes[s] != 0) counts[s] = 1;
    const auto lengths = limited_lengths(counts, arch::kMaxCodeBits);
    std::copy(lengths.begin(), lengths.end(), code.bits.begin());
  };
  refit();
  if (pairs >= data.size() / kWorthwhileRuns) {
    std::fill(code.bits.begin() + kFirstFill, code.bits.end(), kGuessedRunBits);
    for (int pass = 0; pass < kPasses; ++pass) {
      counts = {};
      tokenise(data, code, [&](std::size_t symbol) { ++counts[symbol]; });
      refit();
    }
  }
  for (std::size_t s = 0; s < kCodeSymbols; ++s) fitted.bits += counts[s] * code.bits[s];
  return fitted;
}

std::vector<std::uint8_t> encode_block(std::span<const std::uint8_t> block,
                                       const CodeLengths& code) {
  const auto codes = arch::canonical_codes(code);
  std::array<BitString, arch::kCodeLanes> lanes;
  std::vector<std::uint8_t> lengths;  // of the tokens, in order
  tokenise(block, code, [&](std::size_t symbol) {
    lanes[lengths.size() % arch::kCodeLanes].append(codes[symbol], code.bits[symbol]);
    lengths.push_back(code.bits[symbol]);
  });
  for (BitString& lane : lanes) lane.finish();
  // Follow the decoder: words leave in the order in which its lanes ask for them.
  std::vector<std::uint8_t> stream;
  std::size_t needed = 0;  // bytes of the stream up to the last that carries a token's bits
  std::array<std::size_t, arch::kCodeLanes> taken{}, used{};
  for (std::size_t token = 0; token < lengths.size(); ++token) {
    const std::size_t l = token % arch::kCodeLanes;
    if (taken[l] < used[l] + arch::kMaxCodeBits) {
      const std::uint32_t word = lanes[l].word(taken[l] / 16);
      stream.push_back(static_cast<std::uint8_t>(word >> 8));
      stream.push_back(static_cast<std::uint8_t>(word));
      if (taken[l] + 8 < lanes[l].size())
        needed = stream.size();
      else if (taken[l] < lanes[l].size())
        needed = stream.size() - 1;
      taken[l] += 16;
    }
    used[l] += lengths[token];
  }
  stream.resize(needed);
  return stream;
}

std::vector<std::uint8_t> split_planes(std::span<const std::uint8_t> records, int planes) {
  const std::size_t width = static_cast<std::size_t>(planes), n = records.size() / width;
  std::vector<std::uint8_t> out(records.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t p = 0; p < width; ++p) out[p * n + i] = records[i * width + p];
  return out;
}

}  // namespace deputy::delegate

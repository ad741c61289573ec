// Blocks of every kind through the encoder and back, by the decoder and by a plain one; how close
// the streams come to the entropy.
#include "delegate/weights/weight_encoder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/support/naive_codec.h"

namespace deputy::delegate {
namespace {

using Bytes = std::vector<std::uint8_t>;

void check_round_trip(const Bytes& block, const arch::CodeLengths& code) {
  const Bytes stream = encode_block(block, code);
  arch::WeightDecoder decoder;
  REQUIRE(decoder.set_code(code) == arch::CodeFault::kNone);
  Bytes out(block.size(), 0x5A);
  CHECK(decoder.decode(stream, out) == arch::CodeFault::kNone);
  CHECK(out == block);
  const arch::CodeTable table = arch::pack_table(code);
  CHECK(test::naive_decode(stream, Bytes(table.begin(), table.end()), block.size()) == block);
}

Bytes normal_bytes(std::mt19937& random, std::size_t n, double deviation) {
  Bytes out(n);
  for (auto& b : out) {
    double sum = -6;  // of twelve uniform numbers: near enough to a normal one
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
    b = static_cast<std::uint8_t>(
        static_cast<std::int8_t>(std::clamp(std::lround(sum * deviation), -127l, 127l)));
  }
  return out;
}

double entropy_bytes(const Bytes& data) {
  double counts[256] = {}, bits = 0;
  for (const auto b : data) ++counts[b];
  for (const double c : counts)
    if (c > 0) bits -= c * std::log2(c / static_cast<double>(data.size()));
  return bits / 8;
}

}  // namespace

TEST_CASE("every kind of block comes back") {
  std::mt19937 random(3);
  std::vector<Bytes> blocks = {
      {}, {0}, {200}, {1, 2}, Bytes(1, 255), Bytes(17, 9), Bytes(100000, 0), Bytes(4097, 128)};
  Bytes all(256);
  for (int i = 0; i < 256; ++i) all[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  blocks.push_back(all);
  for (const double deviation : {0.3, 2.0, 25.0, 90.0})
    for (const std::size_t n : {3, 100, 5000}) blocks.push_back(normal_bytes(random, n, deviation));
  Bytes pruned = normal_bytes(random, 20000, 30);  // nine of ten removed
  for (auto& b : pruned)
    if (random() % 10) b = 0;
  blocks.push_back(pruned);
  Bytes uniform(9000);
  for (auto& b : uniform) b = static_cast<std::uint8_t>(random());
  blocks.push_back(uniform);
  Bytes steps;  // runs of every length, of two values
  for (std::size_t run = 1; run < 300; ++run) steps.insert(steps.end(), run, run % 2 ? 4 : 250);
  blocks.push_back(steps);
  Bytes fibonacci;  // the frequencies that make the longest codes
  for (std::size_t i = 0, a = 1, b = 1; i < 24; ++i, b += a, a = b - a)
    for (std::size_t k = 0; k < a; ++k)
      fibonacci.push_back(static_cast<std::uint8_t>(i * 3 + k % 2));
  blocks.push_back(fibonacci);
  for (const Bytes& block : blocks) {
    INFO(block.size() << " bytes, " << entropy_bytes(block) << " of entropy");
    check_round_trip(block, fit_code(block).lengths);
    check_round_trip(block, arch::fixed_code());
  }
}

TEST_CASE("pieces of a tensor use the whole tensor's code") {
  std::mt19937 random(4);
  Bytes tensor = normal_bytes(random, 6000, 1);
  tensor[17] = 99;  // stands alone in its block
  const auto code = fit_code(tensor).lengths;
  for (const std::size_t piece : {1, 7, 500, 4000})
    for (std::size_t at = 0; at < tensor.size(); at += piece)
      check_round_trip(
          Bytes(tensor.begin() + static_cast<std::ptrdiff_t>(at),
                tensor.begin() + static_cast<std::ptrdiff_t>(std::min(at + piece, tensor.size()))),
          code);
}

TEST_CASE("limited lengths are the optimum") {
  const auto lengths = [](std::vector<std::uint64_t> counts, int limit) {
    return limited_lengths(counts, limit);
  };
  using L = std::vector<std::uint8_t>;
  CHECK(lengths({}, 12).empty());
  CHECK(lengths({0, 5, 0}, 12) == L{0, 1, 0});
  CHECK(lengths({1, 1, 2, 4}, 12) == L{3, 3, 2, 1});
  CHECK(lengths({1, 1, 2, 4}, 2) == L{2, 2, 2, 2});
  CHECK(lengths({1, 1, 2, 3, 5}, 3) == L{3, 3, 2, 2, 2});  // 27 bits; without the limit 25
  // Against every complete code of five symbols with at most three bits.
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> counts(5);
    for (auto& c : counts) c = 1 + random() % 40;
    const auto got = lengths(counts, 3);
    std::uint64_t cost = 0, best = ~std::uint64_t{0};
    for (std::size_t s = 0; s < 5; ++s) cost += counts[s] * got[s];
    for (unsigned code = 0; code < 243; ++code) {
      unsigned rest = code, space = 0;
      std::uint64_t sum = 0;
      for (std::size_t s = 0; s < 5; ++s, rest /= 3)
        space += 8u >> (rest % 3 + 1), sum += counts[s] * (rest % 3 + 1);
      if (space <= 8) best = std::min(best, sum);
    }
    CHECK(cost == best);
  }
}

TEST_CASE("streams come close to the entropy, and below it where runs help") {
  std::mt19937 random(6);
  const Bytes weights = normal_bytes(random, 50000, 20);
  const auto code = fit_code(weights).lengths;
  CHECK(static_cast<double>(encode_block(weights, code).size()) <
        1.01 * entropy_bytes(weights) + 20);
  Bytes pruned = weights;
  for (auto& b : pruned)
    if (random() % 20) b = 0;
  const auto skewed = fit_code(pruned).lengths;
  // 0.6 bits a weight, below what one code word for each weight could reach.
  CHECK(static_cast<double>(encode_block(pruned, skewed).size()) <
        1.25 * entropy_bytes(pruned) + 20);
  CHECK(encode_block(Bytes(65536, 3), fit_code(Bytes(65536, 3)).lengths).size() < 60);
}

TEST_CASE("records split by byte position and come together again") {
  Bytes records;
  for (int i = 0; i < 60; ++i) records.push_back(static_cast<std::uint8_t>(i * 37));
  const Bytes planes = split_planes(records, 12);
  CHECK(planes[0] == records[0]);
  CHECK(planes[1] == records[12]);
  CHECK(planes[5] == records[1]);
  Bytes back(60);
  arch::interleave_planes(planes, 12, back);
  CHECK(back == records);
}

}  // namespace deputy::delegate

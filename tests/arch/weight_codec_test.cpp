// The decoder of compressed weights against bits worked out by hand and, over random and broken
// streams, against a decoder written from the format's page alone.
#include "arch/weight_codec.h"

#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "tests/support/naive_codec.h"

namespace deputy::arch {
namespace {

using Bytes = std::vector<std::uint8_t>;

// '0': value 0. '10': value 1. '110': the fill byte twice. '111': the last byte three times more.
CodeLengths small_code() {
  CodeLengths code;
  code.bits[128] = 1, code.bits[129] = 2, code.bits[kFirstFill] = 3,
  code.bits[kFirstRepeat + 1] = 3;
  code.fill = 7;
  return code;
}

// Nine tokens: lanes 0 to 7 hold 0 | 10 | 110 | 111 | 10 | 0 | 0 | 0, and lane 0 one more 0, which
// its first word has room for. Lane 7's word is cut to the byte that matters.
const Bytes kStream = {0x00, 0, 0x80, 0, 0xC0, 0, 0xE0, 0, 0x80, 0, 0, 0, 0, 0, 0};
const Bytes kBlock = {0, 1, 7, 7, 7, 7, 7, 1, 0, 0, 0, 0};

CodeFault decode(const CodeLengths& code, const Bytes& stream, Bytes& out) {
  WeightDecoder decoder;
  if (const CodeFault fault = decoder.set_code(code); fault != CodeFault::kNone) return fault;
  return decoder.decode(stream, out);
}
CodeFault decode(const CodeLengths& code, const Bytes& stream, std::size_t bytes) {
  Bytes out(bytes);
  return decode(code, stream, out);
}
Bytes cut(Bytes stream, std::size_t bytes) { return stream.resize(bytes), stream; }

std::optional<Bytes> naive(const CodeTable& table, const Bytes& stream, std::size_t bytes) {
  try {
    return test::naive_decode(stream, Bytes(table.begin(), table.end()), bytes);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a block worked out by hand") {
  Bytes out(kBlock.size());
  CHECK(decode(small_code(), kStream, out) == CodeFault::kNone);
  CHECK(out == kBlock);
  const auto codes = canonical_codes(small_code());
  CHECK(codes[128] == 0);
  CHECK(codes[129] == 2);
  CHECK(codes[kFirstFill] == 6);
  CHECK(codes[kFirstRepeat + 1] == 7);
}

TEST_CASE("a lane takes its second word when fewer than twelve bits are left") {
  // All values have 8 bits: code v + 128. Lane 0's tokens: 0 (word 1), 8 (8 bits left: a word), 16.
  CodeLengths code;
  std::fill_n(code.bits.begin(), kLiterals, 8);
  Bytes expected, stream;
  for (int i = 0; i < 24; ++i) expected.push_back(static_cast<std::uint8_t>(i));
  for (int i = 0; i < 8; ++i)
    stream.push_back(static_cast<std::uint8_t>(i + 128)),
        stream.push_back(static_cast<std::uint8_t>(i + 136));
  for (int i = 0; i < 8; ++i)
    stream.push_back(static_cast<std::uint8_t>(i + 144)), stream.push_back(0);
  stream.pop_back();
  Bytes out(24);
  CHECK(decode(code, stream, out) == CodeFault::kNone);
  CHECK(out == expected);
}

TEST_CASE("tables pack and unpack") {
  CodeLengths code = small_code();
  const CodeTable table = pack_table(code);
  CHECK(table[64] == 0x21);  // symbols 128 and 129
  CHECK(table[kFirstFill / 2] == 0x03);
  CHECK(table[(kFirstRepeat + 1) / 2] == 0x30);
  CHECK(table[144] == 7);
  CHECK(unpack_table(table) == code);
  const auto fixed = pack_table(fixed_code());
  CHECK(Bytes(fixed.begin(), fixed.end()) == test::naive_fixed_table());
}

TEST_CASE("each fault of a stream") {
  const CodeLengths code = small_code();
  CHECK(decode(code, cut(kStream, 14), 12) == CodeFault::kTruncated);
  CHECK(decode(code, {}, 1) == CodeFault::kTruncated);
  CHECK(decode(code, cut(kStream, 16), 12) == CodeFault::kNone);  // the byte that was cut
  CHECK(decode(code, cut(kStream, 17), 12) == CodeFault::kTrailing);
  CHECK(decode(code, kStream, 4) == CodeFault::kTrailing);
  CHECK(decode(code, kStream, 3) == CodeFault::kOverrun);
  CHECK(decode(code, kStream, 0) == CodeFault::kTrailing);
  CHECK(decode(code, {}, std::size_t{0}) == CodeFault::kNone);
  CHECK(decode(code, {0xE0, 0}, 3) == CodeFault::kOverrun);  // nothing to repeat
  CodeLengths lonely;
  lonely.bits[128] = 2;
  CHECK(decode(lonely, {0x00}, 1) == CodeFault::kNone);
  CHECK(decode(lonely, {0x40}, 1) == CodeFault::kBadCode);
  CHECK(decode(CodeLengths{}, {0x00}, 1) == CodeFault::kBadCode);
}

TEST_CASE("each fault of a table") {
  CodeLengths code = small_code();
  code.bits[0] = 12;  // full already
  CHECK(decode(code, kStream, 12) == CodeFault::kBadTable);
  code = {};
  code.bits[5] = 13;
  CHECK(decode(code, kStream, 12) == CodeFault::kBadTable);
  WeightDecoder decoder;
  Bytes out(12);
  CHECK(decoder.decode(kStream, out) == CodeFault::kBadTable);  // none set
  CHECK(decoder.set_code(small_code()) == CodeFault::kNone);
  CHECK(decoder.set_code(code) == CodeFault::kBadTable);
  CHECK(decoder.decode(kStream, out) == CodeFault::kBadTable);  // a bad one replaces a good one
}

TEST_CASE("records are put together from their byte positions") {
  const Bytes planes = {1, 2, 3, 10, 20, 30};
  Bytes out(6);
  interleave_planes(planes, 2, out);
  CHECK(out == Bytes{1, 10, 2, 20, 3, 30});
}

TEST_CASE("broken streams and tables fault as the plain decoder says, and nothing else happens") {
  std::mt19937 random(11);
  int good = 0, bad = 0;
  for (int i = 0; i < 4000; ++i) {
    CodeTable table = pack_table(i % 2 ? small_code() : fixed_code());
    Bytes stream = kStream;
    std::size_t bytes = kBlock.size();
    if (i % 2 == 0) {
      stream.resize(20 + random() % 60);
      for (auto& b : stream) b = static_cast<std::uint8_t>(random());
      bytes = random() % 200;
    }
    for (int n = static_cast<int>(random() % 4); n > 0; --n) switch (random() % 4) {
        case 0:
          stream[random() % stream.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
          break;
        case 1:
          table[random() % table.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
          break;
        case 2:
          bytes = random() % 40;
          break;
        default:
          stream.resize(1 + random() % (stream.size() + 2));
      }
    // Exactly as large as they must be, so that a sanitiser sees any access beyond them.
    const Bytes exact(stream.begin(), stream.end());
    Bytes out(bytes);
    const CodeFault fault = decode(unpack_table(table), exact, out);
    const auto expected = naive(table, stream, bytes);
    INFO("case " << i << ": " << code_fault_text(fault));
    REQUIRE((fault == CodeFault::kNone) == expected.has_value());
    if (expected) CHECK(out == *expected);
    (expected ? good : bad)++;
  }
  CHECK(good > 300);
  CHECK(bad > 1000);
}

}  // namespace deputy::arch

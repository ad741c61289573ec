// The decoder's RTL against the plain decoder of tests/support (bytes) and
// arch/weight_codec (kinds of faults).
#include "npu_model/rtl/rtl_decoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "arch/npu_config.h"
#include "delegate/weights/weight_encoder.h"
#include "tests/support/naive_codec.h"

namespace deputy::npu_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint32_t kOut = 1000, kTable = 100, kSpm = 100000;

// '0': value 0. '10': value 1. '110': the fill byte twice. '111': the last byte three times more.
arch::CodeLengths small_code() {
  arch::CodeLengths code;
  code.bits[128] = 1, code.bits[129] = 2, code.bits[arch::kFirstFill] = 3,
  code.bits[arch::kFirstRepeat + 1] = 3;
  code.fill = 7;
  return code;
}

struct Decoded {
  npu_model::RtlDecoder::Result result;
  Bytes out;
};
Decoded decode(npu_model::RtlDecoder& decoder, const arch::CodeTable& table, const Bytes& stream,
               std::uint32_t bytes, std::uint32_t planes = 1) {
  Bytes spm(kSpm, 0xA5);
  std::ranges::copy(table, spm.begin() + kTable);
  arch::LoadWeights op;
  op.stream_bytes = static_cast<std::uint32_t>(stream.size()), op.bytes = bytes, op.planes = planes;
  op.spm_addr = kOut, op.table_addr = kTable;
  const auto result = decoder.decode(op, stream, spm);
  return {result, Bytes(spm.begin() + kOut, spm.begin() + kOut + bytes)};
}

Bytes weights(std::mt19937& random, std::size_t n) {
  Bytes out(n);
  std::normal_distribution<double> normal(0, 12);
  const bool sparse = random() % 2;
  for (auto& b : out)
    b = sparse && random() % 3 ? 0 : static_cast<std::uint8_t>(static_cast<int>(normal(random)));
  return out;
}

}  // namespace

TEST_CASE(
    "RTL decoder: broken streams and tables fault as the model says, good ones give the plain "
    "decoder's bytes") {
  npu_model::RtlDecoder rtl_decoder;
  std::mt19937 random(17);
  int good = 0, bad = 0;
  for (int i = 0; i < 1500; ++i) {
    arch::CodeTable table = arch::pack_table(i % 2 ? small_code() : arch::fixed_code());
    Bytes stream = {0x00, 0, 0x80, 0, 0xC0, 0, 0xE0, 0, 0x80, 0, 0, 0, 0, 0, 0};
    std::uint32_t bytes = 12;
    if (i % 2 == 0) {
      stream.resize(20 + random() % 60);
      for (auto& b : stream) b = static_cast<std::uint8_t>(random());
      bytes = 1 + random() % 200;
    }
    for (int n = static_cast<int>(random() % 4); n > 0; --n) switch (random() % 4) {
        case 0:
          stream[random() % stream.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
          break;
        case 1:
          table[random() % table.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
          break;
        case 2:
          bytes = 1 + random() % 40;
          break;
        default:
          stream.resize(1 + random() % (stream.size() + 2));
      }
    INFO("case " << i);
    Bytes model(bytes);
    arch::WeightDecoder decoder;
    arch::CodeFault fault = decoder.set_code(arch::unpack_table(table));
    if (fault == arch::CodeFault::kNone) fault = decoder.decode(stream, model);
    const Decoded rtl = decode(rtl_decoder, table, stream, bytes);
    REQUIRE(static_cast<int>(rtl.result.fault) == static_cast<int>(fault));
    (fault == arch::CodeFault::kNone ? good : bad)++;
    if (fault != arch::CodeFault::kNone) continue;
    REQUIRE(rtl.out == test::naive_decode(stream, Bytes(table.begin(), table.end()), bytes));
  }
  CHECK(good > 100);
  CHECK(bad > 300);
}

TEST_CASE("RTL decoder: encoded weights come back") {
  npu_model::RtlDecoder rtl_decoder;
  std::mt19937 random(3);
  for (const std::uint32_t bytes : {1u, 7u, 64u, 1000u, 20000u})
    for (const std::uint32_t planes : {1u, 4u}) {
      const Bytes raw = weights(random, bytes * planes);
      Bytes in_order;  // what the stream holds: one byte position after the other
      for (std::size_t p = 0; p < planes; ++p)
        for (std::size_t i = p; i < raw.size(); i += planes) in_order.push_back(raw[i]);
      const arch::CodeLengths code = delegate::fit_code(in_order).lengths;
      const Decoded rtl =
          decode(rtl_decoder, arch::pack_table(code), delegate::encode_block(in_order, code),
                 static_cast<std::uint32_t>(raw.size()), planes);
      CHECK(static_cast<int>(rtl.result.fault) == 0);
      CHECK(rtl.out == raw);
    }
}

// The model charges npu.wdec's set-up and bytes a cycle (npu_model/npu_queues.cpp) for a stream
// that is always there. The RTL makes its table in fewer cycles than that, so that short blocks may
// be faster.
TEST_CASE("RTL decoder: its cycles are the model's within 3 %") {
  npu_model::RtlDecoder rtl_decoder;
  const arch::NpuConfig npu;
  std::mt19937 random(5);
  for (const bool hard : {false, true})
    for (const std::uint32_t bytes : {64u, 1000u, 4000u, 20000u}) {
      Bytes raw = weights(random, bytes);
      if (hard) std::ranges::generate(raw, [&] { return static_cast<std::uint8_t>(random()); });
      const arch::CodeLengths code = delegate::fit_code(raw).lengths;
      const Bytes stream = delegate::encode_block(raw, code);
      const auto cycles = decode(rtl_decoder, arch::pack_table(code), stream, bytes).result.cycles;
      const auto rate = static_cast<std::uint32_t>(npu.wdec.bytes_per_cycle),
                 setup = static_cast<std::uint32_t>(npu.wdec.setup_cycles);
      const std::uint32_t model = setup + (bytes + rate - 1) / rate;
      INFO(bytes << " bytes from " << stream.size() << ": RTL " << cycles << ", model " << model);
      CHECK(static_cast<double>(cycles) <= 1.03 * model);
      constexpr std::uint32_t kTableSooner = 4;  // 12 cycles for the model's 16
      CHECK(static_cast<double>(cycles + (bytes < 1000 ? kTableSooner : 0)) >= 0.97 * model);
    }
}

}  // namespace deputy::npu_test

// LOADW on the engine: bytes, cycles, counters and faults. The memory is bench.h's: 8 bytes a
// cycle, latency 20.
#include <catch2/catch.hpp>

#include "tests/npu_model/bench.h"

namespace deputy::npu_test {
namespace {

namespace reg = arch::npu_reg;
constexpr std::uint32_t kTable = 0x4000, kStream = 0x4801, kOutput = 0x9000;  // offsets in memory

// The code and the block of tests/arch/weight_codec_test.cpp.
arch::CodeTable table() {
  arch::CodeLengths code;
  code.bits[128] = 1, code.bits[129] = 2, code.bits[arch::kFirstFill] = 3,
  code.bits[arch::kFirstRepeat + 1] = 3;
  code.fill = 7;
  return arch::pack_table(code);
}
const std::vector<std::uint8_t> kBytes = {0x00, 0, 0x80, 0, 0xC0, 0, 0xE0, 0,
                                          0x80, 0, 0,    0, 0,    0, 0};

std::vector<arch::Instruction> program(std::uint32_t planes) {
  return {make(load(0, kTable, arch::kCodeTableBytes)),
          make(arch::LoadWeights{.mem_offset = kStream,
                                 .stream_bytes = 15,
                                 .spm_addr = 160,
                                 .bytes = 12,
                                 .planes = planes},
               0, 0, 0, 4),
          make(store(160, kOutput, 12), 2), make(arch::End{})};
}
void fill(Bench& b) {
  const auto t = table();
  std::copy(t.begin(), t.end(), b.memory.bytes.begin() + kTable);
  std::copy(kBytes.begin(), kBytes.end(), b.memory.bytes.begin() + kStream);
}

std::uint64_t loadw_cycles(int rate, int setup, std::uint32_t stream, std::uint32_t bytes) {
  Bench::Options options{.timing_only = true};
  options.config.wdec = {.bytes_per_cycle = rate, .setup_cycles = setup};
  std::uint64_t cycles = 0;
  simulate(options, [&](Bench& b) {
    REQUIRE(
        b.run({make(arch::LoadWeights{
                   .mem_offset = 0x8000, .stream_bytes = stream, .bytes = bytes, .fixed_code = 1}),
               make(arch::End{})}) == arch::kStatusDone);
    cycles = b.npu.jobs().at(0).ops.at(0).load_cycles;
  });
  return cycles;
}

}  // namespace

TEST_CASE("LOADW puts the decoded block into the scratchpad and counts it") {
  simulate({}, [](Bench& b) {
    fill(b);
    CHECK(b.run(program(1)) == arch::kStatusDone);
    const std::vector<std::uint8_t> expected = {0, 1, 7, 7, 7, 7, 7, 1, 0, 0, 0, 0};
    CHECK(std::equal(expected.begin(), expected.end(), b.memory.bytes.begin() + kOutput));
    const auto& job = b.npu.jobs().at(0);
    CHECK(job.hazards == 0);
    const auto& op = job.ops.at(1);
    CHECK(op.tag == 4);
    CHECK(op.load_bytes == 15);
    CHECK(op.weight_bytes == 15);
    CHECK(op.stream_bytes == 15);
    CHECK(op.decoded_bytes == 12);
    CHECK(op.spm_bytes == 145);  // the table
  });
  simulate({}, [](Bench& b) {
    fill(b);
    CHECK(b.run(program(3)) == arch::kStatusDone);  // 0 1 7 7 | 7 7 7 1 | 0 0 0 0
    const std::vector<std::uint8_t> expected = {0, 7, 0, 1, 7, 0, 7, 7, 0, 7, 1, 0};
    CHECK(std::equal(expected.begin(), expected.end(), b.memory.bytes.begin() + kOutput));
  });
}

TEST_CASE("LOADW takes as long as the slower of fetch and decoder") {
  // Issue 8. Fetch of 800 bytes in one chunk: 100 + 20. Decoder: set-up beside it, then 8000 bytes
  // at 8 a cycle.
  CHECK(loadw_cycles(8, 16, 800, 8000) == 8 + 16 + 1000);
  CHECK(loadw_cycles(8, 0, 800, 8000) == 8 + 1000);
  CHECK(loadw_cycles(64, 16, 800, 4000) == 8 + 120);
  CHECK(loadw_cycles(64, 200, 800, 64) == 8 + 200 + 1);
  // Chunks of 1024: the first is in at 8 + 148, the others 128 later each. At 8 bytes a cycle, 512
  // cycles a chunk of 4096 decoded bytes, the decoder never waits after its set-up.
  CHECK(loadw_cycles(8, 16, 4096, 16384) == 8 + 16 + 2048);
  // At 100 a cycle, 41 a chunk, it waits for each: the last chunk's arrival decides.
  CHECK(loadw_cycles(100, 16, 4096, 16384) == 8 + 4 * 128 + 20);
}

TEST_CASE("a malformed stream or table stops the job and names the instruction") {
  const auto fault = [](auto change) {
    simulate({}, [&](Bench& b) {
      fill(b);
      auto p = program(1);
      change(b, std::get<arch::LoadWeights>(p[1].op));
      const std::uint32_t status = b.run(p);
      CHECK((status & 7) == arch::kStatusError);
      CHECK(static_cast<arch::NpuError>(status >> 8) == arch::NpuError::kCompression);
      CHECK(b.read(reg::kErrAddrLo) ==
            16);  // after the LOAD: a word of header, ten bytes of sizes and values
      CHECK(b.read(reg::kErrInfo) == (0x11 | 4 << 8));
      b.write(reg::kIrqStatus, 3);
      fill(b);
      CHECK(b.run(program(1)) == arch::kStatusDone);
    });
  };
  fault([](Bench&, arch::LoadWeights& l) { l.stream_bytes = 14; });
  fault([](Bench&, arch::LoadWeights& l) { l.stream_bytes = 17; });
  fault([](Bench&, arch::LoadWeights& l) { l.bytes = 4; });
  fault([](Bench& b, arch::LoadWeights&) { b.memory.bytes[kTable] = 1; });
  fault([](Bench& b, arch::LoadWeights&) { b.memory.bytes[kStream] = 0xE0; });
}

TEST_CASE("LOADW stays in its region, and a bus error names its chunk") {
  simulate({}, [](Bench& b) {
    auto p = program(1);
    std::get<arch::LoadWeights>(p[1].op).mem_offset = kMemoryBytes - 14;
    CHECK(static_cast<arch::NpuError>(b.run(p) >> 8) == arch::NpuError::kRegionBounds);
  });
  simulate({}, [](Bench& b) {
    fill(b);
    b.memory.bad_address = kMemoryBase + kStream + 3;
    CHECK(static_cast<arch::NpuError>(b.run(program(1)) >> 8) == arch::NpuError::kBus);
    CHECK(b.read(reg::kErrAddrLo) == kMemoryBase + kStream);
  });
}

}  // namespace deputy::npu_test

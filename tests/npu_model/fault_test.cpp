// Every fault cause, what the error registers say about it, and RESET in the middle of a job.
#include <catch2/catch.hpp>

#include "tests/npu_model/bench.h"

namespace deputy::npu_test {
namespace {

namespace reg = arch::npu_reg;
using arch::NpuError;

struct Fault {
  NpuError error = NpuError::kNone;
  std::uint64_t address = 0;
  std::uint32_t opcode = 0, tag = 0;
};

// Runs a program that must fail, then a good one: a fault leaves the engine usable.
Fault fault_of_words(const std::vector<std::uint32_t>& words,
                     std::uint64_t bad_address = ~std::uint64_t{0},
                     std::uint32_t region_bytes = kMemoryBytes) {
  Fault fault;
  simulate({}, [&](Bench& b) {
    b.memory.bad_address = bad_address;
    b.write_stream(words);
    b.write(reg::kSize0, region_bytes);
    b.write(reg::kCmd, 1);
    if (!b.interrupt) b.wait_cycles(20000);
    const std::uint32_t status = b.read(reg::kStatus);
    CHECK((status & 7) == arch::kStatusError);
    CHECK(b.read(reg::kIrqStatus) == arch::kIrqFailed);
    CHECK(b.interrupt);
    fault.error = static_cast<NpuError>(status >> 8 & 0xFF);
    fault.address = b.read(reg::kErrAddrLo) | std::uint64_t{b.read(reg::kErrAddrHi)} << 32;
    fault.opcode = b.read(reg::kErrInfo) & 0xFF;
    fault.tag = b.read(reg::kErrInfo) >> 8;
    CHECK(b.npu.jobs().at(0).error == static_cast<std::uint32_t>(fault.error));

    b.memory.bad_address = ~std::uint64_t{0};
    b.write(reg::kIrqStatus, 3);
    CHECK(b.run({make(arch::Fill{.addr = 0, .count = 4, .value = 9}),
                 make(store(0, 0x8000, 4), 0, 1), make(arch::End{})}) == arch::kStatusDone);
    CHECK(b.memory.bytes[0x8000] == 9);
    CHECK(b.read(reg::kErrInfo) == 0);
  });
  return fault;
}
std::vector<std::uint32_t> encoded(const std::vector<arch::Instruction>& program) {
  std::vector<std::uint32_t> words;
  for (const auto& i : program) arch::encode(i, words);
  return words;
}
Fault fault_of(const std::vector<arch::Instruction>& program) {
  return fault_of_words(encoded(program));
}

const arch::Instruction kFill = make(arch::Fill{.addr = 0, .count = 1}, 0, 0, 0, 5);

}  // namespace

TEST_CASE("a stream that ends early is truncated") {
  Fault f = fault_of_words(encoded({kFill}));  // no END
  CHECK(f.error == NpuError::kTruncated);
  CHECK(f.address == encoded({kFill}).size() * 4);
  std::vector<std::uint32_t> words = encoded({kFill, kFill});
  words.pop_back();
  f = fault_of_words(words);
  CHECK(f.error == NpuError::kTruncated);
  CHECK(f.address == encoded({kFill}).size() * 4);
  CHECK(f.opcode == 0x35);
  CHECK(f.tag == 5);
  CHECK(fault_of_words({}).error == NpuError::kTruncated);
}

TEST_CASE("unknown opcodes, wrong lengths and bad fields") {
  std::vector<std::uint32_t> words = encoded({kFill, kFill, make(arch::End{})});
  const std::size_t second = encoded({kFill}).size();
  auto bad = words;
  bad[second] = (bad[second] & ~0xFFu) | 0x7F;
  Fault f = fault_of_words(bad);
  CHECK(f.error == NpuError::kUnknownOpcode);
  CHECK(f.address == second * 4);
  CHECK(f.opcode == 0x7F);
  CHECK(f.tag == 5);
  bad = words;
  bad[second] += 1 << 8;
  CHECK(fault_of_words(bad).error == NpuError::kBadLength);
  bad = words;
  bad[second + 1] = 1u << 8;  // the count takes one byte, the zero after the two bytes of sizes
  f = fault_of_words(bad);
  CHECK(f.error == NpuError::kBadField);
  CHECK(f.opcode == 0x35);
}

TEST_CASE("waits may only name earlier instructions") {
  CHECK(fault_of({make(arch::Fill{}, 0, 1), make(arch::End{})}).error == NpuError::kBadWait);
  CHECK(fault_of({make(load(0, 0, 4)), make(arch::Fill{}, 2, 0), make(arch::End{})}).error ==
        NpuError::kBadWait);
  CHECK(fault_of({make(arch::End{}, 0, 0, 1)}).error == NpuError::kBadWait);
}

TEST_CASE("instructions outside the scratchpad, the accumulators or the datapath") {
  const Fault f = fault_of(
      {kFill, make(arch::Fill{.addr = 131072, .count = 1}, 0, 0, 0, 77), make(arch::End{})});
  CHECK(f.error == NpuError::kSpmBounds);
  CHECK(f.address == encoded({kFill}).size() * 4);
  CHECK(f.opcode == 0x35);
  CHECK(f.tag == 77);
  CHECK(fault_of({make(load(131072 - 3, 0, 4)), make(arch::End{})}).error == NpuError::kSpmBounds);
  CHECK(fault_of({make(arch::Conv{.ofm_h = 3000, .acc_hold = 1}), make(arch::End{})}).error ==
        NpuError::kAccumulators);
  CHECK(fault_of({make(arch::Conv{.ifm_addr = 64, .ofm_addr = 64}), make(arch::End{})}).error ==
        NpuError::kUnsupported);
}

TEST_CASE("transfers stay in their region") {
  const auto run = [](const arch::Operation& op, std::uint32_t size) {
    return fault_of_words(encoded({make(op, 0, 0, 0, 3), make(arch::End{})}), ~std::uint64_t{0},
                          size)
        .error;
  };
  CHECK(run(load(0, 4093, 4), 4096) == NpuError::kRegionBounds);
  CHECK(run(store(0, 4093, 4), 4096) == NpuError::kRegionBounds);
  CHECK(run(load(0, (std::uint64_t{1} << 40) - 1, 4), 0xFFFFFFFF) == NpuError::kRegionBounds);
  arch::Load strided = load(0, 0, 4);
  strided.rows = 3, strided.mem_row_stride = 2046;
  CHECK(run(strided, 4095) == NpuError::kRegionBounds);
  arch::Load elsewhere = load(0, 0, 4);
  elsewhere.region = 5;  // size 0
  CHECK(run(elsewhere, 4096) == NpuError::kRegionBounds);
}

TEST_CASE("a region that would wrap around the address space faults") {
  simulate({}, [](Bench& b) {
    std::vector<std::uint32_t> words = encoded({make(load(0, 8, 16)), make(arch::End{})});
    b.write_stream(words);
    b.write(reg::kBase0Lo, 0xFFFFFFF0);
    b.write(reg::kBase0Hi, 0xFFFFFFFF);
    b.write(reg::kCmd, 1);
    b.wait_cycles(1000);
    CHECK(b.read(reg::kStatus) >> 8 == static_cast<std::uint32_t>(NpuError::kRegionBounds));
  });
}

TEST_CASE("bus errors name the address of the transaction") {
  // The second chunk of 1024 holds the bad byte.
  Fault f = fault_of_words(encoded({make(load(0, 0x1000, 4096), 0, 0, 0, 9), make(arch::End{})}),
                           kMemoryBase + 0x1500);
  CHECK(f.error == NpuError::kBus);
  CHECK(f.address == kMemoryBase + 0x1400);
  CHECK(f.opcode == 0x10);
  CHECK(f.tag == 9);
  f = fault_of_words(encoded({make(store(0, 0x1000, 16)), make(arch::End{})}),
                     kMemoryBase + 0x1000);
  CHECK(f.error == NpuError::kBus);
  CHECK(f.opcode == 0x20);
  f = fault_of_words(encoded({make(arch::End{})}), kMemoryBase);  // the stream itself
  CHECK(f.error == NpuError::kBus);
  CHECK(f.address == kMemoryBase);
}

TEST_CASE("RESET ends a job at any moment and leaves the engine usable") {
  for (const bool blocking : {false, true})
    for (std::uint64_t when = 1; when < 560; when += 13) {
      simulate({.blocking_memory = blocking}, [&](Bench& b) {
        INFO("reset after " << when << " cycles, blocking " << blocking);
        const auto program = [](int value) {
          return std::vector<arch::Instruction>{
              make(load(1024, 0x4000, 2048)),
              make(arch::Fill{.addr = 0, .count = 1024, .value = value}),
              make(store(0, 0x9000, 1024), 1, 1), make(load(4096, 0x4000, 512), 0, 0, 1),
              make(arch::End{})};
        };
        b.start(program(1));
        b.wait_cycles(when);
        CHECK(b.read(reg::kStatus) == arch::kStatusRunning);
        b.write(reg::kReset, 1);
        CHECK(b.read(reg::kStatus) == 0);
        CHECK(b.read(reg::kQBaseLo) == 0);
        CHECK(b.read(reg::kIrqEnable) == 0);
        CHECK_FALSE(b.interrupt);
        CHECK(b.npu.jobs().at(0).aborted);
        CHECK(b.run(program(2)) == arch::kStatusDone);
        CHECK(b.memory.bytes[0x9000] == 2);
        CHECK(b.memory.bytes[0x9000 + 1023] == 2);
        CHECK(b.read(reg::kProgress) == 5);
      });
    }
}

}  // namespace deputy::npu_test

// The NPU behind its sockets: bytes and cycles of small programs worked out by hand. All times
// below are in NPU cycles from the job's start, with the memory of bench.h (8 bytes a cycle,
// latency 20) and the default NpuConfig (decode 4, issue 8, start 8, chunks of 1024 bytes, 4
// outstanding).
#include <catch2/catch.hpp>

#include "tests/npu_model/bench.h"

namespace deputy::npu_test {
namespace {

namespace reg = arch::npu_reg;
using npu_model::NpuJobRecord;
constexpr std::uint32_t kTable = 0x4000, kInput = 0x5000, kOutput = 0x9000;  // offsets in memory

// Adds 1 to each of 1024 bytes through a table.
std::vector<arch::Instruction> increment_program() {
  return {
      make(load(0, kTable, 256), 0, 0, 0, 7), make(load(256, kInput, 1024), 0, 0, 0, 8),
      make(arch::Lut{.ifm_addr = 256, .ofm_addr = 2048, .count = 1024, .lut_addr = 0}, 2, 0, 0, 8),
      make(store(2048, kOutput, 1024), 0, 1, 0, 8), make(arch::End{})};
}
void fill_increment(Bench& b) {
  for (int i = 0; i < 256; ++i) b.memory.bytes[kTable + i] = static_cast<std::uint8_t>(i - 128 + 1);
  for (int i = 0; i < 1024; ++i) b.memory.bytes[kInput + i] = static_cast<std::uint8_t>(i * 7);
}
bool incremented(const Bench& b) {
  for (int i = 0; i < 1024; ++i)
    if (b.memory.bytes[kOutput + i] != static_cast<std::uint8_t>(i * 7 + 1)) return false;
  return true;
}

struct Outcome {
  std::uint32_t status = 0, cycles = 0;
  NpuJobRecord job;
};
Outcome run_program(const Bench::Options& options, const std::vector<arch::Instruction>& program) {
  Outcome outcome;
  simulate(options, [&](Bench& b) {
    outcome.status = b.run(program);
    outcome.cycles = b.read(reg::kPmuCyclesLo);
    outcome.job = b.npu.jobs().at(0);
  });
  return outcome;
}

}  // namespace

TEST_CASE("a load, compute, store program moves the right bytes in the right time") {
  // Stream: 76 bytes: fetched in 10 + 20 = 30. Decode ends at 34, 38, 42, 46, 50. LOAD table:
  // starts 34, issues 42, data path 256/8 to 74, + 20: ends 94. LOAD input: starts 42, issues 50,
  // data path 74 to 202, + 20: ends 222. LUT: starts 222, 1024 / 4 lanes + 8: 486. STORE: starts
  // 486, issues 494, 128 + 20: 642. A memory that keeps its caller waiting has the port issue the
  // second LOAD at 94: it and all after it end 20 later.
  for (const bool timing_only : {false, true})
    for (const bool blocking : {false, true})
      simulate({.timing_only = timing_only, .blocking_memory = blocking}, [&](Bench& b) {
        INFO("timing_only " << timing_only << " blocking " << blocking);
        const std::uint32_t late = blocking ? 20 : 0;
        fill_increment(b);
        CHECK(b.run(increment_program()) == arch::kStatusDone);
        CHECK(b.interrupt);
        CHECK(b.read(reg::kIrqStatus) == arch::kIrqDone);
        CHECK(b.read(reg::kPmuCyclesLo) == 642 + late);
        CHECK(b.read(reg::kPmuLoadActive) == 188 + late);  // 34 to 222
        CHECK(b.read(reg::kPmuStoreActive) == 156);
        CHECK(b.read(reg::kPmuMacActive) == 0);
        CHECK(b.read(reg::kProgress) == 5);
        CHECK(b.read(reg::kQRead) == 76);
        CHECK(incremented(b) == !timing_only);
        CHECK(b.memory.null_transactions == (timing_only ? 3 : 0));
        CHECK(sim::kernel_events() <=
              5 * 5 + 3 * 3 + 4);  // a transfer goes through its port and its completion

        b.write(reg::kIrqStatus, arch::kIrqDone);
        CHECK_FALSE(b.interrupt);

        const NpuJobRecord& job = b.npu.jobs().at(0);
        CHECK(job.cycles == 642 + late);
        CHECK(job.end_ps - job.start_ps == (642 + late) * 5000);
        CHECK(job.command_bytes == 76);
        CHECK(job.instructions == 5);
        REQUIRE(job.ops.size() == 2);
        CHECK(job.ops[0].tag == 7);
        CHECK(job.ops[0].load_bytes == 256);
        CHECK(job.ops[0].load_cycles == 60);
        CHECK(job.ops[1].load_bytes == 1024);
        CHECK(job.ops[1].store_bytes == 1024);
        CHECK(job.ops[1].compute_cycles == 264);
        CHECK(job.ops[1].first_start_ps - job.start_ps == 42 * 5000);
        CHECK(job.ops[1].last_end_ps == job.end_ps);

        CHECK(b.npu.load_constants_port.counted_by_page().at(kMemoryBase >> 28).read_bytes == 1280);
        CHECK(b.npu.store_port.counted_by_page().at(kMemoryBase >> 28).write_bytes == 1024);
        CHECK(b.npu.command_port.counted_by_page().at(kMemoryBase >> 28).read_bytes == 76);
        CHECK(b.memory.moved_bytes == 1280 + 1024 + 76);
      });
}

TEST_CASE(
    "performance counters count what is selected in the jobs that end, until they are cleared") {
  // The program and times of the first test: the LUT is decoded at 42 and waits for its input until
  // 222.
  simulate({}, [&](Bench& b) {
    const auto set = [&](std::uint32_t n, arch::PmuEvent event) {
      b.write(reg::kPmuEvent0 + 4 * n, static_cast<std::uint32_t>(event));
    };
    const auto count = [&](std::uint32_t n) { return b.read(reg::kPmuCount0Lo + 8 * n); };
    const auto run = [&] {
      fill_increment(b);
      CHECK(b.run(increment_program()) == arch::kStatusDone);
      b.write(reg::kIrqStatus, arch::kIrqDone);
    };
    const std::uint32_t expected[] = {0,    642,  5, 0, 264, 188, 156, 180, 0, 642 - 264 - 180,
                                      1280, 1024, 76};
    REQUIRE(std::size(expected) == arch::pmu_events().size());
    run();
    for (std::uint32_t n = 0; n < arch::kPmuCounters; ++n) CHECK(count(n) == 0);  // PMU_CTRL is 0
    b.write(reg::kPmuCtrl, 1);
    for (const arch::PmuEventInfo& info : arch::pmu_events()) {
      INFO(info.name);
      const auto event = static_cast<std::uint32_t>(info.event), n = event % arch::kPmuCounters;
      set(n, info.event);
      b.write(reg::kPmuClear, 1u << n);
      run();
      CHECK(count(n) == expected[event]);
      run();
      CHECK(count(n) == 2 * expected[event]);
      CHECK(b.read(reg::kPmuCount0Hi + 8 * n) == 0);
    }
    const std::uint32_t kept = count(1);
    b.write(reg::kPmuClear, 1);
    CHECK(count(0) == 0);
    CHECK(count(1) == kept);
  });
}

TEST_CASE("transactions in flight hide the memory's latency") {
  // 4096 bytes in four chunks. Fetch of 16 + 8 = 24 bytes: 23; decoded 27; first issue 35.
  // One in flight: each takes 128 + 20, the next leaves when it ends: 35 + 4 x 148 = 627.
  // Four in flight: the data path is never idle: 35 + 4 x 128 + 20 = 567.
  const std::vector<arch::Instruction> program = {make(load(0, kInput, 4096)), make(arch::End{})};
  Bench::Options options;
  options.config.dma.outstanding = 1;
  CHECK(run_program(options, program).cycles == 627);
  options.config.dma.outstanding = 4;
  CHECK(run_program(options, program).cycles == 567);
}

TEST_CASE("loads overlap up to dma.outstanding, and complete in order") {
  // Eight LOADs of 64 bytes: set-up 8, data path 8, latency 20. One transaction in flight: 36 each.
  // Four: a LOAD starts 8 after the one before, but only when the fourth before it has ended: at 0,
  // 8, 16, 24, 36 ... 60; the last ends at 96.
  std::vector<arch::Instruction> program;
  for (std::uint32_t i = 0; i < 8; ++i) program.push_back(make(load(i * 64, kInput + i * 64, 64)));
  program.push_back(make(arch::End{}));
  Bench::Options options;
  options.config.dma.outstanding = 1;
  CHECK(run_program(options, program).job.load_active_cycles == 8 * 36);
  options.config.dma.outstanding = 4;
  CHECK(run_program(options, program).job.load_active_cycles == 96);
  // LOADs to the same bytes do not overlap.
  for (arch::Instruction& i : program)
    if (auto* l = std::get_if<arch::Load>(&i.op)) l->spm_addr = 0;
  CHECK(run_program(options, program).job.load_active_cycles == 8 * 36);
}

TEST_CASE("strided transfers place every byte, whole rows merged") {
  simulate({}, [](Bench& b) {
    for (std::size_t i = 0; i < 4096; ++i)
      b.memory.bytes[kInput + i] = static_cast<std::uint8_t>(i * 31 + i / 256);
    // 3 planes of 4 rows of 10 bytes, every 16 in memory and 1000 a plane; dense in the scratchpad.
    arch::Load in = load(100, kInput, 10);
    in.rows = 4, in.planes = 3, in.mem_row_stride = 16, in.mem_plane_stride = 1000;
    in.spm_row_stride = 10, in.spm_plane_stride = 40;
    // Back with rows every 20 bytes in the scratchpad's own order, dense in memory: one transaction
    // of 60.
    arch::Store out = store(100, kOutput, 10);
    out.rows = 6, out.mem_row_stride = 10, out.spm_row_stride = 20;
    CHECK(b.run({make(in), make(out, 1), make(arch::End{})}) == arch::kStatusDone);
    for (int r = 0; r < 6; ++r)
      for (int i = 0; i < 10; ++i) {
        const int position = r * 20 + i, plane = position / 40, row = position % 40 / 10;
        CHECK(b.memory.bytes[kOutput + r * 10 + i] ==
              b.memory.bytes[kInput + plane * 1000 + row * 16 + i]);
      }
    CHECK(b.npu.load_constants_port.counted_by_page().at(kMemoryBase >> 28).transactions ==
          13);  // a row lies across a multiple of 1024
    CHECK(b.npu.store_port.counted_by_page().at(kMemoryBase >> 28).transactions == 1);
  });
}

TEST_CASE("loads run ahead of compute") {
  // Eight tiles of 1024 bytes: 156 cycles to load and 264 to map each. Waiting only for one's own
  // load, the loads hide; waiting for the previous compute too, they do not.
  const auto program = [](bool serial) {
    std::vector<arch::Instruction> p{make(load(0, kTable, 256))};
    for (std::uint32_t t = 0; t < 8; ++t) {
      p.push_back(make(load(1024 + t * 1024, kInput, 1024), 0, serial ? t : 0));
      p.push_back(make(
          arch::Lut{.ifm_addr = 1024 + t * 1024, .ofm_addr = 16384, .count = 1024, .lut_addr = 0},
          t + 2));
    }
    p.push_back(make(arch::End{}));
    return p;
  };
  const Outcome serial = run_program({}, program(true)),
                overlapped = run_program({}, program(false));
  CHECK(serial.cycles >= 8 * (156 + 264));
  CHECK(overlapped.cycles < 156 + 60 + 200 + 8 * 264);
  CHECK(overlapped.job.load_active_cycles + 8 * 264 > overlapped.cycles);
}

TEST_CASE("a program that forgets a wait is noticed") {
  std::vector<arch::Instruction> p = increment_program();
  CHECK(run_program({}, p).job.hazards == 0);
  p[2].header.wait_load = 1;  // the table is there, the input may not be
  const Outcome outcome = run_program({}, p);
  CHECK(outcome.status == arch::kStatusDone);
  CHECK(outcome.job.hazards == 1);
  CHECK(outcome.job.hazard_tag == 8);
}

TEST_CASE("full queues hold the command processor back, and nothing is lost") {
  Bench::Options options;
  options.config.ctrl.queue_depth = 1;
  options.config.ctrl.fetch_bytes = 256;
  std::vector<arch::Instruction> p;
  for (std::uint32_t i = 0; i < 40; ++i)
    p.push_back(make(arch::Fill{.addr = i, .count = 1, .value = static_cast<int>(i)}));
  p.push_back(make(store(0, kOutput, 40), 0, 40));
  p.push_back(make(arch::End{}));
  simulate(options, [&](Bench& b) {
    CHECK(b.run(p) == arch::kStatusDone);
    for (int i = 0; i < 40; ++i) CHECK(b.memory.bytes[kOutput + i] == i);
    CHECK(b.read(reg::kProgress) == 42);
    // A FILL of one byte: 1 cycle of scratchpad + 8. The 40 of them follow each other without a gap
    // from the first decode (256/8 + 20 + 4 = 56) to 416; then the store: 8 + 5 + 20.
    CHECK(b.read(reg::kPmuCyclesLo) == 56 + 40 * 9 + 33);
  });
}

TEST_CASE("a second job starts from clean counters") {
  simulate({}, [](Bench& b) {
    fill_increment(b);
    CHECK(b.run(increment_program()) == arch::kStatusDone);
    b.write(reg::kIrqStatus, 3);
    std::fill_n(b.memory.bytes.begin() + kOutput, 1024, 0);
    CHECK(b.run(increment_program()) == arch::kStatusDone);
    CHECK(incremented(b));
    CHECK(b.read(reg::kPmuCyclesLo) == 642);
    CHECK(b.npu.jobs().size() == 2);
  });
}

}  // namespace deputy::npu_test

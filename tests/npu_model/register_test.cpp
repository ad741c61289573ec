// The register table, walked: reset values, masks and access kinds as arch/registers.h says.
#include <catch2/catch.hpp>

#include "tests/npu_model/bench.h"

namespace deputy::npu_test {

namespace reg = arch::npu_reg;

TEST_CASE("every register resets, masks and protects as the table says") {
  simulate({}, [](Bench& b) {
    for (const arch::RegisterInfo& r : arch::npu_registers()) {
      if (r.offset == reg::kConfig0 || r.offset == reg::kConfig1 || r.offset == reg::kConfig2)
        continue;
      INFO(r.name);
      CHECK(b.read(r.offset) == r.reset);
      if (r.access == arch::Access::kWo) continue;  // commands
      b.write(r.offset, 0xFFFFFFFF);
      CHECK(b.read(r.offset) == (r.access == arch::Access::kRw ? r.mask : r.reset));
      b.write(r.offset, 0xA5A5A5A5);
      CHECK(b.read(r.offset) == (r.access == arch::Access::kRw ? (0xA5A5A5A5 & r.mask) : r.reset));
    }
    b.write(reg::kReset, 0);
    CHECK(b.read(reg::kQBaseLo) != 0);
    b.write(reg::kReset, 1);
    for (const arch::RegisterInfo& r : arch::npu_registers()) {
      if (r.offset == reg::kConfig0 || r.offset == reg::kConfig1 || r.offset == reg::kConfig2)
        continue;
      INFO(r.name);
      CHECK(b.read(r.offset) == r.reset);
    }
  });
}

TEST_CASE("CONFIG registers describe the engine") {
  Bench::Options options;
  options.config.mac = {
      .oc_lanes = 16, .ic_lanes = 8, .pixels = 4, .dw_taps = 9, .accumulators = 4096};
  options.config.spm.bytes = 65536;
  simulate(options, [](Bench& b) {
    CHECK(b.read(reg::kConfig0) == 0x0903070Fu);
    CHECK(b.read(reg::kConfig1) == 65536);
    CHECK(b.read(reg::kConfig2) == 4096);
  });
}

TEST_CASE("accesses that no register answers are bus errors") {
  simulate({}, [](Bench& b) {
    std::uint32_t value = 0;
    CHECK(b.access(tlm::TLM_READ_COMMAND, 0x038, value, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(b.access(tlm::TLM_WRITE_COMMAND, 0xFFC, value, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(b.access(tlm::TLM_READ_COMMAND, 0x004, value, 2) == tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(b.access(tlm::TLM_READ_COMMAND, 0x006, value, 4) == tlm::TLM_BURST_ERROR_RESPONSE);
  });
}

TEST_CASE("interrupt status, enable and line") {
  simulate({}, [](Bench& b) {
    const std::vector<arch::Instruction> end = {make(arch::End{})};
    b.start(end);
    b.write(reg::kIrqEnable, 0);  // masked before the job ends
    b.wait_cycles(1000);
    CHECK(b.read(reg::kIrqStatus) == arch::kIrqDone);
    CHECK_FALSE(b.interrupt);
    b.write(reg::kIrqEnable, arch::kIrqFailed);
    CHECK_FALSE(b.interrupt);
    b.write(reg::kIrqEnable, arch::kIrqDone);
    CHECK(b.interrupt);
    b.write(reg::kIrqStatus, arch::kIrqFailed);  // clears another bit
    CHECK(b.interrupt);
    b.write(reg::kIrqStatus, arch::kIrqDone);
    CHECK_FALSE(b.interrupt);
  });
}

TEST_CASE("CMD is ignored while a job runs, and base registers are sampled when it starts") {
  simulate({}, [](Bench& b) {
    b.memory.bytes[0x4000] = 42;
    b.start({make(load(0, 0x4000, 4096)), make(store(0, 0x8000, 1), 1), make(arch::End{})});
    b.write(reg::kCmd, 1);
    b.write(reg::kBase0Lo, 0);
    b.write(reg::kSize0, 0);
    b.write(reg::kQSize, 0);
    b.wait_cycles(3000);
    CHECK(b.read(reg::kStatus) == arch::kStatusDone);
    CHECK(b.memory.bytes[0x8000] == 42);
    CHECK(b.npu.jobs().size() == 1);
  });
}

}  // namespace deputy::npu_test

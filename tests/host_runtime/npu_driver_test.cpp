// The NPU's driver against a scripted device: what it writes, what it waits for, what it says went
// wrong.
#include "host_runtime/hal/npu_driver.h"

#include <catch2/catch.hpp>

#include "arch/registers.h"
#include "host_runtime/ports/fake_port.h"

using namespace deputy;
using namespace deputy::host_runtime;
namespace reg = deputy::arch::npu_reg;

namespace {
constexpr std::uint64_t kMicrosecond = 1'000'000;

struct Rig {
  FakePort port;
  IntcDriver intc{port};
  NpuDriver npu{port, intc};
  Rig() {
    REQUIRE(intc.probe().ok());
    REQUIRE(npu.probe().ok());
    npu.bind(1, 0x1'2345'6780, 4096);
  }
  base::Status job(std::uint64_t deadline_ps = 1000 * kMicrosecond) {
    REQUIRE(npu.submit(0x8000'0040, 128).ok());
    return npu.wait(port.now_ps() + deadline_ps);
  }
  void finishes_with(std::uint32_t error = 0) {
    port.on_write(FakePort::kNpu, reg::kCmd, [this, error](std::uint32_t) {
      port.after(kMicrosecond, [this, error] { port.finish(FakePort::kNpu, error); });
    });
  }
  std::uint32_t get(std::uint32_t offset) { return port.get(FakePort::kNpu, offset); }
};
}  // namespace

TEST_CASE("a job is submitted as the register map says and acknowledged everywhere") {
  Rig rig;
  rig.finishes_with();
  REQUIRE(rig.job().ok());
  CHECK(rig.get(reg::kQBaseLo) == 0x8000'0040);
  CHECK(rig.get(reg::kQBaseHi) == 0);
  CHECK(rig.get(reg::kQSize) == 128);
  CHECK(rig.get(reg::kBase1Lo) == 0x2345'6780);
  CHECK(rig.get(reg::kBase1Hi) == 1);
  CHECK(rig.get(reg::kSize1) == 4096);
  CHECK(rig.get(reg::kIrqStatus) == 0);
  CHECK(rig.port.get(FakePort::kIntc, arch::intc_reg::kPending) == 0);
  CHECK(rig.port.bus_errors() == 0);
  CHECK(rig.job().ok());  // and once more
}

TEST_CASE("a fault is told in words, and the engine works again afterwards") {
  Rig rig;
  rig.port.on_write(FakePort::kNpu, reg::kCmd, [&](std::uint32_t) {
    rig.port.after(kMicrosecond, [&] {
      rig.port.set(FakePort::kNpu, reg::kErrInfo, 12u << 8 | 0x30u);
      rig.port.set(FakePort::kNpu, reg::kErrAddrLo, 0x1A4);
      rig.port.set(FakePort::kNpu, reg::kProgress, 9);
      rig.port.finish(FakePort::kNpu, static_cast<std::uint32_t>(arch::NpuError::kSpmBounds));
    });
  });
  const auto status = rig.job();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == base::ErrorKind::kHardwareFault);
  CHECK(status.error().message ==
        "NPU fault: scratchpad address out of bounds; op tag 12 CONV, stream offset 0x1a4, 9 "
        "instructions completed");
  CHECK(rig.npu.fault_tag() == 12u);
  CHECK(rig.get(reg::kStatus) == 0);             // reset
  CHECK(rig.get(reg::kBase1Lo) == 0x2345'6780);  // and its regions are back
  rig.finishes_with();
  CHECK(rig.job().ok());
  CHECK_FALSE(rig.npu.fault_tag());
}

TEST_CASE("a bus fault names the bus address") {
  Rig rig;
  rig.port.on_write(FakePort::kNpu, reg::kCmd, [&](std::uint32_t) {
    rig.port.set(FakePort::kNpu, reg::kErrAddrLo, 0x1000);
    rig.port.set(FakePort::kNpu, reg::kErrAddrHi, 0x2);
    rig.port.set(FakePort::kNpu, reg::kErrInfo, 0x10);
    rig.port.finish(FakePort::kNpu, static_cast<std::uint32_t>(arch::NpuError::kBus));
  });
  CHECK_THAT(rig.job().error().message,
             Catch::Contains("bus error; op tag 0 LOAD, bus address 0x200001000"));
}

TEST_CASE("a job that hangs and one that is slow are told apart") {
  Rig rig;
  SECTION("hangs") {
    CHECK_THAT(rig.job().error().message, Catch::Contains("PROGRESS does not move"));
  }
  SECTION("moves") {
    rig.port.on_write(FakePort::kNpu, reg::kCmd, [&](std::uint32_t) {
      for (std::uint32_t i = 1; i < 100; ++i)
        rig.port.after(i * 300 * kMicrosecond,
                       [&rig, i] { rig.port.set(FakePort::kNpu, reg::kProgress, i); });
    });
    CHECK_THAT(rig.job().error().message,
               Catch::Contains("still moving (3 instructions completed"));
  }
  CHECK(rig.get(reg::kStatus) == 0);
  rig.finishes_with();
  CHECK(rig.job().ok());
}

TEST_CASE("a lost interrupt is an error that says so") {
  Rig rig;
  rig.finishes_with();
  rig.port.lose_interrupts(true);
  CHECK_THAT(rig.job().error().message,
             Catch::Contains("the job is done (STATUS 0x2), but its interrupt never came"));
  rig.port.lose_interrupts(false);
  CHECK(rig.job().ok());
}

TEST_CASE("a spurious interrupt does not end a job") {
  Rig rig;
  rig.port.on_write(FakePort::kNpu, reg::kCmd, [&](std::uint32_t) {
    rig.port.after(kMicrosecond,
                   [&] { rig.port.write32(arch::kIntcBase + arch::intc_reg::kForce, 1); });
    rig.port.after(9 * kMicrosecond, [&] { rig.port.finish(FakePort::kNpu); });
  });
  const std::uint64_t start = rig.port.now_ps();
  REQUIRE(rig.job().ok());
  CHECK(rig.intc.spurious() == 1);
  CHECK(rig.port.now_ps() - start >= 9 * kMicrosecond);
}

TEST_CASE("an interrupt that stays up is a fault, not an endless loop") {
  Rig rig;
  rig.finishes_with();
  rig.port.on_write(FakePort::kNpu, reg::kIrqStatus,
                    [&](std::uint32_t) { rig.port.set(FakePort::kNpu, reg::kIrqStatus, 1); });
  CHECK_THAT(rig.job().error().message, Catch::Contains("stays up"));
}

TEST_CASE("an NPU of another version or none is refused") {
  FakePort port;
  IntcDriver intc(port);
  NpuDriver npu(port, intc);
  port.set(FakePort::kNpu, reg::kId, 0x44504E02);
  CHECK(npu.probe().error().message == "ID reads 0x44504e02 instead of 0x44504e01");
}

TEST_CASE("each capability that differs is named") {
  const auto problem = [](auto&& change) {
    arch::NpuConfig present, target;
    change(target);
    FakePort port(present);
    IntcDriver intc(port);
    const auto status = NpuDriver(port, intc).check_target(target, "m.dpx");
    return status.ok() ? std::string() : status.error().text();
  };
  CHECK(problem([](arch::NpuConfig&) {}).empty());
  CHECK(problem([](arch::NpuConfig& c) { c.dma.outstanding = 1; }).empty());  // only timing
  CHECK(problem([](arch::NpuConfig& c) { c.mac.oc_lanes = 256; }) ==
        "m.dpx: compiled for npu.mac.oc_lanes = 256, but this NPU has 8 (compile the model for "
        "this SoC's configuration)");
  CHECK_THAT(problem([](arch::NpuConfig& c) { c.mac.ic_lanes = 16; }),
             Catch::Contains("npu.mac.ic_lanes = 16"));
  CHECK_THAT(problem([](arch::NpuConfig& c) { c.mac.pixels = 1; }),
             Catch::Contains("npu.mac.pixels = 1"));
  CHECK_THAT(problem([](arch::NpuConfig& c) { c.mac.dw_taps = 2; }),
             Catch::Contains("npu.mac.dw_taps = 2"));
  CHECK_THAT(problem([](arch::NpuConfig& c) { c.spm.bytes = 65536; }),
             Catch::Contains("npu.spm.bytes = 65536"));
  CHECK_THAT(problem([](arch::NpuConfig& c) { c.mac.accumulators = 64; }),
             Catch::Contains("npu.mac.accumulators = 64"));
}

// Interrupts on their way from device to controller to host: acknowledged everywhere, never lost in
// between.
#include "tests/conformance/rig.h"

using namespace deputy;
using namespace deputy::conformance;
using arch::IrqLine;

namespace {
constexpr std::uint32_t bit(IrqLine line) { return 1u << static_cast<std::uint32_t>(line); }
std::uint32_t raw(Rig& r) { return r.port.read32(arch::kIntcBase + arch::intc_reg::kRaw); }
arch::QueueEntry loud(std::uint32_t timeline, std::uint64_t value) {
  arch::QueueEntry e;
  e.irq = 1, e.signal[0] = point(timeline, value);
  return e;
}
}  // namespace

CONFORMANCE_CASE("interrupts: taking one acknowledges it at the device and at the controller") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 4, 1, 0).ok());
    REQUIRE(r.npu.push(0, loud(0, 1)).ok());
    CHECK(r.port.wait_irqs(bit(IrqLine::kNpuQueue), r.port.now_ps() + kMs) ==
          bit(IrqLine::kNpuQueue));
    CHECK(r.pending() == bit(IrqLine::kNpuQueue));
    CHECK(r.npu.take_interrupts() == 1);
    CHECK(r.pending() == 0);
    CHECK(raw(r) == 0);
    CHECK(r.port.read32(arch::kNpuQueueBase + arch::queue_reg::kIrqStatus) == 0);
    CHECK(r.port.wait_irqs(bit(IrqLine::kNpuQueue), r.port.now_ps() + 100 * kUs) == 0);
    r.sync.arm(0, 1);  // reached already
    CHECK(r.port.wait_irqs(bit(IrqLine::kSync), r.port.now_ps() + kMs) == bit(IrqLine::kSync));
    CHECK(r.sync.take_interrupts() == 1);
    CHECK(r.pending() == 0);
    CHECK(raw(r) == 0);
  });
}

CONFORMANCE_CASE("interrupts: none is lost, whenever it comes") {
  on_rig(board, [](Rig& r) {
    REQUIRE(r.npu.open(0, 16, 1, 0).ok());
    REQUIRE(r.npu.open(1, 16, 1, 0).ok());
    r.put(0, ramp(0));
    std::uint64_t pushed = 0, seen = 0;
    for (std::uint64_t i = 0; i < 60; ++i) {
      // Ring 1's fences end at any moment of the service of ring 0's jobs.
      arch::QueueEntry job = r.npu_job(0, 1024, {3, 1});
      job.irq = 1;
      REQUIRE(r.npu.push(0, job).ok());
      REQUIRE(r.npu.push(1, loud(0, i + 1)).ok());
      pushed += 2;
      r.rest(i * 37'000);
      while (seen < pushed) {
        REQUIRE(
            r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kNpuQueue), r.port.now_ps() + kMs));
        r.npu.take_interrupts();
        seen = r.npu.finished(0) + r.npu.finished(1);
      }
    }
    CHECK(r.pending() == 0);
    CHECK(raw(r) == 0);
  });
}

CONFORMANCE_CASE("interrupts: waiting for several lines answers those that are pending") {
  on_rig(board, [](Rig& r) {
    const std::uint32_t both = bit(IrqLine::kNpuQueue) | bit(IrqLine::kDmaQueue);
    REQUIRE(r.npu.open(0, 4, 1, 0).ok());
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    REQUIRE(r.dma.push(0, loud(0, 1)).ok());
    CHECK(r.port.wait_irqs(both, r.port.now_ps() + kMs) == bit(IrqLine::kDmaQueue));
    REQUIRE(r.npu.push(0, loud(1, 1)).ok());
    r.rest(50 * kUs);
    CHECK(r.port.wait_irqs(both, r.port.now_ps() + kMs) == both);
    CHECK(r.port.wait_irqs(bit(IrqLine::kSync), r.port.now_ps() + 10 * kUs) == 0);
    r.npu.take_interrupts(), r.dma.take_interrupts();
    CHECK(r.port.wait_irqs(both, r.port.now_ps() + 10 * kUs) == 0);
  });
}

CONFORMANCE_CASE("interrupts: a spurious one has no cause and is gone when taken") {
  on_rig(board, [](Rig& r) {
    r.port.write32(arch::kIntcBase + arch::intc_reg::kForce, bit(IrqLine::kNpuQueue));
    CHECK(r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kNpuQueue), r.port.now_ps() + kMs));
    CHECK(r.npu.take_interrupts() == 0);
    CHECK(r.pending() == 0);
  });
}

CONFORMANCE_CASE(
    "interrupts: a disabled line does not reach the host; its device keeps the cause") {
  on_rig(board, [](Rig& r) {
    r.intc.disable(IrqLine::kDmaQueue);
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    REQUIRE(r.dma.push(0, loud(0, 1)).ok());
    CHECK_FALSE(r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kDmaQueue),
                                r.port.now_ps() + 100 * kUs));
    CHECK(raw(r) == bit(IrqLine::kDmaQueue));
    r.intc.enable(IrqLine::kDmaQueue);
    CHECK(r.dma.take_interrupts() == 1);
    REQUIRE(r.dma.push(0, loud(0, 2)).ok());
    CHECK(r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kDmaQueue), r.port.now_ps() + kMs));
    r.dma.take_interrupts();
  });
}

CONFORMANCE_CASE("interrupts: a lost one is in RAW and at the device, and the next comes again", {},
                 {sim::FaultKind::kLostInterrupt}) {
  on_rig(board, faults({{.kind = "lost_interrupt", .target = "dma.queue"}}), [](Rig& r) {
    REQUIRE(r.dma.open(0, 4, 1, 0).ok());
    REQUIRE(r.dma.push(0, loud(0, 1)).ok());
    CHECK_FALSE(r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kDmaQueue),
                                r.port.now_ps() + 100 * kUs));
    CHECK(raw(r) == bit(IrqLine::kDmaQueue));
    CHECK(r.dma.take_interrupts() == 1);
    REQUIRE(r.dma.push(0, loud(0, 2)).ok());
    CHECK(r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kDmaQueue), r.port.now_ps() + kMs));
    CHECK(r.dma.take_interrupts() == 1);
  });
}

CONFORMANCE_CASE("interrupts: a late one comes after its cause was served, and is spurious then",
                 {}, {sim::FaultKind::kLateInterrupt}) {
  on_rig(board, faults({{.kind = "late_interrupt", .target = "npu.queue", .delay_ns = 500'000}}),
         [](Rig& r) {
           REQUIRE(r.npu.open(0, 4, 1, 0).ok());
           REQUIRE(r.npu.push(0, loud(0, 1)).ok());
           CHECK_FALSE(r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kNpuQueue),
                                       r.port.now_ps() + 100 * kUs));
           CHECK(r.npu.take_interrupts() == 1);
           CHECK(r.port.wait_irq(static_cast<std::uint32_t>(IrqLine::kNpuQueue),
                                 r.port.now_ps() + 2 * kMs));
           CHECK(r.npu.take_interrupts() == 0);
           CHECK(r.pending() == 0);
         });
}

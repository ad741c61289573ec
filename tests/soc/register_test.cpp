// The register tables of the interrupt controller, the DMA engine and the IOMMU, walked over the
// bus.
#include <catch2/catch.hpp>

#include "arch/memory_map.h"
#include "arch/registers.h"
#include "tests/soc/bench.h"

namespace deputy::soc_test {
namespace {

// What a register reads back is written here once more, from the access kinds' definitions.
void walk(Board& b, std::uint64_t base, std::span<const arch::RegisterInfo> table) {
  for (const arch::RegisterInfo& r : table) {
    INFO(r.name);
    const std::uint64_t address = base + r.offset;
    CHECK(b.read(address) == r.reset);
    switch (r.access) {
      case arch::Access::kRo:
        b.write(address, ~r.reset);
        CHECK(b.read(address) == r.reset);
        break;
      case arch::Access::kRw:
        for (const std::uint32_t v : {0xFFFFFFFFu, 0xA5A5A5A5u, 0x5A5A5A5Au, 0u}) {
          b.write(address, v);
          CHECK(b.read(address) == (v & r.mask));
        }
        break;
      case arch::Access::kWo:
        b.write(address, 0);  // no command bit: nothing happens
        CHECK(b.read(address) == 0);
        break;
      case arch::Access::kW1c:
        b.write(address, 0xFFFFFFFF);  // nothing to clear: writing never sets
        CHECK(b.read(address) == r.reset);
        break;
      case arch::Access::kW1s:
        b.write(address, 0xF0F0F0F0);
        CHECK(b.read(address) == (0xF0F0F0F0 & r.mask));
        b.write(address, 0x0F);
        CHECK(b.read(address) == (0xF0F0F0FF & r.mask));
        b.write(address, 0);
        CHECK(b.read(address) == (0xF0F0F0FF & r.mask));
        break;
    }
  }
  CHECK(b.port.bus_errors() == 0);
}

constexpr std::uint64_t kIntc = arch::kIntcBase, kDma = arch::kDmaBase;
namespace reg = arch::intc_reg;

}  // namespace

TEST_CASE("registers reset, mask and protect as their tables say") {
  simulate({}, [](Board& b) {
    walk(b, kIntc, arch::intc_registers());
    walk(b, kDma, arch::dma_registers());
    walk(b, arch::kIommuBase, arch::iommu_registers());
  });
}

TEST_CASE("DMA RESET clears every register") {
  simulate({}, [](Board& b) {
    b.write(kDma + arch::dma_reg::kDescLo, 0x1234);
    b.write(kDma + arch::dma_reg::kDescHi, 1);
    b.write(kDma + arch::dma_reg::kIrqEnable, 3);
    b.write(kDma + arch::dma_reg::kReset, 0);
    CHECK(b.read(kDma + arch::dma_reg::kDescLo) == 0x1234);
    b.write(kDma + arch::dma_reg::kReset, 1);
    for (const auto& r : arch::dma_registers()) {
      INFO(r.name);
      CHECK(b.read(kDma + r.offset) == r.reset);
    }
  });
}

TEST_CASE("the interrupt controller latches rising edges of enabled lines") {
  simulate({}, [](Board& b) {
    b.intc.set_line(5, true);  // not enabled: seen in RAW only
    CHECK(b.read(kIntc + reg::kRaw) == 0x20);
    CHECK(b.read(kIntc + reg::kPending) == 0);
    b.write(kIntc + reg::kEnableSet, 0x20);
    CHECK(b.read(kIntc + reg::kPending) == 0);  // a level is not an edge
    b.intc.set_line(5, false);
    b.intc.set_line(5, true);
    CHECK(b.read(kIntc + reg::kPending) == 0x20);
    b.intc.set_line(5, false);
    CHECK(b.read(kIntc + reg::kRaw) == 0);
    CHECK(b.read(kIntc + reg::kPending) == 0x20);  // latched
    b.write(kIntc + reg::kPending, 0x10);          // clears another bit
    CHECK(b.read(kIntc + reg::kPending) == 0x20);
    b.write(kIntc + reg::kPending, 0x20);
    CHECK(b.read(kIntc + reg::kPending) == 0);
    CHECK(b.intc.interrupts() == 1);
  });
}

TEST_CASE("ENABLE_SET and ENABLE_CLEAR change single bits of ENABLE, FORCE raises") {
  simulate({}, [](Board& b) {
    b.write(kIntc + reg::kEnable, 0x81);
    b.write(kIntc + reg::kEnableSet, 0x06);
    CHECK(b.read(kIntc + reg::kEnable) == 0x87);
    CHECK(b.read(kIntc + reg::kEnableSet) == 0x87);
    b.write(kIntc + reg::kEnableClear, 0x83);
    CHECK(b.read(kIntc + reg::kEnable) == 0x04);
    b.write(kIntc + reg::kEnable, 0);
    b.write(kIntc + reg::kForce, 0x3);
    CHECK(b.read(kIntc + reg::kPending) == 0x3);
    b.write(kIntc + reg::kForce, 0x6);  // bit 1 was pending already: one more interrupt, not two
    CHECK(b.read(kIntc + reg::kPending) == 0x7);
    CHECK(b.intc.interrupts() == 3);
    CHECK(b.read(kIntc + reg::kRaw) == 0);
    b.write(kIntc + reg::kPending, 0x7);
    CHECK(b.read(kIntc + reg::kPending) == 0);
  });
}

}  // namespace deputy::soc_test

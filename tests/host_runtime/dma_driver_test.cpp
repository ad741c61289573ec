// The DMA engine's driver against a scripted device that walks the chain the driver wrote.
#include "host_runtime/hal/dma_driver.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "arch/registers.h"
#include "host_runtime/ports/fake_port.h"

using namespace deputy;
using namespace deputy::host_runtime;
namespace reg = deputy::arch::dma_reg;

namespace {
constexpr std::uint64_t kDeadline = 1'000'000'000;

struct Rig {
  FakePort port;
  IntcDriver intc{port};
  DmaDriver dma{port, intc};
  std::vector<arch::DmaDescriptor> seen;
  Rig() { REQUIRE(dma.probe().ok()); }
  /// Reads the chain from memory as the engine would.
  void walk_chain() {
    std::uint64_t at = port.get(FakePort::kDma, reg::kDescLo) |
                       std::uint64_t{port.get(FakePort::kDma, reg::kDescHi)} << 32;
    while (at != 0) {
      std::vector<std::uint32_t> words(
          static_cast<std::size_t>(arch::packed_words<arch::DmaDescriptor>()));
      const std::uint8_t* bytes = port.at(at, words.size() * 4);
      REQUIRE(bytes);
      std::memcpy(words.data(), bytes, words.size() * 4);
      seen.push_back(arch::unpack<arch::DmaDescriptor>(words));
      at = seen.back().next;
    }
  }
};
}  // namespace

TEST_CASE("a chain reaches the engine as it was given") {
  Rig rig;
  rig.port.on_write(FakePort::kDma, reg::kCmd, [&](std::uint32_t) {
    rig.walk_chain();
    rig.port.after(1000, [&] { rig.port.finish(FakePort::kDma); });
  });
  std::vector<arch::DmaDescriptor> chain(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    chain[i].src = 0x2000'0000 + i;
    chain[i].dst = 0x8000'0000 + i;
    chain[i].row_bytes = 10 + i;
    chain[i].rows = 2;
    chain[i].src_row_stride = 100;
  }
  REQUIRE(rig.dma.run(chain, rig.port.now_ps() + kDeadline).ok());
  REQUIRE(rig.seen.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(rig.seen[i].src == chain[i].src);
    CHECK(rig.seen[i].dst == chain[i].dst);
    CHECK(rig.seen[i].bytes() == 2 * (10 + i));
    CHECK(rig.seen[i].src_row_stride == 100);
  }
  CHECK(rig.seen[2].next == 0);
  REQUIRE(rig.port.maintenance.size() == 1);  // the descriptors were written by the CPU
  CHECK(rig.port.maintenance[0].clean);
  CHECK(rig.port.get(FakePort::kDma, reg::kIrqStatus) == 0);
  CHECK(rig.dma.run(chain, rig.port.now_ps() + kDeadline).ok());
  CHECK(rig.dma.run({}, 0).ok());
}

TEST_CASE("faults, time-outs and lost interrupts of the DMA engine are told in words") {
  Rig rig;
  const arch::DmaDescriptor one[1];
  SECTION("bus error") {
    rig.port.on_write(FakePort::kDma, reg::kCmd, [&](std::uint32_t) {
      rig.port.set(FakePort::kDma, reg::kErrAddrLo, 0xF000'0000);
      rig.port.finish(FakePort::kDma, static_cast<std::uint32_t>(arch::DmaError::kBus));
    });
    CHECK(rig.dma.run(one, rig.port.now_ps() + kDeadline).error().message ==
          "DMA fault: bus error; descriptor 0 of 1, bus address 0xf0000000");
  }
  SECTION("hang") {
    CHECK(rig.dma.run(one, rig.port.now_ps() + kDeadline).error().message ==
          "DMA time-out: 0 of 1 descriptors completed, STATUS 0x1");
  }
  SECTION("lost interrupt") {
    rig.port.lose_interrupts(true);
    rig.port.on_write(FakePort::kDma, reg::kCmd,
                      [&](std::uint32_t) { rig.port.finish(FakePort::kDma); });
    CHECK_THAT(rig.dma.run(one, rig.port.now_ps() + kDeadline).error().message,
               Catch::Contains("its interrupt never came"));
    rig.port.lose_interrupts(false);
  }
  CHECK(rig.port.get(FakePort::kDma, reg::kStatus) == 0);
  rig.port.on_write(FakePort::kDma, reg::kCmd,
                    [&](std::uint32_t) { rig.port.finish(FakePort::kDma); });
  CHECK(rig.dma.run(one, rig.port.now_ps() + kDeadline).ok());
}

TEST_CASE("a descriptor that the format cannot hold is refused") {
  Rig rig;
  arch::DmaDescriptor wide[1];
  wide[0].rows = 65536;
  CHECK_THAT(rig.dma.run(wide, 0).error().message, Catch::Contains("descriptor 0: rows"));
}

TEST_CASE("the driver gives its descriptors' memory back") {
  FakePort port;
  {
    IntcDriver intc(port);
    DmaDriver dma(port, intc);
    port.on_write(FakePort::kDma, reg::kCmd, [&](std::uint32_t) { port.finish(FakePort::kDma); });
    REQUIRE(dma.probe().ok());
    const arch::DmaDescriptor one[1];
    REQUIRE(dma.run(one, port.now_ps() + kDeadline).ok());
    CHECK(port.allocations() == 1);
  }
  CHECK(port.allocations() == 0);
}

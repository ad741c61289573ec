// The host's port over TLM: 200 MHz host (5 ns), register access 12 cycles + 4 through the switch +
// 1 back, maintenance 60 + 10 a line of 32 bytes, interrupt 30 + 600 cycles.
#include "soc/tlm_port.h"

#include <catch2/catch.hpp>

#include "arch/memory_map.h"
#include "tests/soc/bench.h"

namespace deputy::soc_test {
namespace {

constexpr std::uint64_t kSram = arch::kSramBase, kDram = arch::kDramBase, kIntc = arch::kIntcBase;

}  // namespace

TEST_CASE("heap: lowest fit, alignment, reuse, full") {
  soc::Heap heap(0x1000, 0x1000);
  CHECK(heap.alloc(0x100, 0x10) == 0x1000u);
  CHECK(heap.alloc(1, 1) == 0x1100u);
  CHECK(heap.alloc(0x100, 0x100) == 0x1200u);
  CHECK(heap.alloc(0x80, 0x40) == 0x1140u);  // fits into the gap before it
  CHECK(heap.free(0x1000));
  CHECK_FALSE(heap.free(0x1000));
  CHECK_FALSE(heap.free(0x1141));
  CHECK(heap.alloc(0x101, 1) == 0x1300u);  // one byte more than the hole
  CHECK(heap.alloc(0x100, 1) == 0x1000u);  // the hole again
  CHECK(heap.alloc(0, 1) == 0x1101u);      // no bytes still need an address of their own
  CHECK_FALSE(heap.alloc(0x1000, 1));
  CHECK_FALSE(heap.alloc(~std::uint64_t{0}, 1));
  CHECK_FALSE(heap.alloc(1, std::uint64_t{1} << 63));
  CHECK(heap.free_bytes() == 0x1000 - 0x100 - 1 - 0x100 - 0x80 - 0x101 - 1);
}

TEST_CASE("shared memory is zeroed, aligned, disjoint, takes no time, and says when it is full") {
  simulate({}, [](Board& b) {
    b.fill(kSram, 4096, 1);
    const auto a = b.port.alloc(MemoryKind::kSram, 100, 64),
               c = b.port.alloc(MemoryKind::kSram, 100, 64);
    const auto d = b.port.alloc(MemoryKind::kDram, 1 << 20, 4096);
    REQUIRE((a.ok() && c.ok() && d.ok()));
    CHECK(a->address == kSram);
    CHECK(c->address == kSram + 128);
    CHECK(d->address == kDram);
    CHECK(a->host == b.at(kSram));
    CHECK(a->bytes == 100);
    CHECK(std::all_of(a->host, a->host + 100, [](std::uint8_t v) { return v == 0; }));
    const auto full = b.port.alloc(MemoryKind::kSram, 1 << 20, 1);
    REQUIRE_FALSE(full.ok());
    CHECK(full.error().text() ==
          "sram: 1048576 bytes do not fit: 1048376 of 1048576 bytes are free (raise sram.bytes or "
          "choose a smaller model)");
    b.port.free(*a);
    b.port.free(*c);
    CHECK(b.port.alloc(MemoryKind::kSram, 1 << 20, 1).ok());
    CHECK(b.port.now_ps() == 0);
    CHECK(b.port.busy_ps() == 0);
  });
}

TEST_CASE("register accesses: time, counts, bus errors") {
  simulate({}, [](Board& b) {
    CHECK(b.port.read32(kIntc) == 0x44504901);
    CHECK(b.cycles_since(0) == Approx(12 + 4 + 1));
    b.port.write32(kIntc + arch::intc_reg::kEnable, 0xF0);
    CHECK(b.port.read32(kIntc + arch::intc_reg::kEnable) == 0xF0);
    CHECK(b.cycles_since(0) == Approx(3 * 17));
    CHECK(b.port.bus_errors() == 0);
    CHECK(b.port.read32(0x10) == 0xFFFFFFFF);
    CHECK(b.port.read32(kIntc + 0x100) == 0xFFFFFFFF);
    CHECK(b.port.read32(kIntc + 2) == 0xFFFFFFFF);
    CHECK(b.port.read32(kSram + (1 << 20)) == 0xFFFFFFFF);
    CHECK(b.port.read32(kSram + 2) == 0xFFFFFFFF);  // not aligned
    b.port.write32(0x10, 1);
    CHECK(b.port.bus_errors() == 6);
    CHECK(b.port.register_reads() == 7);
    CHECK(b.port.register_writes() == 2);
    CHECK(b.port.busy_ps() == b.port.now_ps());
    CHECK(books(b).interconnect == 0);
  });
}

TEST_CASE("the CPU's own words in memory are traffic, and balance") {
  simulate({}, [](Board& b) {
    b.port.write32(kSram + 8, 0x12345678);
    CHECK(b.cycles_since(0) == Approx(12 + 4 + 2 + 1));
    CHECK(*b.at(kSram + 8) == 0x78);
    CHECK(*b.at(kSram + 11) == 0x12);
    b.port.write32(kDram + 4092, 0xCAFEF00D);
    CHECK(b.port.read32(kSram + 8) == 0x12345678);
    CHECK(b.port.read32(kDram + 4092) == 0xCAFEF00D);
    const Books sums = books(b);
    CHECK(sums.initiators == 16);
    CHECK(sums.interconnect == 16);
    CHECK(sums.memories == 16);
  });
}

TEST_CASE("cache maintenance costs its lines") {
  simulate({}, [](Board& b) {
    b.port.clean(kSram, 1);
    CHECK(b.cycles_since(0) == Approx(60 + 10));
    double start = b.now_ns();
    b.port.invalidate(kSram + 31, 2);  // touches two lines
    CHECK(b.cycles_since(start) == Approx(60 + 20));
    start = b.now_ns();
    b.port.clean(kSram + 32, 320);
    CHECK(b.cycles_since(start) == Approx(60 + 100));
    start = b.now_ns();
    b.port.clean(kSram, 0);
    CHECK(b.cycles_since(start) == 0);
    CHECK(b.port.maintained_lines() == 1 + 2 + 10);
    CHECK(b.port.busy_ps() == b.port.now_ps());
  });
}

TEST_CASE("waiting for an interrupt: raised, already pending, too late") {
  simulate({}, [](Board& b) {
    b.port.write32(kIntc + arch::intc_reg::kEnable, 0x3);
    const std::uint64_t busy = b.port.busy_ps();
    CHECK_FALSE(b.port.wait_irq(0, 1'000'000));
    CHECK(b.port.now_ps() == 1'000'000);
    CHECK(b.port.busy_ps() == busy);  // waiting is not work
    b.spawn([&] {
      sc_core::wait(2, sc_core::SC_US);
      b.intc.set_line(1, true);  // another line wakes the port, not the caller
      sc_core::wait(1, sc_core::SC_US);
      b.intc.set_line(0, true);
    });
    CHECK(b.port.wait_irq(0, 100'000'000));
    CHECK(b.port.now_ps() == 4'000'000 + 630 * 5000);
    CHECK(b.port.busy_ps() == busy + 630 * 5000);
    const double start = b.now_ns();
    CHECK(b.port.wait_irq(0, 0));  // still pending: at once, whatever the deadline
    CHECK(b.cycles_since(start) == Approx(630));
    b.port.write32(kIntc + arch::intc_reg::kPending, 0x3);
    CHECK_FALSE(b.port.wait_irq(0, 0));
    b.spawn([&] {
      sc_core::wait(1, sc_core::SC_MS);
      b.intc.set_line(0, false);
      b.intc.set_line(0, true);
    });
    CHECK(b.port.wait_irq(0, ~std::uint64_t{0}));  // no deadline
  });
}

TEST_CASE("CPU work takes the longer of its cycles and its traffic") {
  Board::Options o;
  o.config.host.outstanding = 8;
  o.config.host.chunk_bytes = 64;
  simulate(o, [](Board& b) {
    double start = b.now_ns();
    b.port.charge(CpuKernel::kMacInt8, 1000, {});
    CHECK(b.cycles_since(start) == Approx(1000));
    start = b.now_ns();
    b.port.charge(CpuKernel::kMacFloat, 100, {});
    b.port.charge(CpuKernel::kElementwise, 100, {});
    b.port.charge(CpuKernel::kTranscendental, 100, {});
    b.port.charge(CpuKernel::kCopy, 101, {});  // half a cycle a byte, rounded up
    b.port.charge(CpuKernel::kControl, 1, {});
    CHECK(b.cycles_since(start) == Approx(200 + 400 + 6000 + 51 + 400));
    // 640 + 320 bytes of SRAM: 6 + 120 cycles.
    const MemoryTouch touches[] = {{kSram, 640, false}, {kSram + 4096, 320, true}};
    start = b.now_ns();
    b.port.charge(CpuKernel::kMacInt8, 10, touches);
    CHECK(b.cycles_since(start) == Approx(126));
    start = b.now_ns();
    b.port.charge(CpuKernel::kMacInt8, 500, touches);
    CHECK(b.cycles_since(start) == Approx(500));
    CHECK(b.port.busy_ps() == b.port.now_ps());
    CHECK(b.sram.counted().read_bytes == 2 * 640);
    CHECK(b.sram.counted().write_bytes == 2 * 320);
    CHECK(books(b).initiators == 2 * 960);
    CHECK(books(b).interconnect == 2 * 960);
  });
}

}  // namespace deputy::soc_test

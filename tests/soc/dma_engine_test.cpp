// The system DMA engine on the board, against copies made by a naive loop.
#include "dma/dma_engine.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "arch/memory_map.h"
#include "tests/soc/bench.h"

namespace deputy::soc_test {
namespace {

namespace reg = arch::dma_reg;
constexpr std::uint64_t kSram = arch::kSramBase, kDram = arch::kDramBase, kDma = arch::kDmaBase;
constexpr std::uint64_t kDescriptors = kSram + 0x80000;  // 64 bytes each
constexpr std::uint32_t kLine = 1u << static_cast<unsigned>(arch::IrqLine::kDma);

arch::DmaDescriptor linear(std::uint64_t src, std::uint64_t dst, std::uint32_t bytes) {
  arch::DmaDescriptor d;
  d.src = src, d.dst = dst, d.row_bytes = bytes;
  return d;
}

void put(Board& b, std::size_t slot, const arch::DmaDescriptor& d) {
  std::vector<std::uint32_t> words;
  arch::pack(d, words);
  std::memcpy(b.at(kDescriptors + slot * 64), words.data(), words.size() * 4);
}

void start(Board& b, std::vector<arch::DmaDescriptor> chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (i + 1 < chain.size()) chain[i].next = kDescriptors + (i + 1) * 64;
    put(b, i, chain[i]);
  }
  b.write(arch::kIntcBase + arch::intc_reg::kEnableSet, kLine);
  b.write(kDma + reg::kDescLo, static_cast<std::uint32_t>(kDescriptors));
  b.write(kDma + reg::kDescHi, 0);
  b.write(kDma + reg::kIrqEnable, arch::kIrqDone | arch::kIrqFailed);
  b.write(kDma + reg::kCmd, 1);
}

// Waits for the interrupt, acknowledges it, returns STATUS.
std::uint32_t finish(Board& b) {
  CHECK(b.port.wait_irq(static_cast<std::uint32_t>(arch::IrqLine::kDma),
                        b.port.now_ps() + 1'000'000'000));
  const std::uint32_t status = b.read(kDma + reg::kStatus);
  CHECK(b.read(kDma + reg::kIrqStatus) ==
        (status & arch::kStatusError ? arch::kIrqFailed : arch::kIrqDone));
  b.write(kDma + reg::kIrqStatus, 3);
  b.write(arch::kIntcBase + arch::intc_reg::kPending, kLine);
  CHECK(b.read(arch::kIntcBase + arch::intc_reg::kRaw) == 0);
  return status;
}
std::uint32_t run(Board& b, const std::vector<arch::DmaDescriptor>& chain) {
  start(b, chain);
  return finish(b);
}

constexpr std::uint32_t error(arch::DmaError e) {
  return arch::kStatusError | static_cast<std::uint32_t>(e) << 8;
}
std::uint64_t fault(Board& b) {
  return b.read(kDma + reg::kErrAddrLo) | std::uint64_t{b.read(kDma + reg::kErrAddrHi)} << 32;
}

// The memory as the descriptor should leave it: one byte after the other.
void naive(Board& b, const arch::DmaDescriptor& d, std::vector<std::uint8_t>& image,
           std::uint64_t image_base) {
  for (std::uint64_t p = 0; p < d.planes; ++p)
    for (std::uint64_t r = 0; r < d.rows; ++r)
      for (std::uint64_t i = 0; i < d.row_bytes; ++i)
        image[d.dst + p * d.dst_plane_stride + r * d.dst_row_stride + i - image_base] =
            *b.at(d.src + p * d.src_plane_stride + r * d.src_row_stride + i);
}

}  // namespace

TEST_CASE("strided copies equal a naive loop") {
  const auto shape = [](std::uint64_t src, std::uint64_t dst, std::array<std::uint32_t, 7> n) {
    arch::DmaDescriptor d = linear(src, dst, n[0]);
    d.rows = n[1], d.planes = n[2], d.src_row_stride = n[3], d.dst_row_stride = n[4];
    d.src_plane_stride = n[5], d.dst_plane_stride = n[6];
    return d;
  };
  const std::vector<arch::DmaDescriptor> cases = {
      linear(kSram, kDram, 1),
      linear(kSram + 3, kDram + 4093, 5000),                    // unaligned, over 4 KiB boundaries
      shape(kSram, kDram, {64, 16, 1, 64, 64, 0, 0}),           // rows that join
      shape(kSram + 1, kDram + 7, {13, 20, 1, 100, 13, 0, 0}),  // gather
      shape(kSram, kDram, {13, 20, 1, 13, 100, 0, 0}),          // scatter
      shape(kSram, kDram, {8, 5, 7, 32, 8, 1024, 40}),  // 3-D gather, planes join at the target
      shape(kSram + 9, kDram + 100, {33, 3, 4, 50, 70, 1000, 3000}),  // 3-D to 3-D
      shape(kSram, kDram, {16, 1, 9, 0, 0, 4096, 16}),                // planes without rows
      shape(kSram, kDram, {100, 6, 1, 0, 100, 0, 0}),  // the same row again and again
      shape(kSram, kDram, {4, 100, 2, 8, 4, 4000, 400}),
  };
  simulate({}, [&](Board& b) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      INFO("case " << i);
      b.fill(kSram, 32768, static_cast<std::uint32_t>(i));
      b.fill(kDram, 32768, 1000);
      std::vector<std::uint8_t> expected(b.at(kDram), b.at(kDram) + 32768);
      naive(b, cases[i], expected, kDram);
      CHECK(run(b, {cases[i]}) == arch::kStatusDone);
      CHECK(std::equal(expected.begin(), expected.end(), b.at(kDram)));
      CHECK(b.read(kDma + reg::kProgress) == 1);
      bytes += cases[i].bytes();
    }
    CHECK(b.dram.counted().write_bytes == bytes);
    CHECK(b.sram.counted().read_bytes ==
          bytes + cases.size() * 48);  // and 12 words of each descriptor
    const Books sums = books(b);
    CHECK(sums.initiators == sums.interconnect);
    CHECK(sums.interconnect == sums.memories);
  });
}

TEST_CASE("a chain runs in order: a later descriptor reads what an earlier one wrote") {
  simulate({}, [](Board& b) {
    b.fill(kSram, 4096, 3);
    const std::vector<std::uint8_t> data(b.at(kSram), b.at(kSram) + 4096);
    CHECK(run(b, {linear(kSram, kDram, 4096), linear(kDram, kSram + 8192, 4096),
                  linear(kSram + 8192, kDram + 65536, 4096)}) == arch::kStatusDone);
    CHECK(std::equal(data.begin(), data.end(), b.at(kDram + 65536)));
    CHECK(b.read(kDma + reg::kProgress) == 3);
  });
}

TEST_CASE("an empty chain is done at once") {
  simulate({}, [](Board& b) {
    b.write(kDma + reg::kCmd, 1);
    b.wait_cycles(2);
    CHECK(b.read(kDma + reg::kStatus) == arch::kStatusDone);
    CHECK(b.read(kDma + reg::kProgress) == 0);
  });
}

TEST_CASE("reads and writes overlap in time") {
  constexpr std::uint32_t kBytes = 65536;
  simulate({}, [&](Board& b) {
    double begin = b.now_ns();
    b.stream(*b.spare[0], kSram, kBytes, 512);
    b.stream(*b.spare[0], kDram, kBytes, 512, true);
    const double serial = b.now_ns() - begin;
    CHECK(serial == Approx(2 * kBytes / 1.6).epsilon(0.02));  // each at 8 bytes every 5 ns
    begin = b.now_ns();
    b.write(arch::kIntcBase + arch::intc_reg::kEnableSet, kLine);
    start(b, {linear(kSram, kDram, kBytes)});
    while (!(b.read(kDma + reg::kStatus) & arch::kStatusDone)) b.wait_cycles(20);
    const double overlapped = b.now_ns() - begin;
    CHECK(overlapped > kBytes / 1.6);
    CHECK(overlapped < 0.6 * serial);
  });
}

TEST_CASE("what outstanding, chunk_bytes and descriptor_cycles change") {
  const auto duration = [](int outstanding, int chunk, int descriptor_cycles) {
    double ns = 0;
    Board::Options o;
    o.config.dma.outstanding = outstanding, o.config.dma.chunk_bytes = chunk;
    o.config.dma.descriptor_cycles = descriptor_cycles;
    o.config.dram.trefi = 0;
    simulate(o, [&](Board& b) {
      start(b, {linear(kSram, kDram, 16384)});
      const double begin = b.now_ns();
      CHECK(b.port.wait_irq(static_cast<std::uint32_t>(arch::IrqLine::kDma), ~std::uint64_t{0}));
      ns = b.now_ns() - begin;
    });
    return ns;
  };
  const double usual = duration(4, 512, 8);
  const double alone = duration(1, 512, 8);
  CHECK(alone > usual * 1.05);
  // With one in flight every 32 bytes pay at least 4 + 2 + 4 cycles; the usual setting hides the
  // latency.
  CHECK(duration(1, 32, 8) > 512 * 10 * 5);
  CHECK(duration(1, 32, 8) > alone * 1.3);
  CHECK(duration(4, 512, 108) == Approx(usual + 100 * 5));
}

TEST_CASE("malformed descriptors and bus errors stop the chain") {
  simulate({}, [](Board& b) {
    b.fill(kSram, 8192, 5);
    const auto good = linear(kSram, kDram, 4096);
    for (int field = 0; field < 3; ++field) {
      auto bad = good;
      (field == 0 ? bad.row_bytes : field == 1 ? bad.rows : bad.planes) = 0;
      CHECK(run(b, {good, bad, good}) == error(arch::DmaError::kBadDescriptor));
      CHECK(fault(b) == kDescriptors + 64);
      CHECK(b.read(kDma + reg::kProgress) == 1);
    }
    // The chunk that fails is reported, not the start of the transfer.
    CHECK(run(b, {linear(kSram + (1 << 20) - 8192, kDram, 16384)}) == error(arch::DmaError::kBus));
    CHECK(fault(b) == kSram + (1 << 20));
    CHECK(run(b, {good, linear(kSram, kDram + (64 << 20) - 4096, 8192)}) ==
          error(arch::DmaError::kBus));
    CHECK(fault(b) == kDram + (64 << 20));
    CHECK(b.read(kDma + reg::kProgress) == 1);
    CHECK(run(b, {linear(0x1000, kDram, 64)}) == error(arch::DmaError::kBus));
    CHECK(fault(b) == 0x1000);
    auto lost = good;
    lost.next = 0x9'0000'0040;  // beyond 32 bits
    put(b, 0, lost);
    b.write(kDma + reg::kCmd, 1);
    CHECK(finish(b) == error(arch::DmaError::kBus));
    CHECK(fault(b) == 0x9'0000'0040);
    // And the engine still works.
    CHECK(run(b, {good}) == arch::kStatusDone);
    CHECK(fault(b) == 0);
    CHECK(std::equal(b.at(kSram), b.at(kSram) + 4096, b.at(kDram)));
    const Books sums = books(b);
    CHECK(sums.initiators == sums.interconnect);
    CHECK(sums.interconnect == sums.memories);
  });
}

TEST_CASE("a second CMD while running is ignored") {
  simulate({}, [](Board& b) {
    start(b, {linear(kSram, kDram, 65536)});
    b.write(kDma + reg::kCmd, 1);
    CHECK(b.read(kDma + reg::kStatus) == arch::kStatusRunning);
    CHECK(finish(b) == arch::kStatusDone);
    b.wait_cycles(100'000);
    CHECK(b.read(kDma + reg::kIrqStatus) == 0);
    CHECK(b.dram.counted().write_bytes == 65536);
  });
}

TEST_CASE("reset at any moment, then a good run") {
  for (std::uint64_t delay = 0; delay < 1200; delay += 37) {
    simulate({}, [delay](Board& b) {
      INFO("reset after " << delay << " cycles");
      b.fill(kSram, 8192, 9);
      start(b, {linear(kSram, kDram, 4096), linear(kSram, kDram + 4096, 4096)});
      b.wait_cycles(delay);
      b.write(kDma + reg::kReset, 1);
      CHECK(b.read(kDma + reg::kStatus) == 0);
      CHECK(b.read(kDma + reg::kIrqEnable) == 0);
      b.write(arch::kIntcBase + arch::intc_reg::kPending, kLine);
      if (delay % 2) b.wait_cycles(2000);  // at once, or after the old transfers have drained
      CHECK(run(b, {linear(kSram + 100, kDram + 65536, 5000)}) == arch::kStatusDone);
      CHECK(std::equal(b.at(kSram + 100), b.at(kSram + 5100), b.at(kDram + 65536)));
      CHECK(b.read(kDma + reg::kProgress) == 1);
      b.wait_cycles(5000);
      CHECK(b.read(kDma + reg::kStatus) == arch::kStatusDone);
      CHECK(b.read(kDma + reg::kIrqStatus) == 0);
      const Books sums = books(b);
      CHECK(sums.initiators == sums.interconnect);
      CHECK(sums.interconnect == sums.memories);
    });
  }
}

TEST_CASE("a masked interrupt does not raise the line") {
  simulate({}, [](Board& b) {
    start(b, {linear(kSram, kDram, 64)});
    b.write(kDma + reg::kIrqEnable, arch::kIrqFailed);
    b.wait_cycles(1000);
    CHECK(b.read(kDma + reg::kIrqStatus) == arch::kIrqDone);
    CHECK(b.read(arch::kIntcBase + arch::intc_reg::kRaw) == 0);
    b.write(kDma + reg::kIrqEnable, arch::kIrqDone);
    CHECK(b.read(arch::kIntcBase + arch::intc_reg::kRaw) == kLine);
    b.write(kDma + reg::kIrqStatus, arch::kIrqDone);
    CHECK(b.read(arch::kIntcBase + arch::intc_reg::kRaw) == 0);
  });
}

TEST_CASE("timing only: same time and traffic, no bytes") {
  double ns[2] = {};
  std::uint64_t bytes[2] = {};
  for (const bool functional : {false, true}) {
    Board::Options o;
    o.functional = functional;
    simulate(o, [&](Board& b) {
      b.fill(kSram, 8192, 4);
      CHECK(run(b, {linear(kSram, kDram, 8192)}) == arch::kStatusDone);
      ns[functional] = b.now_ns();
      bytes[functional] = books(b).memories;
      CHECK((*b.at(kDram) == *b.at(kSram)) == functional);
    });
  }
  CHECK(ns[0] == ns[1]);
  CHECK(bytes[0] == bytes[1]);
}

}  // namespace deputy::soc_test

// The interconnect by hand. Defaults: 200 MHz (5 ns), 8 bytes a cycle, 4 cycles of latency; SRAM 8
// bytes a cycle after 2 cycles. So 64 bytes take 4 + 2 + 8 cycles, and the channel is free again 8
// cycles after the grant.
#include "soc/interconnect.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "arch/memory_map.h"
#include "sim/process.h"
#include "tests/soc/bench.h"

namespace deputy::soc_test {
namespace {

constexpr std::uint64_t kSram = arch::kSramBase, kDram = arch::kDramBase;

void check_books(const Board& b, std::uint64_t bytes) {
  const Books sums = books(b);
  CHECK(sums.initiators == bytes);
  CHECK(sums.interconnect == bytes);
  CHECK(sums.memories == bytes);
}

}  // namespace

TEST_CASE("latency of one transfer") {
  simulate({}, [](Board& b) {
    b.stream(b.host, kSram, 64, 64);
    CHECK(b.now_ns() == Approx(5 * (4 + 2 + 8)));
    double start = b.now_ns();
    b.stream(b.host, kSram, 3, 64, true);  // less than a beat is a beat
    CHECK(b.cycles_since(start) == Approx(4 + 2 + 1));
    start = b.now_ns();
    b.stream(b.host, kDram, 32,
             32);  // closed bank: tRCD 29 + RL 28 at 0.625 ns, then 4 beats of the switch
    CHECK(b.now_ns() - start == Approx(20 + 57 * 0.625 + 20));
    check_books(b, 64 + 3 + 32);
  });
}

TEST_CASE("the narrower of switch and memory sets the rate") {
  const auto cycles = [](int noc_width, int sram_width, std::uint64_t chunks) {
    double result = 0;
    Board::Options o;
    o.outstanding = 8;
    o.config.noc.width_bytes = noc_width;
    o.config.sram.width_bytes = sram_width;
    simulate(o, [&](Board& b) {
      b.stream(*b.spare[0], kSram, 64 * chunks, 64);
      result = b.cycles_since(0);
      check_books(b, 64 * chunks);
    });
    return result;
  };
  CHECK(cycles(8, 8, 1) == Approx(4 + 2 + 8));
  CHECK(cycles(8, 8, 100) == Approx(4 + 2 + 800));
  CHECK(cycles(4, 8, 100) == Approx(4 + 2 + 1600));
  CHECK(cycles(8, 4, 100) == Approx(4 + 2 + 1600));
  CHECK(cycles(16, 16, 100) == Approx(4 + 2 + 400));
}

TEST_CASE("latency and window bound an initiator that does not look ahead") {
  const auto cycles = [](int outstanding, int latency) {
    double result = 0;
    Board::Options o;
    o.outstanding = outstanding;
    o.config.noc.latency = latency;
    simulate(o, [&](Board& b) {
      b.stream(*b.spare[0], kSram, 64 * 100, 64);
      result = b.cycles_since(0);
    });
    return result;
  };
  CHECK(cycles(1, 4) == Approx(100 * 14));
  CHECK(cycles(1, 20) == Approx(100 * 30));
  CHECK(cycles(2, 4) == Approx(6 + 800));  // two chunks of 8 cycles hide a latency of 14
  CHECK(cycles(2, 20) ==
        Approx(50 * 30 + 8));  // but not one of 30: two every 30, the second 8 after the first
  CHECK(cycles(4, 4) == Approx(6 + 800));
}

TEST_CASE("two initiators share the channel's rate, and lose nothing") {
  for (const char* arbitration : {"round_robin", "priority", "fifo"}) {
    INFO(arbitration);
    Board::Options o;
    o.config.noc.arbitration = arbitration;
    simulate(o, [&](Board& b) {
      double done[2] = {};
      for (std::size_t i = 0; i < 2; ++i)
        b.spawn([&b, &done, i] {
          b.stream(*b.spare[i], kSram + i * 65536, 6400, 64, i == 1);
          done[i] = b.cycles_since(0);
        });
      b.join();
      const double end = std::max(done[0], done[1]);
      CHECK(end == Approx(6 + 1600));  // 12800 bytes at 8 a cycle
      check_books(b, 12800);
      const auto traffic = b.noc.traffic();
      CHECK(traffic.at("spare0").at("sram").read_bytes == 6400);
      CHECK(traffic.at("spare1").at("sram").write_bytes == 6400);
      CHECK(traffic.at("spare0").at("sram").transactions == 100);
      // Fair arbitration: both end together. Priority: the first is held up by at most the chunk in
      // service.
      if (arbitration == std::string("priority")) {
        CHECK(std::min(done[0], done[1]) <= 6 + 800 + 8 * 4);
      } else {
        CHECK(std::abs(done[0] - done[1]) <= 2 * 8);
      }
    });
  }
}

TEST_CASE("SRAM and DRAM are separate channels") {
  Board::Options o;
  o.config.dram.trefi = 0;
  simulate(o, [](Board& b) {
    b.spawn([&] { b.stream(*b.spare[0], kSram, 6400, 64); });
    b.spawn([&] { b.stream(*b.spare[1], kDram, 6400, 64); });
    b.join();
    CHECK(b.cycles_since(0) < 6 + 800 + 40);
    check_books(b, 12800);
  });
}

namespace {

// spare1 holds the channel; the others arrive meanwhile in the order given. Returns who was served
// when.
std::string served(const char* arbitration, std::vector<std::size_t> arrivals) {
  std::string order;
  Board::Options o;
  o.config.noc.arbitration = arbitration;
  o.priorities = {2, 4, 3};
  simulate(o, [&](Board& b) {
    b.spawn([&] { b.stream(*b.spare[1], kSram, 1024, 1024); });
    for (const std::size_t who : arrivals) {
      b.wait_cycles(1);
      b.spawn([&b, &order, who] {
        b.spare[who]->issue(kSram, nullptr, 64, false);
        order += std::to_string(who);
        b.spare[who]->drain();
      });
    }
    b.join();
    check_books(b, 1024 + 128);
  });
  return order;
}

}  // namespace

TEST_CASE("who goes next: round robin, priority, first come") {
  CHECK(served("fifo", {0, 2}) == "02");
  CHECK(served("fifo", {2, 0}) == "20");
  CHECK(served("round_robin", {0, 2}) == "20");  // 2 is next after 1
  CHECK(served("round_robin", {2, 0}) == "20");
  CHECK(served("priority", {0, 2}) == "02");
  CHECK(served("priority", {2, 0}) == "02");
}

TEST_CASE("a waiter killed just after its grant leaves the channel to the others") {
  simulate({}, [](Board& b) {
    b.spawn([&] { b.stream(*b.spare[0], kSram, 1024, 1024); });
    auto victim = sc_core::sc_spawn([&] { b.stream(*b.spare[1], kSram, 64, 64); }, "victim");
    b.spawn([&] {
      b.wait_cycles(2);
      b.stream(*b.spare[2], kSram, 64, 64);
    });
    b.wait_cycles(128);  // the channel is free now: the arbiter ran before this thread
    victim.kill();
    b.join();
    CHECK(b.cycles_since(0) == Approx(128 + 14));
    check_books(b, 1024 + 64);
  });
}

TEST_CASE(
    "holes, the ends of the memories and bad register accesses are bus errors and move nothing") {
  Board::Options o;
  o.config.sram.bytes = 65536 + 32;
  o.config.dram.bytes = 1 << 20;
  simulate(o, [](Board& b) {
    std::uint8_t data[64] = {};
    const auto fails = [&](std::uint64_t address, std::uint32_t bytes) {
      return !b.host.issue(address, data, bytes, false) &&
             !b.host.issue(address, data, bytes, true);
    };
    CHECK(fails(0, 4));
    CHECK(fails(kSram - 64, 64));
    CHECK(fails(kSram + 65536 + 32, 4));
    CHECK(fails(kSram + 65536, 64));  // the end lies inside the access
    CHECK(fails(kDram + (1 << 20), 64));
    CHECK(fails(kDram - 64, 64));
    CHECK(fails(0xFFFFFFFFFFFFFFC0, 64));
    CHECK(fails(arch::kDmaBase + 0x1000, 4));
    CHECK(fails(arch::kDmaBase + 0x800, 4));  // no register there
    CHECK(fails(arch::kDmaBase + 0x10, 8));
    CHECK(fails(arch::kDmaBase + 0x12, 4));
    CHECK(b.host.issue(kSram + 65536, data, 32, false));
    CHECK(b.host.issue(kDram + (1 << 20) - 64, data, 64, false));
    b.host.drain();
    check_books(b, 96);
  });
}

TEST_CASE("bytes arrive where they were sent") {
  simulate({}, [](Board& b) {
    std::vector<std::uint8_t> out(300), back(300);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i * 7 + 1);
    for (const std::uint64_t base : {kSram + 5, kDram + 4096 - 300}) {
      CHECK(b.host.issue(base, out.data(), 300, true));
      b.host.drain();
      CHECK(std::equal(out.begin(), out.end(), b.at(base)));
      CHECK(b.host.issue(base, back.data(), 300, false));
      CHECK(back == out);
    }
    CHECK(*b.at(kSram + 4) == 0);
    CHECK(*b.at(kSram + 305) == 0);
  });
}

}  // namespace deputy::soc_test

// The full DRAM model behind the interconnect: times that are decided late, several initiators, and
// what each initiator is told.
#include <catch2/catch.hpp>

#include "arch/memory_map.h"
#include "tests/soc/bench.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

constexpr std::uint64_t kDram = arch::kDramBase, kRow = 2048, kSameBank = 8 * kRow;

Board::Options full(const std::vector<std::string>& sets = {}) {
  std::vector<std::string> all = {"dram.model=full"};
  all.insert(all.end(), sets.begin(), sets.end());
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", all);
  if (!config.ok()) FAIL(config.error().text());
  Board::Options o;
  o.config = *config;
  return o;
}

double ns(const sc_core::sc_time& t) { return static_cast<double>(t.value()) / 1000; }

}  // namespace

TEST_CASE("full dram: one read takes the switch, the device and the beats") {
  simulate(full(), [](Board& b) {
    std::uint8_t data[32];
    const double switch_ns = 4 * 4;  // 4 cycles of 4 ns
    b.host.issue(kDram, data, 32, false);
    b.host.drain();
    // Closed: the first data after tRCD and RL, then the switch's 4 beats of 8 bytes, which are
    // slower than the burst.
    CHECK(b.now_ns() == Approx(switch_ns + 57 * 0.625 + 16).margin(0.7));
    const double start = b.now_ns();
    b.host.issue(kDram + 64, data, 32, false);
    CHECK(b.now_ns() == start);  // nobody has asked yet
    CHECK(ns(b.host.last_done()) - start == Approx(switch_ns + 28 * 0.625 + 16).margin(1.3));
  });
}

TEST_CASE("full dram: a hit of one initiator goes before an older conflict of another") {
  // The switch is faster than the device here, so that requests wait in the controller.
  const auto ends = [](const std::string& overtakes) {
    std::vector<double> out(3);
    simulate(full({"noc.width_bytes=64", "noc.clock_mhz=1000",
                   "dram.controller.overtakes=" + overtakes}),
             [&](Board& b) {
               b.spare[2]->issue(kDram, nullptr, 32, false);
               b.spare[2]->drain();
               b.wait_cycles(1000);
               const double start = b.now_ns();
               b.spare[2]->issue(kDram + 512, nullptr, 512,
                                 false);  // keeps the bank busy while the two arrive
               b.spare[0]->issue(kDram + kSameBank, nullptr, 64, false);
               b.spare[1]->issue(kDram + 64, nullptr, 64, false);
               out = {ns(b.spare[0]->last_done()) - start, ns(b.spare[1]->last_done()) - start, 0};
               CHECK(b.dram.counters().hits >= 2);
             });
    return out;
  };
  const auto reordered = ends("64"), in_order = ends("0");
  CHECK(reordered[1] < reordered[0]);
  CHECK(in_order[0] < in_order[1]);
  CHECK(in_order[0] < reordered[0]);
  CHECK(reordered[1] + 50 < in_order[1]);  // a row cycle that the other spares it
}

TEST_CASE("full dram: chunks retire in order, and SRAM's behind DRAM's") {
  simulate(full(), [](Board& b) {
    b.spare[0]->issue(kDram, nullptr, 512, false);
    b.spare[0]->issue(arch::kSramBase, nullptr, 8, false);  // done sooner by itself
    const double last = ns(b.spare[0]->last_done());
    b.spare[0]->drain();
    CHECK(b.now_ns() == last);
    CHECK(last > 16 + 57 * 0.625 + 256 - 1);
    // A window of four: the fifth waits for the first, not for the others.
    const double start = b.now_ns();
    for (int i = 0; i < 5; ++i)
      b.spare[0]->issue(kDram + 4096 + 512 * static_cast<std::uint64_t>(i), nullptr, 512, false);
    CHECK(b.now_ns() > start);
    CHECK(ns(b.spare[0]->last_done()) > b.now_ns());
  });
}

TEST_CASE("full dram: bytes arrive, streams reach the device's rate, several at once share it") {
  simulate(full({"noc.width_bytes=64", "noc.clock_mhz=1000"}), [](Board& b) {
    b.fill(kDram, 65536, 7);
    std::vector<std::uint8_t> back(65536);
    for (std::uint64_t i = 0; i < 65536; i += 512)
      CHECK(b.host.issue(kDram + i, back.data() + i, 512, false));
    b.host.drain();
    CHECK(std::equal(back.begin(), back.end(), b.at(kDram)));
    const double start = b.now_ns();
    for (int i = 0; i < 3; ++i)
      b.spawn([&b, i] {
        b.stream(*b.spare[static_cast<std::size_t>(i)],
                 kDram + (static_cast<std::uint64_t>(i) << 20), 1 << 18, 512, i == 2);
      });
    b.join();
    const double rate = 3.0 * (1 << 18) / (b.now_ns() - start) / 6.4;  // of 6.4 bytes a ns
    CHECK(rate > 0.82);
    CHECK(rate < 0.93);
    CHECK(b.dram.counters().overtaken > 0);
  });
}

TEST_CASE("full dram: the same run twice gives the same times") {
  const auto run = [](int seed) {
    double end = 0;
    std::uint64_t overtaken = 0;
    simulate(full({"dram.controller.power_down=200"}), [&](Board& b) {
      for (int t = 0; t < 3; ++t)
        b.spawn([&b, t, seed] {
          std::uint32_t state = static_cast<std::uint32_t>(seed * 7 + t);
          for (int i = 0; i < 200; ++i) {
            state = state * 1664525u + 1013904223u;
            b.spare[static_cast<std::size_t>(t)]->issue(kDram + state % (1 << 20) / 512 * 512,
                                                        nullptr, 64u << (state >> 30),
                                                        (state >> 28 & 1) != 0);
            if ((state >> 24) % 8 == 0) b.wait_cycles(state >> 20 & 255);
          }
          b.spare[static_cast<std::size_t>(t)]->drain();
        });
      b.join();
      end = b.now_ns();
      overtaken = b.dram.counters().overtaken;
    });
    return std::pair(end, overtaken);
  };
  for (int seed = 1; seed <= 5; ++seed) CHECK(run(seed) == run(seed));
  CHECK(run(1) != run(2));
}

TEST_CASE(
    "full dram: a device without a row, a scheme that is none, a refresh that the device has not") {
  const auto message = [](const std::vector<std::string>& sets) {
    const auto config =
        soc::load_soc_config(tests::source_dir() + "/configs/soc/ethos-u55-128-like.yaml", sets);
    return config.ok() ? "" : config.error().text();
  };
  CHECK_THAT(message({"dram.model=full"}), Catch::Matchers::Contains("dram.device.name") &&
                                               Catch::Matchers::Contains("dram.device.file"));
  const std::string file = "dram.device.file=../dram/ddr4-2400.yaml";
  CHECK(message({"dram.model=full", file}) == "");
  CHECK_THAT(message({"dram.model=full", file, "dram.controller.mapping=random"}),
             Catch::Matchers::Contains("'random' is not a choice"));
  CHECK_THAT(message({"dram.model=full", file, "dram.controller.refresh=per_bank"}),
             Catch::Matchers::Contains("no per-bank refresh"));
  CHECK_THAT(message({"dram.model=full", file, "dram.device.tccd_s=3"}),
             Catch::Matchers::Contains("bursts would overlap"));
  CHECK_THAT(message({"dram.model=full", "dram.device.file=nosuch.yaml"}),
             Catch::Matchers::Contains("nosuch.yaml"));
}

}  // namespace deputy::soc_test

// The CPU's cache on a whole board: every mistake of cache maintenance, made on purpose, gives the
// bytes that hardware would give and a finding that says which buffer, which line, and who wrote
// it; correct programs give none.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "host_runtime/runtime/coherence.h"
#include "soc/platform.h"
#include "tests/soc/queue_host.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

using Strings = std::vector<std::string>;
constexpr std::uint32_t kFrom = 0, kTo = 0x10000, kLine = 32;
constexpr std::uint64_t kLines = kBytes / kLine;

/// A driver that maintains what it gives the engine to run, and nothing else.
struct Program : Host {
  std::uint64_t runs = 0;

  explicit Program(HwPort& p) : Host(p) { enable(kDma, 0); }

  void store(std::uint32_t at, std::uint8_t value, std::uint32_t bytes = kBytes) {
    std::memset(dram.host + at, value, bytes);
  }
  void touch(std::uint32_t at, std::uint32_t bytes, bool write) {
    const MemoryTouch touch{dram.address + at, bytes, write};
    port.charge(CpuKernel::kCopy, bytes, std::span(&touch, 1));
  }
  void clean(std::uint32_t at, std::uint32_t bytes = kBytes) {
    port.clean(dram.address + at, bytes);
  }
  void invalidate(std::uint32_t at, std::uint32_t bytes = kBytes) {
    port.invalidate(dram.address + at, bytes);
  }
  /// kBytes by the DMA engine, to their end. The descriptor's page is the driver's.
  void dma(std::uint32_t from, std::uint32_t to) {
    arch::QueueEntry job = copy(0x80000, from, to);
    job.signal[0] = point(0, ++runs);
    submit(kDma, 0, job);
    REQUIRE(wait(0, runs));
  }
  /// The CPU's view is `value` all over.
  bool sees(std::uint32_t at, std::uint8_t value, std::uint32_t bytes = kBytes) const {
    return std::all_of(dram.host + at, dram.host + at + bytes,
                       [&](std::uint8_t b) { return b == value; });
  }
  /// The memory's bytes, past the cache.
  std::uint32_t memory(std::uint32_t at) { return port.read32(dram.address + at); }
};

soc::RunRecord on_board(const std::function<void(Program&)>& test, const Strings& sets = {},
                        const soc::PlatformOptions& options = {}) {
  Strings settings = {"host.coherent=false"};
  settings.insert(settings.end(), sets.begin(), sets.end());
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", settings);
  if (!config.ok()) FAIL(config.error().text());
  soc::Platform platform(*config, options);
  auto record = platform.run([&](HwPort& port) -> base::Status {
    Program program(port);
    test(program);
    return {};
  });
  if (!record.ok()) FAIL(record.error().text());
  return *record;
}

// false sharing, lost writes, missing cleans, missing invalidates
std::array<std::uint64_t, 4> counts(const soc::RunRecord& r) {
  return {r.counters.at("cache.false_sharing"), r.counters.at("cache.lost_writes"),
          r.counters.at("cache.missing_cleans"), r.counters.at("cache.missing_invalidates")};
}
using Counts = std::array<std::uint64_t, 4>;

void check_first(const soc::RunRecord& r, const Strings& parts) {
  REQUIRE_FALSE(r.cache_findings.empty());
  for (const auto& part : parts) CHECK_THAT(r.cache_findings[0], Catch::Contains(part));
  REQUIRE_FALSE(r.imbalances.empty());
  CHECK(r.imbalances[0] == "cache: " + r.cache_findings[0]);
}

void correct(Program& p) {
  for (const std::uint8_t value : {1, 2}) {
    p.store(kFrom, value);
    p.clean(kFrom);
    p.dma(kFrom, kTo);
    p.invalidate(kTo);
    p.touch(kTo, kBytes, false);
    CHECK(p.sees(kTo, value));
  }
  p.dma(kFrom, kTo);
  p.touch(kTo, kBytes, true);  // whole lines: what the engine wrote does not matter
  p.store(kTo, 9);
  p.clean(kTo);
  p.dma(kTo, kFrom);
  p.invalidate(kFrom);
  CHECK(p.sees(kFrom, 9));
}

}  // namespace

TEST_CASE("cache: a program that cleans and invalidates is found clean") {
  const auto r = on_board(correct);
  CHECK(counts(r) == Counts{});
  CHECK(r.imbalances == Strings{});
}

TEST_CASE("cache: without a clean the engine reads old bytes") {
  const auto r = on_board([](Program& p) {
    p.store(kFrom, 7);
    p.dma(kFrom, kTo);
    p.invalidate(kTo);
    CHECK(p.sees(kTo, 0));
    CHECK(p.sees(kFrom, 7));
  });
  CHECK(counts(r) == Counts{0, 0, kLines, 0});
  check_first(r, {"missing clean", "dma.read reads line 0x80000000",
                  "at 0x80000000 + 0 of 1048576 bytes", "stores that it did not announce"});
  CHECK_THAT(r.cache_findings[1], Catch::Contains("line 0x80000020 at 0x80000000 + 32 of"));
  CHECK(r.cache_findings.size() == 20);
  CHECK(r.imbalances.size() == 21);
  CHECK(r.imbalances[20] == "cache: and 108 lines more");
}

TEST_CASE("cache: a write equal to the bytes from before an engine's is a write, when it is told") {
  const auto r = on_board([](Program& p) {
    p.store(kFrom, 7);
    p.clean(kFrom);
    p.dma(kFrom, kTo);
    p.store(kTo, 0);  // as the CPU has seen it all the time
    p.touch(kTo, kBytes, true);
    p.dma(kTo, 0x20000);
    p.invalidate(0x20000);
    CHECK(p.sees(0x20000, 7));
  });
  CHECK(counts(r) == Counts{0, 0, kLines, 0});
  check_first(r, {"missing clean", "dma.read reads line 0x80010000", "written last by host at "});
}

TEST_CASE("cache: without an invalidate the CPU reads old bytes") {
  const auto r = on_board([](Program& p) {
    p.store(kFrom, 7);
    p.clean(kFrom);
    p.dma(kFrom, kTo);
    p.touch(kTo + 40, 4, false);
    CHECK(p.sees(kTo, 0));
    CHECK(p.memory(kTo) == 0x07070707);  // a word past the cache is the memory's
  });
  CHECK(counts(r) == Counts{0, 0, 0, 1});
  check_first(r, {"missing invalidate", "host reads line 0x80010020", "+ 65568 of",
                  "written last by dma.write at "});
}

TEST_CASE("cache: an invalidate before the engine writes does not help") {
  const auto r = on_board([](Program& p) {
    p.store(kFrom, 7);
    p.clean(kFrom);
    p.invalidate(kTo);
    p.dma(kFrom, kTo);
    p.touch(kTo, kBytes, false);
    CHECK(p.sees(kTo, 0));
  });
  CHECK(counts(r) == Counts{0, 0, 0, kLines});
}

TEST_CASE("cache: an engine that writes a dirty line loses its bytes to the next clean") {
  const auto r = on_board([](Program& p) {
    p.store(kFrom, 7);
    p.clean(kFrom);
    p.store(kTo + 8, 1, 4);
    p.touch(kTo + 8, 4, true);
    p.dma(kFrom, kTo);
    CHECK(p.memory(kTo) == 0x07070707);
    p.clean(kTo);
    CHECK(p.memory(kTo) == 0);
    CHECK(p.memory(kTo + 8) == 0x01010101);
    CHECK(p.memory(kTo + kLine) == 0x07070707);
  });
  CHECK(counts(r) == Counts{1, 0, 0, 0});
  check_first(r, {"false sharing", "dma.write writes line 0x80010000", "written last by host at "});
}

TEST_CASE("cache: the CPU that writes a part of an engine's line loses the rest of it") {
  for (const bool told : {true, false}) {
    INFO("told: " << told);
    const auto r = on_board([&](Program& p) {
      p.store(kFrom, 7);
      p.clean(kFrom);
      p.dma(kFrom, kTo);
      p.store(kTo + 8, 1, 4);
      if (told) p.touch(kTo + 8, 4, true);
      p.clean(kTo + 8, 4);
      CHECK(p.memory(kTo + 8) == 0x01010101);
      CHECK(p.memory(kTo) == 0);
      CHECK(p.memory(kTo + kLine) == 0x07070707);
    });
    CHECK(counts(r) == Counts{1, 0, 0, 0});
    check_first(r,
                {"false sharing", "host writes line 0x80010000", "written last by dma.write at "});
  }
}

TEST_CASE("cache: an invalidate discards what was not cleaned") {
  const auto r = on_board([](Program& p) {
    p.store(kFrom + 64, 7, 4);
    p.invalidate(kFrom + 68, 4);
    CHECK(p.sees(kFrom, 0));
  });
  CHECK(counts(r) == Counts{0, 1, 0, 0});
  check_first(r, {"lost write", "host invalidates line 0x80000040"});
}

TEST_CASE("cache: clean leaves lines alone that the CPU has not written") {
  const auto r = on_board([](Program& p) {
    p.store(kFrom, 7);
    p.clean(kFrom);
    p.dma(kFrom, kTo);
    p.clean(kTo);
    CHECK(p.memory(kTo) == 0x07070707);
    CHECK(p.sees(kTo, 0));
  });
  CHECK(counts(r) == Counts{});
}

TEST_CASE("cache: a word written past the cache is seen by all") {
  const auto r = on_board([](Program& p) {
    p.port.write32(p.dram.address + kFrom + 4, 0x01020304);
    p.dma(kFrom, kTo);
    CHECK(p.dram.host[kFrom + 4] == 4);
    CHECK(p.memory(kTo + 4) == 0x01020304);
  });
  CHECK(counts(r) == Counts{});
}

TEST_CASE("cache: fresh memory is zero for everybody, whatever its lines were before") {
  const auto r = on_board([](Program& p) {
    const SharedMemory first = *p.port.alloc(MemoryKind::kDram, kBytes, 4096);
    const auto at = static_cast<std::uint32_t>(first.address - p.dram.address);
    p.store(kFrom, 7);
    p.clean(kFrom);
    p.dma(kFrom, at);
    p.touch(at + 64, 8, true);  // false sharing, the one mistake here
    p.port.free(first);
    const SharedMemory second = *p.port.alloc(MemoryKind::kDram, kBytes, 4096);
    REQUIRE(second.address == first.address);
    p.touch(at, kBytes, false);
    CHECK(p.sees(at, 0));
    p.dma(at, kTo);
    p.invalidate(kTo);
    CHECK(p.sees(kTo, 0));
  });
  CHECK(counts(r) == Counts{1, 0, 0, 0});
}

TEST_CASE("cache: findings need not be the run's errors") {
  const auto r = on_board([](Program& p) { p.store(kFrom, 7), p.invalidate(kFrom); }, {},
                          {.cache_errors = false});
  CHECK(counts(r) == Counts{0, kLines, 0, 0});
  CHECK(r.cache_findings.size() == 20);
  CHECK(r.imbalances == Strings{});
}

TEST_CASE("cache: a coherent one needs no maintenance, and takes as long for it") {
  const auto careless = [](Program& p) {
    p.store(kFrom, 7);
    p.dma(kFrom, kTo);
    p.touch(kTo, kBytes, false);
    CHECK(p.sees(kTo, 7));
    p.store(kTo + 8, 1, 4);
    p.dma(kTo, kFrom);
    CHECK(p.sees(kFrom + 8, 1, 4));
  };
  const auto r = on_board(careless, {"host.coherent=true"});
  CHECK(counts(r) == Counts{});
  CHECK(r.imbalances == Strings{});
  CHECK(on_board(correct, {"host.coherent=true"}).end_ps == on_board(correct).end_ps);
}

TEST_CASE("cache: with time alone the mistakes that are told are found, and bytes do not matter") {
  const auto r = on_board(
      [](Program& p) {
        p.touch(kFrom, 8, true);
        p.dma(kFrom, kTo);
        p.touch(kTo, 8, false);
        p.touch(kTo + 64, 8, true);
        p.touch(kFrom + 128, 8, true);
        p.invalidate(kFrom + 128, 8);
      },
      {}, {.timing_only = true});
  CHECK(counts(r) == Counts{1, 1, 1, 1});
}

TEST_CASE("cache: lines have the configured size") {
  for (const std::uint32_t line : {16u, 64u, 128u}) {
    const auto r = on_board([&](Program& p) { p.store(kFrom, 7), p.dma(kFrom, kTo); },
                            {"host.cache_line_bytes=" + std::to_string(line)});
    CHECK(counts(r) == Counts{0, 0, kBytes / line, 0});
  }
  CHECK_FALSE(soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml",
                                   {"host.cache_line_bytes=48"})
                  .ok());
}

TEST_CASE(
    "cache: evictions hide a missing clean or undo an engine's write, at moments of the seed") {
  bool hidden = false, undone = false;
  for (int seed = 1; seed <= 6; ++seed) {
    const auto r = on_board(
        [&](Program& p) {
          p.store(kFrom, 7);
          p.touch(kFrom, kBytes, true);
          p.store(kTo, 1);
          p.touch(kTo, kBytes, true);
          p.dma(kFrom, kTo);
          for (std::uint32_t at = 0; at < kBytes; at += kLine) {
            const auto byte = p.memory(kTo + at) & 0xFF;
            hidden = hidden || byte == 7;
            undone = undone || byte == 1;
          }
        },
        {"host.evict_seed=" + std::to_string(seed)});
    CHECK(r.counters.at("cache.false_sharing") > 0);
    CHECK(on_board(correct, {"host.evict_seed=" + std::to_string(seed)}).imbalances == Strings{});
  }
  CHECK(hidden);
  CHECK(undone);
}

TEST_CASE("cache: what the runtime maintains is enough for any order of accesses") {
  for (const char* line : {"16", "32", "64"})
    for (const char* seed : {"0", "5"}) {
      INFO("line " << line << ", evictions " << seed);
      const auto r = on_board(
          [&](Program& p) {
            host_runtime::Coherence coherence(p.port);
            constexpr std::uint32_t kArena = 6 * kBytes;
            std::vector<std::uint8_t> expected(kArena, 0);
            std::mt19937 random(3);
            const auto below = [&](std::uint32_t n) {
              return static_cast<std::uint32_t>(random() % n);
            };
            const auto bus = [&](std::uint32_t at) { return p.dram.address + at; };
            bool equal = true;
            for (int step = 0; step < 150; ++step) {
              const std::uint32_t bytes = 1 + below(below(2) ? 100 : 5000),
                                  at = below(kArena - bytes);
              switch (below(3)) {
                case 0:
                  coherence.before_cpu_write(bus(at), bytes);
                  for (std::uint32_t i = 0; i < bytes; ++i)
                    expected[at + i] = p.dram.host[at + i] = static_cast<std::uint8_t>(below(3));
                  if (below(2)) p.touch(at, bytes, true);
                  break;
                case 1:
                  coherence.before_cpu_read(bus(at), bytes);
                  equal = equal && std::memcmp(p.dram.host + at, expected.data() + at, bytes) == 0;
                  break;
                default: {
                  const std::uint32_t from = below(kArena - kBytes), to = below(kArena - kBytes);
                  if (std::max(from, to) - std::min(from, to) < kBytes) break;
                  coherence.before_engine(bus(from), kBytes),
                      coherence.before_engine(bus(to), kBytes);
                  p.dma(from, to);
                  coherence.after_engine_write(bus(to), kBytes);
                  std::copy_n(expected.begin() + from, kBytes, expected.begin() + to);
                }
              }
            }
            CHECK(equal);
          },
          {std::string("host.cache_line_bytes=") + line, std::string("host.evict_seed=") + seed});
      CHECK(r.imbalances == Strings{});
    }
}

}  // namespace deputy::soc_test

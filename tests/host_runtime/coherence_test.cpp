// Cache maintenance against a naive model with one state a line.
#include "host_runtime/runtime/coherence.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <utility>

#include "host_runtime/ports/fake_port.h"

using namespace deputy;
using namespace deputy::host_runtime;

TEST_CASE("only lines that need it are maintained") {
  FakePort port;
  Coherence c(port);
  c.before_cpu_write(128, 100);  // lines at 128 and 192
  c.before_engine(0, 4096);
  REQUIRE(port.maintenance.size() == 1);
  CHECK(port.maintenance[0].clean);
  CHECK(port.maintenance[0].address == 128);
  CHECK(port.maintenance[0].bytes == 128);
  c.before_engine(0, 4096);  // clean now
  CHECK(port.maintenance.size() == 1);
  c.after_engine_write(0, 256);
  c.before_cpu_read(70, 1);  // one line
  REQUIRE(port.maintenance.size() == 2);
  CHECK_FALSE(port.maintenance[1].clean);
  CHECK(port.maintenance[1].address == 64);
  CHECK(port.maintenance[1].bytes == 64);
  c.before_cpu_write(128, 64);  // a whole line: what the engine wrote does not matter
  CHECK(port.maintenance.size() == 2);
  c.before_cpu_write(200, 8);  // a part of one: it does
  CHECK(port.maintenance.size() == 3);
}

TEST_CASE("random sequences keep a naive cache coherent") {
  constexpr int kLines = 24;
  enum Line { kClean, kDirty, kStale };  // as the CPU's cache sees it
  std::mt19937 random(3);
  FakePort port;
  Coherence c(port);
  Line lines[kLines] = {};
  const auto apply_maintenance = [&] {
    for (const auto& m : port.maintenance)
      for (std::uint64_t at = m.address / 64; at < (m.address + m.bytes) / 64; ++at) {
        REQUIRE(lines[at] == (m.clean ? kDirty : kStale));  // never without need
        lines[at] = kClean;
      }
    port.maintenance.clear();
  };
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t begin = random() % (kLines * 64),
                        bytes = 1 + random() % (kLines * 64 - begin);
    const std::uint64_t first = begin / 64, last = (begin + bytes - 1) / 64;
    const int kind = static_cast<int>(random() % 3);
    if (kind == 0) c.before_cpu_read(begin, bytes);
    if (kind == 1) c.before_cpu_write(begin, bytes);
    if (kind == 2) c.before_engine(begin, bytes);
    apply_maintenance();
    for (std::uint64_t at = first; at <= last; ++at) {
      const bool whole = at * 64 >= begin && at * 64 + 64 <= begin + bytes;
      if (kind == 0) CHECK(lines[at] != kStale);
      if (kind == 1) CHECK((whole || lines[at] != kStale));
      if (kind == 1) lines[at] = kDirty;
      if (kind == 2) CHECK(lines[at] != kDirty);
      if (kind == 2) lines[at] = kStale;
    }
    if (kind == 2) c.after_engine_write(begin, bytes);
  }
}

TEST_CASE("uncached lines are never maintained, the others as before") {
  constexpr std::uint64_t kLines = 24, kLine = 64;
  std::mt19937 random(5);
  FakePort port;
  Coherence mixed(port), cached(port);
  // Lines 4 to 7 and 6 to 11 by two mappings, and the last one.
  const std::pair<std::uint64_t, std::uint64_t> uncached[] = {
      {4 * kLine, 4 * kLine}, {6 * kLine, 6 * kLine}, {23 * kLine, kLine}};
  const auto is_uncached = [](std::uint64_t line) {
    return (line >= 4 && line < 12) || line == 23;
  };
  mixed.before_cpu_write(4 * kLine, kLine);  // held from another mapping
  for (const auto& [address, bytes] : uncached) mixed.add_uncached(address, bytes);
  REQUIRE(port.maintenance.size() == 1);
  const auto lines = [&port] {  // cleaned and invalidated since the last call
    std::set<std::pair<bool, std::uint64_t>> out;
    for (const auto& m : port.maintenance)
      for (std::uint64_t at = m.address; at < m.address + m.bytes; at += kLine)
        out.emplace(m.clean, at / kLine);
    port.maintenance.clear();
    return out;
  };
  (void)lines();
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t begin = random() % (kLines * kLine),
                        bytes = 1 + random() % (kLines * kLine - begin);
    const auto kind = random() % 4;
    const auto apply = [&](Coherence& c) {
      if (kind == 0) c.before_cpu_read(begin, bytes);
      if (kind == 1) c.before_cpu_write(begin, bytes);
      if (kind == 2) c.before_engine(begin, bytes);
      if (kind == 3) c.after_engine_write(begin, bytes);
      return lines();
    };
    auto expected = apply(cached);
    std::erase_if(expected, [&](const auto& line) { return is_uncached(line.second); });
    REQUIRE(apply(mixed) == expected);
  }
  mixed.before_engine(0, kLines * kLine);
  (void)lines();
  for (const auto& [address, bytes] : uncached) mixed.take_uncached(address, bytes);
  mixed.before_cpu_write(5 * kLine, kLine);
  mixed.before_engine(0, kLines * kLine);
  CHECK(lines().size() == 1);
}

// DRAM command timing against latencies worked out by hand from the LPDDR4-3200 parameters: tCK
// 0.625 ns, RL 28, WL 14, tRCD 29, tRP 29, tRAS 68, tRRD 16, tFAW 64, tCCD 8, tWR 29, tWTR 16, tRTP
// 12, tREFI 6246, tRFC 448, a burst 8 tCK of 32 bytes, 8 banks, rows of 2048 bytes. Published idle
// latencies: 22.5 / 40.6 / 58.8 ns.
#include "soc/dram_timing.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <deque>
#include <functional>

namespace deputy::soc_test {
namespace {

using soc::DramConfig;
using soc::DramTiming;

constexpr std::uint64_t kTck = 625;   // ps
constexpr std::uint64_t kRow = 2048;  // bytes; the next row lies in the next bank
constexpr std::uint64_t kSameBank = 8 * kRow;
constexpr std::uint64_t kIdle = 1'000'000;  // 1 us: long after everything, before the first refresh

double ns(std::uint64_t ps) { return static_cast<double>(ps) / 1000; }
std::uint64_t ck(std::uint64_t n) { return n * kTck; }

DramConfig quiet() {  // no refresh
  DramConfig c;
  c.trefi = 0;
  return c;
}

}  // namespace

TEST_CASE("idle latency of a closed bank, a row hit and a row conflict") {
  DramTiming d{DramConfig{}};
  CHECK(ns(d.access(0, 32, false, 0)) == Approx(40.6).margin(1));
  CHECK(ns(d.access(64, 32, false, kIdle) - kIdle) == Approx(22.5).margin(1));
  CHECK(ns(d.access(kSameBank, 32, false, 2 * kIdle) - 2 * kIdle) == Approx(58.8).margin(1));
  CHECK(d.misses == 1);
  CHECK(d.hits == 1);
  CHECK(d.conflicts == 1);
  CHECK(d.activates == 2);
}

TEST_CASE("an access is as many bursts as its bytes touch") {
  DramTiming d{quiet()};
  CHECK(d.access(0, 32, false, 0) == ck(29 + 28 + 8));
  CHECK(d.first_data_ps() == ck(29 + 28));
  CHECK(d.access(31, 2, false, kIdle) == kIdle + ck(28 + 8 + 8));  // straddles two bursts
  CHECK(d.access(0, 512, false, 2 * kIdle) == 2 * kIdle + ck(28 + 16 * 8));
  CHECK(d.first_data_ps() == 2 * kIdle + ck(28));
  CHECK(d.hits + d.misses == 1 + 2 + 16);
}

TEST_CASE("reads and writes turn the bus around") {
  DramTiming d{quiet()};
  d.access(0, 32, false, 0);
  const std::uint64_t write_end = d.access(0, 32, true, kIdle);
  CHECK(write_end == kIdle + ck(14 + 8));
  CHECK(d.access(0, 32, false, kIdle) == write_end + ck(16 + 28 + 8));  // tWTR after the data
  // Read then write: the data bus is the limit, the write's command may be earlier.
  const std::uint64_t read_end = d.access(0, 32, false, 2 * kIdle);
  CHECK(d.access(0, 32, true, 2 * kIdle) == read_end + ck(8));
}

TEST_CASE("a row stays open for tRAS, and after a write for tWR") {
  DramTiming read{quiet()};
  read.access(0, 32, false, 0);  // column at 29, precharge not before 68 (tRAS), activate at 97
  CHECK(read.access(kSameBank, 32, false, 0) == ck(68 + 29 + 29 + 28 + 8));
  DramTiming late{quiet()};
  late.access(0, 32, false, 0);
  late.access(0, 32, false, ck(100));  // column at 100, precharge not before 112 (tRTP)
  CHECK(late.access(kSameBank, 32, false, ck(100)) == ck(100 + 12 + 29 + 29 + 28 + 8));
  DramTiming write{quiet()};
  write.access(0, 32, true, 0);  // data from 43 to 51, precharge not before 80
  CHECK(write.access(kSameBank, 32, true, 0) == ck(51 + 29 + 29 + 29 + 14 + 8));
}

TEST_CASE("banks interleave: activates are tRRD apart, and a fifth waits for tFAW") {
  DramTiming d{quiet()};
  for (std::uint64_t bank = 0; bank < 4; ++bank)
    CHECK(d.access(bank * kRow, 32, false, 0) == ck(16 * bank + 29 + 28 + 8));
  CHECK(d.access(4 * kRow, 32, false, 0) == ck(64 + 65));
  DramConfig wide = quiet();
  wide.tfaw = 100;
  DramTiming w{wide};
  for (std::uint64_t bank = 0; bank < 4; ++bank) w.access(bank * kRow, 32, false, 0);
  CHECK(w.access(4 * kRow, 32, false, 0) == ck(100 + 65));
  CHECK(w.access(5 * kRow, 32, false, 0) == ck(116 + 65));
  // The same reads in one bank: a row cycle (tRAS + tRP) each instead of tRRD.
  DramTiming one{quiet()};
  std::uint64_t end = 0;
  for (std::uint64_t row = 0; row < 4; ++row) end = one.access(row * kSameBank, 32, false, 0);
  CHECK(end == ck(3 * 97 + 65));
}

TEST_CASE("refresh closes every row and holds the banks for tRFC") {
  DramTiming d{DramConfig{}};
  d.access(0, 32, false, 0);
  d.access(kRow, 32, false, 0);
  const std::uint64_t due = ck(6246);
  // At the due time the banks are long idle but open: precharge is over (activate + tRAS + tRP),
  // refresh starts.
  CHECK(d.access(0, 32, false, due) == due + ck(448 + 65));
  CHECK(d.refreshes == 1);
  CHECK(d.conflicts == 0);
  CHECK(d.misses == 3);
  // Nothing but the closed rows is left of a refresh that ended long ago; five came due.
  CHECK(d.access(kRow, 32, false, 6 * due - ck(10)) == 6 * due - ck(10) + ck(65));
  CHECK(d.refreshes == 5);
  // A bank that is still open by its timing delays the refresh of all of them.
  DramTiming busy{DramConfig{}};
  busy.access(
      0, 32, false,
      due - ck(10));  // activate at -10, may be precharged at +58, so the refresh begins at +87
  CHECK(busy.access(kRow, 32, false, due) == due + ck(87 + 448 + 65));
  DramTiming never{quiet()};
  never.access(0, 32, false, 100 * due);
  CHECK(never.refreshes == 0);
}

TEST_CASE("the fixed model is latency, then whole bursts at the rate") {
  DramConfig c;
  c.model = "fixed";
  c.fixed_latency_ns = 100;
  c.fixed_mb_per_s = 1000;  // 1 byte a ns
  c.fixed_burst_bytes = 128;
  DramTiming d{c};
  CHECK(d.access(0, 128, false, 0) == 228'000);
  CHECK(d.first_data_ps() == 100'000);
  CHECK(d.access(0, 1, false, kIdle) == kIdle + 228'000);            // rounded up to a burst
  CHECK(d.access(127, 2, false, 2 * kIdle) == 2 * kIdle + 356'000);  // touches two
  CHECK(d.access(256, 128, true, 2 * kIdle) ==
        2 * kIdle + 484'000);                       // queued behind it: no second latency
  CHECK(d.accepts_at_ps() == 2 * kIdle + 384'000);  // then data follow without a gap
  CHECK(d.activates + d.hits + d.misses + d.conflicts + d.refreshes == 0);
}

TEST_CASE("requests that arrive when they are accepted stream without a gap within a row") {
  DramTiming d{quiet()};
  std::uint64_t end = d.access(0, 256, false, kIdle);
  for (std::uint64_t at = 256; at < kRow; at += 256) {
    const std::uint64_t next = d.access(at, 256, false, d.accepts_at_ps());
    CHECK(next == end + ck(8 * 8));
    end = next;
  }
}

namespace {

// Share of the peak (32 bytes in 8 tCK) that `n` requests reach, `window` of them in flight: a
// request arrives when the one `window` places before it has completed.
double efficiency(
    std::uint32_t bytes, std::size_t window, int n, const std::function<std::uint64_t(int)>& offset,
    const std::function<bool(int)>& writes = [](int) { return false; }) {
  DramTiming d{DramConfig{}};
  std::deque<std::uint64_t> flying;
  std::uint64_t arrival = 0, end = 0;
  for (int i = 0; i < n; ++i) {
    if (flying.size() == window) {
      arrival = std::max(arrival, flying.front());
      flying.pop_front();
    }
    end = std::max(end, d.access(offset(i), bytes, writes(i), arrival));
    flying.push_back(end);
  }
  return static_cast<double>(bytes) * n / 32 * static_cast<double>(ck(8)) /
         static_cast<double>(end);
}

}  // namespace

TEST_CASE("streaming and random efficiency") {
  const double stream = efficiency(
      512, 8, 20'000, [](int i) { return std::uint64_t{512} * static_cast<std::uint64_t>(i); });
  // a[i] = b[i] + c[i]: two reads to a write, in three places.
  const double mixed = efficiency(
      512, 8, 20'000,
      [](int i) {
        return std::uint64_t{512} * static_cast<std::uint64_t>(i / 3) +
               static_cast<std::uint64_t>(i % 3) * ((16u << 20) + 2 * kRow);
      },
      [](int i) { return i % 3 == 2; });
  std::uint64_t state = 1;
  const auto random = [&](int) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 20) % (64u << 20) / 32 * 32;
  };
  const double random32 = efficiency(32, 32, 20'000, random),
               random4 = efficiency(32, 4, 20'000, random),
               random1 = efficiency(32, 1, 20'000, random);
  fmt::print(
      "dram: stream {:.1f} % of peak, {:.1f} % with two reads to a write; random 32 B: {:.1f} % "
      "with 32 in flight, {:.1f} % with 4, {:.1f} % with 1\n",
      stream * 100, mixed * 100, random32 * 100, random4 * 100, random1 * 100);
  CHECK(stream > 0.82);
  CHECK(stream < 0.93 + 1e-9);  // refresh alone takes 448 / 6246 = 7.2 %
  CHECK(mixed > 0.82);          // the band that DRAMsim3 and boards give
  CHECK(mixed < 0.90);
  CHECK(random32 > random4);
  CHECK(random4 > random1);
  // One at a time every read is a conflict: 94 tCK for 8 tCK of data, less the refreshes and the
  // closed banks.
  CHECK(random1 == Approx(8.0 / 94).epsilon(0.1));
}

}  // namespace deputy::soc_test

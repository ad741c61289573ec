// What a run records of itself, by hand: slices, changes and traffic.
#include "sim/trace.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace deputy::sim;

TEST_CASE("slices of a track do not overlap, and what goes on is one slice") {
  Trace trace;
  const int track = trace.track("unit");
  CHECK(trace.track("unit") == track);
  trace.slice(track, {10, 20, 10, "A"});
  trace.slice(track, {15, 30, 15, "B"});
  trace.slice(track, {16, 18, 16, "D"});
  trace.extend(track, {30, 35, 30, "C", -1, 0, 4});
  trace.extend(track, {35, 40, 35, "C", -1, 0, 6});
  trace.extend(track, {41, 42, 41, "C"});
  const auto& s = trace.tracks()[0].slices;
  REQUIRE(s.size() == 5);
  CHECK(s[1].from_ps == 20);
  CHECK(s[1].issued_ps == 15);
  CHECK((s[2].from_ps == 30 && s[2].to_ps == 30));
  CHECK((s[3].from_ps == 30 && s[3].to_ps == 40 && s[3].bytes == 10));
  CHECK(s[4].from_ps == 41);
}

TEST_CASE("a signal keeps its changes only, and the last of one moment") {
  Trace trace;
  const int line = trace.signal("line", SignalKind::kLine),
            bell = trace.signal("bell", SignalKind::kPulse);
  trace.change(line, 5, 0);
  trace.change(line, 6, 1);
  trace.change(line, 7, 1);
  trace.change(line, 8, 0);
  trace.change(line, 8, 1);
  trace.change(line, 9, 2);
  trace.change(line, 9, 3);
  trace.pulse(bell, 1), trace.pulse(bell, 4);
  using Changes = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  CHECK(trace.signals()[0].changes == Changes{{6, 1}, {9, 3}});
  CHECK(trace.signals()[1].changes == Changes{{1, 1}, {4, 2}});
}

TEST_CASE("traffic keeps every byte when its intervals double") {
  TraceTraffic traffic("dram");
  std::uint64_t sum = 0, at = 0;
  for (std::uint64_t i = 1; i <= 3000; ++i, at += 7'000) traffic.add(at, i, i % 3 == 0), sum += i;
  CHECK(traffic.interval_ps == 8000);  // 21 ms in ns steps of 8 are fewer than 4096
  CHECK(traffic.bytes[0].size() <= TraceTraffic::kMost);
  const auto all = [](const std::vector<std::uint64_t>& bins) {
    return std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
  };
  CHECK(all(traffic.bytes[0]) + all(traffic.bytes[1]) == sum);
  CHECK(traffic.bytes[0][0] == 1 + 2);  // at 0 and 7 ns
}

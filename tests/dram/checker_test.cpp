// The controller's traces against the standard's rules, over random traffic, policies and devices;
// and the checker itself against traces that break one rule by one clock.
#include <fmt/format.h>

#include <algorithm>

#include "soc/dram/measure.h"
#include "tests/dram/trace_checker.h"
#include "tests/dram/traffic.h"

namespace deputy::dram_test {
namespace {

template <class T>
T pick(std::mt19937_64& random, std::initializer_list<T> of) {
  return of.begin()[random() % of.size()];
}

ControllerConfig random_config(std::mt19937_64& random, const Spec& spec) {
  ControllerConfig c;
  c.mapping =
      pick<const char*>(random, {"row_bank_column_group", "row_bank_column", "row_column_bank",
                                 "bank_row_column", "row_xor_bank_column"});
  c.page_policy = pick<const char*>(random, {"open", "closed", "timeout"});
  c.page_timeout = pick(random, {1, 50, 400});
  c.refresh = spec.trefi_pb > 0 && random() % 2 ? "per_bank" : "all_bank";
  c.postpone = static_cast<std::int32_t>(random() % 8);
  c.window = pick(random, {1, 8, 64, 200});
  c.overtakes = pick(random, {0, 4, 64});
  c.power_down = pick<std::int64_t>(random, {0, 1, 40, 1000});
  c.self_refresh = pick<std::int64_t>(random, {0, 0, 30, 5000});
  return c;
}

// Phases of streaming and random accesses, reads and writes, busy and idle.
std::function<Ask(int)> random_traffic(std::mt19937_64& random) {
  struct State {
    std::uint64_t at = 0, stride = 0, region = kBytes, gap = 0;
    std::uint32_t bytes = 32, writes = 0;
  };
  return [&random, s = State()](int i) mutable {
    if (i % 64 == 0) {
      s.stride = random() % 3 ? random() % 5000 : 0;
      s.region = std::uint64_t{1} << (12 + random() % 14);
      s.bytes = pick<std::uint32_t>(random, {1, 32, 64, 128, 512, 4096});
      s.writes = pick<std::uint32_t>(random, {0, 10, 50, 100});
      s.gap = pick<std::uint64_t>(random, {0, 0, 1000, 50'000, 4'000'000});
      s.at = random() % kBytes;
    }
    s.at = s.stride ? s.at + s.stride : random();
    return Ask{std::min(s.at % s.region, kBytes - s.bytes), s.bytes, random() % 100 < s.writes,
               s.gap ? random() % s.gap : 0};
  };
}

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

struct Run {
  std::vector<TraceEntry> trace;
  Counters counters;
  std::uint64_t end = 0, bursts = 0;
};
Run random_run(std::uint64_t seed, const Spec& spec, const ControllerConfig& config, int requests) {
  std::mt19937_64 random(seed);
  Run out;
  Controller c(spec, config, kBytes);
  c.record(&out.trace);
  const auto burst = static_cast<std::uint64_t>(spec.burst_bytes());
  const auto traffic = random_traffic(random);
  out.end = drive(c, requests, 1 + random() % 40, [&](int i) {
    const Ask ask = traffic(i);
    out.bursts += (ask.offset + ask.bytes - 1) / burst - ask.offset / burst + 1;
    return ask;
  });
  c.close(out.end);
  out.counters = c.counters();
  return out;
}

}  // namespace

TEST_CASE("checker: random traffic breaks no rule of any device, under any policy") {
  std::uint64_t commands = 0;
  std::array<std::uint64_t, 11> seen{};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed * 7919);
    Spec spec = device(kDevices[seed % kDevices.size()]);
    spec.ranks = seed % 4 == 3 ? 2 : 1;
    const ControllerConfig config = random_config(random, spec);
    const Run run = random_run(seed, spec, config, 400);
    INFO(fmt::format(
        "seed {}, {}, {} {} {} window {} overtakes {} postpone {} power-down {} self-refresh {}",
        seed, spec.name, config.mapping, config.page_policy, config.refresh, config.window,
        config.overtakes, config.postpone, config.power_down, config.self_refresh));
    const auto findings = check_trace(spec, run.trace, config.refresh, run.counters.end);
    INFO(join(findings));
    REQUIRE(findings.empty());
    // What was asked for is what was transferred, and the books of the counters hold.
    const Counters& k = run.counters;
    CHECK(k.reads + k.writes == run.bursts);
    CHECK(k.hits + k.misses + k.conflicts == run.bursts);
    CHECK(k.activates >= k.misses + k.conflicts);
    Ck states = 0;
    for (const Ck each : k.state) states += each;
    CHECK(states == k.end * spec.ranks);
    commands += run.trace.size();
    for (const TraceEntry& e : run.trace) ++seen[static_cast<std::size_t>(e.command)];
  }
  for (const auto count : seen) CHECK(count > 100);  // every command was exercised
  fmt::print("dram checker: {} commands\n", commands);
}

namespace {

using C = Command;

struct Limit {
  const char* rule;
  const char* device;
  std::vector<TraceEntry> trace;         ///< legal; its last command as early as the rule allows
  void (*change)(Spec&) = [](Spec&) {};  ///< where the device's rows make another rule as strict
};

// Distances worked out by hand from the rows of configs/dram.
const std::vector<Limit> kLimits = {
    {"command bus", "lpddr4-3200", {{0, C::kPrechargeAll, 0}, {4, C::kPrecharge, 0, 1}}},
    {"tRCD", "lpddr4-3200", {{0, C::kActivate, 0, 0, 7}, {29, C::kRead, 0, 0, 7}}},
    {"tRAS", "lpddr4-3200", {{0, C::kActivate, 0, 0, 7}, {68, C::kPrecharge, 0, 0}}},
    {"tRAS", "lpddr4-3200", {{0, C::kActivate, 0, 3, 7}, {68, C::kPrechargeAll, 0}}},
    {"tRP:",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {80, C::kPrecharge, 0, 0}, {109, C::kActivate, 0, 0, 8}}},
    {"tRC:",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {68, C::kPrecharge, 0, 0}, {102, C::kActivate, 0, 0, 8}},
     [](Spec& s) { s.trc = 102; }},
    {"tRPab",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {80, C::kPrechargeAll, 0}, {114, C::kActivate, 0, 5, 8}}},
    {"tRRD_S", "ddr4-2400", {{0, C::kActivate, 0, 0, 7}, {4, C::kActivate, 0, 1, 7}}},
    {"tRRD_L", "ddr4-2400", {{0, C::kActivate, 0, 0, 7}, {6, C::kActivate, 0, 4, 7}}},
    {"tFAW",
     "ddr4-2400",
     {{0, C::kActivate, 0, 0, 7},
      {4, C::kActivate, 0, 1, 7},
      {8, C::kActivate, 0, 2, 7},
      {12, C::kActivate, 0, 3, 7},
      {26, C::kActivate, 0, 4, 7}}},
    {"tCCD_S",
     "ddr4-2400",
     {{0, C::kActivate, 0, 0, 7},
      {4, C::kActivate, 0, 1, 7},
      {30, C::kRead, 0, 0, 7},
      {35, C::kRead, 0, 1, 7}},
     [](Spec& s) { s.tccd_s = 5; }},
    {"data bus",
     "ddr4-2400",
     {{0, C::kActivate, 0, 0, 7},
      {4, C::kActivate, 0, 1, 7},
      {30, C::kRead, 0, 0, 7},
      {34, C::kRead, 0, 1, 7}}},
    {"tCCD_L",
     "ddr4-2400",
     {{0, C::kActivate, 0, 0, 7}, {30, C::kWrite, 0, 0, 7}, {36, C::kWrite, 0, 0, 7}}},
    {"tWTR_S",
     "ddr4-2400",
     {{0, C::kActivate, 0, 0, 7},
      {4, C::kActivate, 0, 1, 7},
      {30, C::kWrite, 0, 0, 7},
      {30 + 12 + 4 + 3, C::kRead, 0, 1, 7}}},
    {"tWTR_L",
     "ddr4-2400",
     {{0, C::kActivate, 0, 0, 7}, {30, C::kWrite, 0, 0, 7}, {30 + 12 + 4 + 9, C::kRead, 0, 0, 7}}},
    {"read to write",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7},
      {30, C::kRead, 0, 0, 7},
      {30 + 28 + 8 + 8 - 14, C::kWrite, 0, 0, 7}}},
    {"tRTP",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {90, C::kRead, 0, 0, 7}, {102, C::kPrecharge, 0, 0}}},
    {"tWR",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7},
      {90, C::kWrite, 0, 0, 7},
      {90 + 14 + 8 + 29, C::kPrecharge, 0, 0}}},
    {"tPPD",
     "lpddr5-6400",
     {{0, C::kActivate, 0, 0, 7},
      {4, C::kActivate, 0, 1, 7},
      {60, C::kPrecharge, 0, 0},
      {62, C::kPrecharge, 0, 1}}},
    {"tRFCab", "lpddr4-3200", {{0, C::kRefreshAll, 0}, {448, C::kActivate, 0, 0, 7}}},
    {"tRFCab", "lpddr4-3200", {{0, C::kRefreshAll, 0}, {448, C::kRefreshAll, 0}}},
    {"tRPab",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {80, C::kPrechargeAll, 0}, {114, C::kRefreshAll, 0}}},
    {"tRFCpb", "lpddr4-3200", {{0, C::kRefreshBank, 0, 2}, {224, C::kActivate, 0, 2, 7}}},
    {"tRFCpb", "lpddr4-3200", {{0, C::kRefreshBank, 0, 2}, {224, C::kRefreshBank, 0, 3}}},
    {"tRRD", "lpddr4-3200", {{0, C::kRefreshBank, 0, 2}, {16, C::kActivate, 0, 3, 7}}},
    {"data before sleep",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {30, C::kRead, 0, 0, 7}, {66, C::kPowerDown, 0}}},
    {"write recovery before sleep",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {30, C::kWrite, 0, 0, 7}, {81, C::kPowerDown, 0}}},
    {"tCKE", "lpddr4-3200", {{0, C::kPowerDown, 0}, {12, C::kPowerDownExit, 0}}},
    {"tXP",
     "lpddr4-3200",
     {{0, C::kPowerDown, 0}, {20, C::kPowerDownExit, 0}, {32, C::kActivate, 0, 0, 7}}},
    {"tSR", "lpddr4-3200", {{0, C::kSelfRefresh, 0}, {24, C::kSelfRefreshExit, 0}}},
    {"tXSR",
     "lpddr4-3200",
     {{0, C::kSelfRefresh, 0}, {30, C::kSelfRefreshExit, 0}, {490, C::kActivate, 0, 0, 7}}},
    {"tRP:",
     "lpddr4-3200",
     {{0, C::kActivate, 0, 0, 7}, {80, C::kPrecharge, 0, 0}, {109, C::kSelfRefresh, 0}}},
    {"tRTRS",
     "ddr4-2400",
     {{0, C::kActivate, 0, 0, 7},
      {1, C::kActivate, 1, 0, 7},
      {30, C::kRead, 0, 0, 7},
      {36, C::kRead, 1, 0, 7}}},
};

bool names(const std::vector<std::string>& findings, const std::string& rule) {
  for (const auto& finding : findings)
    if (finding.find(rule) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("checker: a command one clock too early is found, at the clock it is not") {
  for (const Limit& limit : kLimits) {
    Spec spec = device(limit.device);
    spec.ranks = 2;
    limit.change(spec);
    INFO(limit.rule << " of " << limit.device);
    CHECK(join(check_trace(spec, limit.trace, "none", 0)) == "");
    auto early = limit.trace;
    --early.back().at;
    CHECK(names(check_trace(spec, early, "none", 0), limit.rule));
  }
}

TEST_CASE("checker: traces with a command taken out, doubled or sent elsewhere are found") {
  const Spec spec = device("lpddr4-3200");
  ControllerConfig config;
  config.power_down = 100;
  const Run run = random_run(5, spec, config, 300);
  REQUIRE(check_trace(spec, run.trace, "all_bank", run.counters.end).empty());
  std::mt19937_64 random(1);
  constexpr int kTimes = 5;
  const auto broken = [&](C command, const auto& change) {
    const bool there = std::any_of(run.trace.begin(), run.trace.end(),
                                   [&](const TraceEntry& e) { return e.command == command; });
    REQUIRE(there);
    int found = 0;
    for (int n = 0; n < kTimes; ++n) {
      auto trace = run.trace;
      std::size_t at = random() % trace.size();
      while (trace[at].command != command) at = (at + 1) % trace.size();
      change(trace, at);
      found += !check_trace(spec, trace, "all_bank", run.counters.end).empty();
    }
    return found;
  };
  const auto remove = [](std::vector<TraceEntry>& t, std::size_t at) {
    t.erase(t.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto twice = [](std::vector<TraceEntry>& t, std::size_t at) {
    t.insert(t.begin() + static_cast<std::ptrdiff_t>(at), t[at]);
  };
  const auto other_row = [](std::vector<TraceEntry>& t, std::size_t at) { ++t[at].row; };
  const auto other_bank = [](std::vector<TraceEntry>& t, std::size_t at) {
    t[at].bank = (t[at].bank + 1) % 8;
  };
  CHECK(broken(C::kActivate, remove) == kTimes);
  CHECK(broken(C::kActivate, twice) == kTimes);
  CHECK(broken(C::kActivate, other_row) == kTimes);
  CHECK(broken(C::kActivate, other_bank) == kTimes);
  CHECK(broken(C::kRead, other_row) == kTimes);
  CHECK(broken(C::kRead, twice) == kTimes);
  CHECK(broken(C::kPrecharge, remove) == kTimes);
  CHECK(broken(C::kPowerDown, remove) == kTimes);
  CHECK(broken(C::kPowerDownExit, remove) == kTimes);
  // Refreshes: one may be missing, nine in a row not.
  auto trace = run.trace;
  std::erase_if(trace, [](const TraceEntry& e) { return e.command == C::kRefreshAll; });
  CHECK(names(check_trace(spec, trace, "all_bank", run.counters.end), "owes"));
}

TEST_CASE(
    "checker: when a decision is asked for changes no decision; the same requests give the same "
    "commands") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    const Spec spec = device(kDevices[seed % 3]);
    const ControllerConfig config = random_config(random, spec);
    std::vector<TraceEntry> traces[2];
    for (int eager = 0; eager < 2; ++eager) {
      Controller c(spec, config, kBytes);
      c.record(&traces[eager]);
      std::mt19937_64 order(seed);
      auto traffic = random_traffic(order);
      std::uint64_t now = 0;
      std::vector<Controller::Ticket> tickets;
      for (int i = 0; i < 300; ++i) {
        const Ask ask = traffic(i);
        now += ask.gap_ps + 20'000;
        if (eager) c.advance(now - 10'000), c.advance(now);
        tickets.push_back(c.submit(ask.offset, ask.bytes, ask.write, now));
      }
      for (const auto ticket : tickets) c.finish(ticket);
      c.close(now + 1'000'000'000);
    }
    REQUIRE(traces[0].size() == traces[1].size());
    bool equal = true;
    for (std::size_t i = 0; i < traces[0].size(); ++i)
      equal = equal && traces[0][i].at == traces[1][i].at &&
              traces[0][i].command == traces[1][i].command &&
              traces[0][i].bank == traces[1][i].bank && traces[0][i].row == traces[1][i].row;
    CHECK(equal);
  }
}

TEST_CASE("checker: no request takes longer than the bound") {
  std::uint64_t longest_share = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed * 31);
    const Spec spec = device(kDevices[seed % 3]);
    const ControllerConfig config = random_config(random, spec);
    Controller c(spec, config, kBytes);
    auto traffic = random_traffic(random);
    std::uint64_t now = 0, longest = 0;
    std::deque<std::pair<Controller::Ticket, std::uint64_t>> flying;
    const std::uint64_t bound =
        longest_ps(spec, config,
                   static_cast<std::uint64_t>(config.window + config.overtakes) +
                       4096 / static_cast<std::uint64_t>(spec.burst_bytes()) + 2);
    const auto land = [&] {
      const auto served = c.finish(flying.front().first);
      longest = std::max(longest, served.end_ps - flying.front().second);
      flying.pop_front();
      return served.end_ps;
    };
    for (int i = 0; i < 400; ++i) {
      const Ask ask = traffic(i);
      now = std::max(now + ask.gap_ps, c.accepts_at_ps());
      if (flying.size() >= 30) now = std::max(now, land());
      c.advance(now);
      flying.push_back({c.submit(ask.offset, ask.bytes, ask.write, now), now});
    }
    while (!flying.empty()) land();
    INFO("seed " << seed);
    CHECK(longest <= bound);
    longest_share = std::max(longest_share, 100 * longest / bound);
  }
  fmt::print("dram bound: the longest request took {} % of it\n", longest_share);
}

}  // namespace deputy::dram_test

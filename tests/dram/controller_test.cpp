// Latencies, order, policies and sleep against times worked out by hand from LPDDR4-3200's rows
// (configs/dram): tCK 0.625 ns, RL 28, WL 14, tRCD 29, tRP 29, tRPab 34, tRAS 68, tRRD 16, tFAW 64,
// tCCD 8, tWR 29, tWTR 16, tRTP 12, tREFI 6246, tRFC 448, tREFIpb 780, tRFCpb 224, tXP 12, tCKE 12,
// tXSR 460; a burst 8 tCK of 32 bytes, 8 banks, rows of 2048 bytes.
#include <map>

#include "tests/dram/traffic.h"

namespace deputy::dram_test {
namespace {

constexpr std::uint64_t kTck = 625, kRow = 2048, kSameBank = 8 * kRow;
constexpr std::uint64_t ck(std::uint64_t n) { return n * kTck; }

ControllerConfig quiet() {
  ControllerConfig c;
  c.refresh = "none";
  return c;
}

struct Bench {
  explicit Bench(const ControllerConfig& config) : c(device("lpddr4-3200"), config, kBytes) {
    c.record(&trace);
  }
  std::uint64_t read(std::uint64_t offset, std::uint64_t at_ck, std::uint32_t bytes = 32) {
    return c.finish(c.submit(offset, bytes, false, ck(at_ck))).end_ps / kTck;
  }
  std::uint64_t write(std::uint64_t offset, std::uint64_t at_ck) {
    return c.finish(c.submit(offset, 32, true, ck(at_ck))).end_ps / kTck;
  }
  int count(Command command) const {
    int n = 0;
    for (const auto& e : trace) n += e.command == command;
    return n;
  }
  Controller c;
  std::vector<TraceEntry> trace;
};

}  // namespace

TEST_CASE("controller: a closed bank, a hit, a conflict, a chunk") {
  Bench b(quiet());
  CHECK(b.read(0, 0) == 29 + 28 + 8);
  CHECK(b.read(64, 1000) == 1000 + 28 + 8);
  CHECK(b.read(kSameBank, 2000) == 2000 + 29 + 29 + 28 + 8);
  CHECK(b.read(kSameBank, 3000, 512) == 3000 + 28 + 16 * 8);
  const auto served = b.c.finish(b.c.submit(kSameBank + 31, 2, false, ck(4000)));
  CHECK(served.first_data_ps == ck(4028));  // two bursts
  CHECK(served.end_ps == ck(4044));
  const Counters& k = b.c.counters();
  CHECK(k.misses == 1);
  CHECK(k.conflicts == 1);
  CHECK(k.hits == 1 + 16 + 2);
}

TEST_CASE("controller: a row hit goes before an older conflict, and no more often than it may") {
  const auto ends = [](std::int32_t overtakes) {
    ControllerConfig config = quiet();
    config.overtakes = overtakes;
    Bench b(config);
    b.read(0, 0);
    std::vector<Controller::Ticket> tickets;
    tickets.push_back(b.c.submit(kSameBank, 32, false, ck(1000)));  // conflict
    for (int i = 1; i <= 4; ++i)
      tickets.push_back(
          b.c.submit(static_cast<std::uint64_t>(32 * i), 32, false, ck(1000)));  // hits
    std::vector<std::uint64_t> out;
    for (const auto t : tickets) out.push_back(b.c.finish(t).end_ps / kTck - 1000);
    return out;
  };
  // The last read at 24 lets the row be closed at 36 (tRTP); then tRP and tRCD.
  CHECK(ends(64) == std::vector<std::uint64_t>{36 + 29 + 29 + 36, 36, 44, 52, 60});
  // Two may go first: closed at 8 + 12, and the other two are conflicts in turn, once tRAS is over.
  const auto two = ends(2);
  CHECK(two[0] == 20 + 29 + 29 + 36);
  CHECK(two[1] == 36);
  CHECK(two[2] == 44);
  CHECK(two[3] == 49 + 68 + 29 + 29 + 36);
  // None: in order.
  CHECK(ends(0)[0] == 29 + 29 + 36);
}

TEST_CASE("controller: reads and writes turn the bus around, and banks interleave") {
  Bench b(quiet());
  b.read(0, 0);
  CHECK(b.write(0, 1000) == 1000 + 14 + 8);
  CHECK(b.read(0, 1000) == 1022 + 16 + 28 + 8);  // tWTR after the data
  CHECK(b.write(0, 1001) == 1074 + 8 + 8);       // read data, the gap, write data
  CHECK(b.c.counters().turnarounds == 3);
  Bench banks(quiet());
  std::vector<Controller::Ticket> tickets;
  for (std::uint64_t bank = 0; bank < 6; ++bank)
    tickets.push_back(banks.c.submit(bank * kRow, 32, false, 0));
  // tRRD apart, but where a read is on the command bus (29 to 33, 62 to 66), an activate comes when
  // it is over.
  constexpr std::uint64_t kEnds[] = {65, 81, 33 + 65, 49 + 65, 66 + 65, 82 + 65};
  for (std::uint64_t bank = 0; bank < 6; ++bank)
    CHECK(banks.c.finish(tickets[bank]).end_ps == ck(kEnds[bank]));
}

TEST_CASE("controller: refresh waits for work, and work for a refresh that can wait no longer") {
  ControllerConfig config;
  config.postpone = 2;
  Bench b(config);
  // Idle when it is due: at once, and what comes in the middle waits for its end.
  CHECK(b.read(0, 6246 + 100) == 6246 + 448 + 65);
  CHECK(b.count(Command::kRefreshAll) == 1);
  // Busy: put off twice, done before the third interval is over.
  std::uint64_t now = 7000, worst = 0;
  while (now < 6246 * 6) {
    const auto t1 = b.c.submit(0, 512, false, ck(now)), t2 = b.c.submit(512, 512, false, ck(now));
    b.c.finish(t1);
    const std::uint64_t end = b.c.finish(t2).end_ps / kTck;
    worst = std::max(worst, end - now);
    now = end - 28 - 100;
  }
  std::vector<Ck> at;
  for (const auto& e : b.trace)
    if (e.command == Command::kRefreshAll) at.push_back(e.at);
  REQUIRE(at.size() >= 3);
  CHECK(at[1] >= 6246 * 4);  // due at 2 * 6246
  CHECK(at[1] < 6246 * 4 + 300);
  CHECK(worst > 448);
}

TEST_CASE("controller: per-bank refresh leaves the other banks to work") {
  ControllerConfig config;
  config.refresh = "per_bank";
  Bench b(config);
  b.read(0, 0);
  // Bank 1 is refreshed at 780 or later while bank 0, in use, gives its hits; after all of a round
  // each bank once.
  std::uint64_t now = 700;
  while (now < 780 * 20) now = b.read(now % 2048 / 32 * 32, now) + 20;
  CHECK(b.count(Command::kRefreshBank) >= 18);
  CHECK(b.count(Command::kRefreshAll) == 0);
  std::array<int, 8> each{};
  for (const auto& e : b.trace)
    if (e.command == Command::kRefreshBank) ++each[static_cast<std::size_t>(e.bank)];
  for (const int n : each) CHECK((n == 2 || n == 3));
}

TEST_CASE("controller: page policies") {
  for (const char* policy : {"open", "closed", "timeout"}) {
    ControllerConfig config = quiet();
    config.page_policy = policy;
    config.page_timeout = 200;
    INFO(policy);
    Bench b(config);
    b.read(0, 0);
    const std::uint64_t soon = b.read(0, 150) - 150, late = b.read(0, 1000) - 1000;
    CHECK(soon == (std::string(policy) == "closed" ? 65 : 36));
    CHECK(late == (std::string(policy) == "open" ? 36 : 65));
  }
}

TEST_CASE("controller: power-down and self-refresh cost their exits and save standby") {
  ControllerConfig config;
  config.power_down = 100;
  config.self_refresh = 50'000;
  Bench b(config);
  b.read(0, 0);                              // ends at 65: down at 165
  CHECK(b.read(0, 1000) == 1000 + 12 + 36);  // tXP, the row still open
  CHECK(b.c.counters().power_downs == 1);
  const std::uint64_t sleep = 1'000'000;
  CHECK(b.read(0, sleep) == sleep + 460 + 65);  // tXSR; the refresh that is owed waits for the work
  CHECK(b.c.counters().self_refreshes == 1);
  b.c.close(ck(sleep + 1200));
  const Counters& k = b.c.counters();
  // Down with the row open from 165 to 1000, and from 1148 to when five refreshes are owed, which
  // close it.
  CHECK(k.state[static_cast<std::size_t>(Power::kActiveDown)] == (1000 - 165) + (5 * 6246 - 1148));
  // Idle since 1048: awake at 51048 to go to sleep, after tXP and the three refreshes that have
  // come due since.
  CHECK(k.state[static_cast<std::size_t>(Power::kSelfRefresh)] ==
        1'000'000 - (51'048 + 12 + 3 * 448));
}

TEST_CASE("controller: mappings spread consecutive rows and bursts as their names say") {
  const Spec spec = device("ddr4-2400");
  const auto bank = [&](const char* mapping, std::uint64_t burst) {
    return AddressMap(spec, mapping, kBytes).place(burst).bank;
  };
  CHECK(bank("row_bank_column_group", 1) != bank("row_bank_column_group", 0));  // the next group
  CHECK(bank("row_bank_column_group", 4) == bank("row_bank_column_group", 0));
  CHECK(bank("row_bank_column", 127) == bank("row_bank_column", 0));  // 8 KiB of one row
  CHECK(bank("row_bank_column", 128) != bank("row_bank_column", 0));
  CHECK(bank("bank_row_column", 1000) == bank("bank_row_column", 0));
  for (std::uint64_t i = 1; i < 16; ++i)
    CHECK(bank("row_column_bank", i) != bank("row_column_bank", 0));
  // No two bursts of a bank and row have the same index by any scheme: a row holds as many bursts
  // as it has room for.
  for (const char* mapping : {"row_bank_column_group", "row_bank_column", "row_column_bank",
                              "bank_row_column", "row_xor_bank_column"}) {
    std::map<std::pair<std::int32_t, std::int64_t>, int> places;
    const AddressMap map(spec, mapping, kBytes);
    for (std::uint64_t i = 0; i < 65536; ++i) {
      const Place p = map.place(i * 16);
      ++places[{p.bank, p.row}];
    }
    INFO(mapping);
    for (const auto& [place, n] : places) CHECK(n <= 128);
    CHECK(places.size() >= 65536 / 128);
  }
}

}  // namespace deputy::dram_test

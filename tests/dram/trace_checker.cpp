#include "tests/dram/trace_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace deputy::dram_test {
namespace {

using soc::dram::Ck;
using soc::dram::Command;
using soc::dram::Spec;
using soc::dram::TraceEntry;

const char* name(Command c) {
  constexpr const char* kNames[] = {"ACT",   "PRE", "PREA", "RD",  "WR", "REF",
                                    "REFpb", "PDE", "PDX",  "SRE", "SRX"};
  return kNames[static_cast<int>(c)];
}

class Checker {
 public:
  Checker(const Spec& spec, const std::vector<TraceEntry>& trace) : s_(spec), trace_(trace) {
    reach_ = std::max({s_.trfc, s_.trfc_pb, s_.txsr, s_.trc, s_.tfaw, s_.wl + s_.burst_ck + s_.twr,
                       s_.rl + s_.burst_ck + s_.trtw_gap, s_.tras, s_.tcke, s_.tsr, s_.txp,
                       s_.wl + s_.burst_ck + s_.twtr_l});
  }

  void all(const std::string& refresh, Ck end, std::vector<std::string>& out, std::size_t most) {
    rows_.assign(static_cast<std::size_t>(s_.ranks * s_.banks), -1);
    asleep_.assign(static_cast<std::size_t>(s_.ranks), 0);
    for (std::size_t i = 0; i < trace_.size() && out.size() < most; ++i) {
      distances(i, out);
      four_activates(i, out);
      states(i, out);
    }
    for (int rank = 0; rank < s_.ranks && out.size() < most; ++rank)
      refreshes(rank, refresh, end, out);
  }

 private:
  static bool is_column(Command c) { return c == Command::kRead || c == Command::kWrite; }
  static bool is_row(Command c) { return c == Command::kActivate || c == Command::kRefreshBank; }
  static bool is_precharge(Command c) {
    return c == Command::kPrecharge || c == Command::kPrechargeAll;
  }

  void report(std::size_t i, const std::string& rule, std::vector<std::string>& out) const {
    const TraceEntry& e = trace_[i];
    out.push_back(fmt::format("{}: {} {}/{}: {}", e.at, name(e.command), e.rank, e.bank, rule));
  }

  // Tells `add` each least distance from a to b, and why. What is not named has none but the
  // command bus.
  template <class Add>
  void rules(const TraceEntry& a, const TraceEntry& b, const Add& add) const {
    add(s_.command_ck, "command bus");
    const Ck read_end = s_.rl + s_.burst_ck, write_end = s_.wl + s_.burst_ck;
    if (is_column(a.command) && is_column(b.command)) {  // the data bus, whichever rank
      const Ck a_end = a.command == Command::kRead ? read_end : write_end,
               b_start = b.command == Command::kRead ? s_.rl : s_.wl;
      add(a_end - b_start, "data bus");
      if (a.command == Command::kRead && b.command == Command::kWrite)
        add(a_end - b_start + s_.trtw_gap, "read to write");
      if (a.rank != b.rank) add(a_end - b_start + s_.trtrs, "tRTRS");
    }
    if (a.rank != b.rank) return;
    const bool same_bank = a.bank == b.bank;
    const bool same_group =
        a.bank >= 0 && b.bank >= 0 && a.bank % s_.bank_groups == b.bank % s_.bank_groups;
    const bool touches =
        same_bank || a.bank < 0 || b.bank < 0;  // a command of the rank is one of each bank
    if (is_column(a.command) && a.command == b.command)
      add(same_group ? s_.tccd_l : s_.tccd_s, same_group ? "tCCD_L" : "tCCD_S");
    if (a.command == Command::kWrite && b.command == Command::kRead)
      add(write_end + (same_group ? s_.twtr_l : s_.twtr_s), same_group ? "tWTR_L" : "tWTR_S");
    if (is_row(a.command) && is_row(b.command))
      add(same_group ? s_.trrd_l : s_.trrd_s, same_group ? "tRRD_L" : "tRRD_S");
    if (is_precharge(a.command) && is_precharge(b.command)) add(s_.tppd, "tPPD");
    if (touches) {
      if (a.command == Command::kActivate) {
        if (is_row(b.command) || b.command == Command::kRefreshAll) add(s_.trc, "tRC");
        if (is_column(b.command)) add(s_.trcd, "tRCD");
        if (is_precharge(b.command)) add(s_.tras, "tRAS");
      }
      if (a.command == Command::kRead && is_precharge(b.command)) add(s_.trtp, "tRTP");
      if (a.command == Command::kWrite && is_precharge(b.command)) add(write_end + s_.twr, "tWR");
      const bool wants_closed = is_row(b.command) || b.command == Command::kRefreshAll ||
                                b.command == Command::kSelfRefresh;
      if (a.command == Command::kPrecharge && wants_closed) add(s_.trp, "tRP");
      if (a.command == Command::kPrechargeAll && wants_closed) add(s_.trpab, "tRPab");
      if (a.command == Command::kRefreshBank && wants_closed) add(s_.trfc_pb, "tRFCpb");
      if (a.command == Command::kRefreshAll && (wants_closed || is_precharge(b.command)))
        add(s_.trfc, "tRFCab");
    }
    if (a.command == Command::kRefreshBank && b.command == Command::kRefreshBank)
      add(s_.trfc_pb, "tRFCpb");
    if (b.command == Command::kPowerDown || b.command == Command::kSelfRefresh) {
      if (a.command == Command::kRead) add(read_end, "data before sleep");
      if (a.command == Command::kWrite) add(write_end + s_.twr, "write recovery before sleep");
    }
    if (a.command == Command::kPowerDown) add(s_.tcke, "tCKE");
    if (a.command == Command::kSelfRefresh) add(s_.tsr, "tSR");
    if (a.command == Command::kPowerDownExit) add(s_.txp, "tXP");
    if (a.command == Command::kSelfRefreshExit) add(s_.txsr, "tXSR");
  }

  void distances(std::size_t i, std::vector<std::string>& out) const {
    const TraceEntry& b = trace_[i];
    if (i > 0 && trace_[i - 1].at > b.at) report(i, "goes back in time", out);
    bool found = false;
    for (std::size_t j = i; j-- > 0 && !found && b.at - trace_[j].at <= reach_;) {
      const TraceEntry& a = trace_[j];
      rules(a, b, [&](Ck distance, const char* why) {
        if (found || b.at - a.at >= distance) return;
        found = true;
        report(i,
               fmt::format("{}: {} after {} at {}, {} are needed", why, b.at - a.at,
                           name(a.command), a.at, distance),
               out);
      });
    }
  }

  void four_activates(std::size_t i, std::vector<std::string>& out) const {
    if (!is_row(trace_[i].command)) return;
    int inside = 0;
    for (std::size_t j = i; j-- > 0 && trace_[i].at - trace_[j].at < s_.tfaw;)
      inside += trace_[j].rank == trace_[i].rank && is_row(trace_[j].command);
    if (inside >= 4) report(i, "tFAW", out);
  }

  void states(std::size_t i, std::vector<std::string>& out) {
    const TraceEntry& e = trace_[i];
    int& asleep =
        asleep_[static_cast<std::size_t>(e.rank)];  // 0 awake, 1 power-down, 2 self-refresh
    const auto row = [&](int bank) -> std::int64_t& {
      return rows_[static_cast<std::size_t>(e.rank * s_.banks + bank)];
    };
    const auto any_open = [&] {
      for (int bank = 0; bank < s_.banks; ++bank)
        if (row(bank) >= 0) return true;
      return false;
    };
    const int expected = e.command == Command::kPowerDownExit     ? 1
                         : e.command == Command::kSelfRefreshExit ? 2
                                                                  : 0;
    if (asleep != expected) report(i, "the rank sleeps, or does not", out);
    switch (e.command) {
      case Command::kActivate:
        if (row(e.bank) >= 0) report(i, "a row is open", out);
        row(e.bank) = e.row;
        break;
      case Command::kPrecharge:
        row(e.bank) = -1;
        break;
      case Command::kPrechargeAll:
        for (int bank = 0; bank < s_.banks; ++bank) row(bank) = -1;
        break;
      case Command::kRead:
      case Command::kWrite:
        if (row(e.bank) != e.row) report(i, "its row is not open", out);
        break;
      case Command::kRefreshAll:
      case Command::kSelfRefresh:
        if (any_open()) report(i, "a row is open", out);
        break;
      case Command::kRefreshBank:
        if (row(e.bank) >= 0) report(i, "its row is open", out);
        break;
      default:
        break;
    }
    if (e.command == Command::kPowerDown) asleep = 1;
    if (e.command == Command::kSelfRefresh) asleep = 2;
    if (expected != 0) asleep = 0;
  }

  // At most eight intervals may be owed; per bank, each round takes every bank once. Time in
  // self-refresh does not count.
  void refreshes(int rank, const std::string& refresh, Ck end,
                 std::vector<std::string>& out) const {
    if (refresh != "all_bank" && refresh != "per_bank") return;
    const bool per_bank = refresh == "per_bank";
    const Ck interval = per_bank ? s_.trefi_pb : s_.trefi, most = per_bank ? 8 * s_.banks : 8;
    Ck origin = 0, done = 0;
    std::vector<int> round(static_cast<std::size_t>(s_.banks), 0);
    const auto look = [&](Ck at) {
      if (const Ck owed = (at - origin) / interval - done; owed > most)
        out.push_back(fmt::format("{}: rank {} owes {} refreshes", at, rank, owed));
    };
    bool asleep = false;
    for (const TraceEntry& e : trace_) {
      if (e.rank != rank || out.size() > 20) continue;
      if (!asleep) look(e.at);
      if (e.command == Command::kSelfRefresh) asleep = true;
      if (e.command == Command::kSelfRefreshExit)
        asleep = false, origin = e.at, done = 0, std::fill(round.begin(), round.end(), 0);
      if (e.command == (per_bank ? Command::kRefreshBank : Command::kRefreshAll)) ++done;
      if (e.command != Command::kRefreshBank) continue;
      if (std::exchange(round[static_cast<std::size_t>(e.bank)], 1) == 1)
        out.push_back(fmt::format("{}: bank {} refreshed twice in a round", e.at, e.bank));
      if (std::count(round.begin(), round.end(), 1) == s_.banks)
        std::fill(round.begin(), round.end(), 0);
    }
    if (!asleep) look(end);
  }

  const Spec& s_;
  const std::vector<TraceEntry>& trace_;
  Ck reach_;
  std::vector<std::int64_t> rows_;
  std::vector<int> asleep_;
};

}  // namespace

std::vector<std::string> check_trace(const Spec& spec, const std::vector<TraceEntry>& trace,
                                     const std::string& refresh, Ck end, std::size_t most) {
  std::vector<std::string> out;
  Checker(spec, trace).all(refresh, end, out, most);
  return out;
}

}  // namespace deputy::dram_test

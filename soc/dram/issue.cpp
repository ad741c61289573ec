// The state of banks, ranks and bus after each command.
#include <algorithm>

#include "base/check.h"
#include "soc/dram/controller.h"

namespace deputy::soc::dram {

void Controller::enter(Rank& rank, Power power, Ck at) {
  counters_.state[static_cast<std::size_t>(rank.power)] += at - rank.since;
  rank.power = power;
  rank.since = at;
}

void Controller::close_row(std::int32_t bank, Ck at, Ck recovery) {
  Bank& b = bank_[static_cast<std::size_t>(bank)];
  if (b.row < 0) return;
  b.row = -1;
  b.wanted = 0;
  b.activate_ready = std::max(b.activate_ready, at + recovery);
  --rank_[static_cast<std::size_t>(bank / banks_)].open;
}

void Controller::activated(const Choice& c) {
  const std::int32_t group = c.rank * groups_ + c.bank % groups_;
  Rank& r = rank_[static_cast<std::size_t>(c.rank)];
  r.activate = group_[static_cast<std::size_t>(group)].activate = r.activates[r.activated++ % 4] =
      c.at;
}

void Controller::column(const Choice& c) {
  Entry& e = queue_[static_cast<std::size_t>(c.entry)];
  Bank& b = bank_[static_cast<std::size_t>(e.bank)];
  Rank& r = rank_[static_cast<std::size_t>(e.rank)];
  Group& g = group_[static_cast<std::size_t>(e.group)];
  const Ck data = c.at + (e.write ? spec_.wl : spec_.rl), end = data + spec_.burst_ck;
  (e.write ? r.write : r.read) = (e.write ? g.write : g.read) = c.at;
  b.precharge_ready = std::max(b.precharge_ready, e.write ? end + spec_.twr : c.at + spec_.trtp);
  b.used = c.at;
  r.quiet = std::max(r.quiet, e.write ? end + spec_.twr : end);
  r.idle = std::max(r.idle, end);
  bus_free_ = end;
  if (last_write_ != e.write && counters_.reads + counters_.writes > 0) ++counters_.turnarounds;
  last_write_ = e.write;
  last_rank_ = e.rank;
  ++(e.write ? counters_.writes : counters_.reads);
  ++(e.opened ? (e.conflict ? counters_.conflicts : counters_.misses) : counters_.hits);
  e.opened = false;
  for (std::int32_t i = 0; i < c.entry; ++i) ++queue_[static_cast<std::size_t>(i)].overtaken;
  counters_.overtaken += static_cast<std::uint64_t>(c.entry);

  Request& request = requests_[e.ticket - first_ticket_];
  request.first = std::min(request.first, data);
  request.end = std::max(request.end, end);
  --request.left;
  --queued_bursts_, --waiting_bursts_;
  if (--e.bursts > 0) return;
  --b.wanted;
  --r.queued;
  queue_.erase(queue_.begin() + c.entry);
}

void Controller::issue(const Choice& c) {
  DEPUTY_CHECK(c.at >= command_free_, "two DRAM commands at once");
  now_ = c.at;
  command_free_ = c.at + spec_.command_ck;
  Rank& r = rank_[static_cast<std::size_t>(c.rank)];
  const std::int32_t first = c.rank * banks_;
  if (trace_) {
    const bool of_rank = c.command == Command::kPrechargeAll || c.command == Command::kRefreshAll ||
                         c.command >= Command::kPowerDown;
    const bool has_row = c.command == Command::kActivate || c.command == Command::kRead ||
                         c.command == Command::kWrite;
    trace_->push_back({c.at, c.command, c.rank, of_rank ? -1 : c.bank - first,
                       has_row ? queue_[static_cast<std::size_t>(c.entry)].row : -1});
  }
  switch (c.command) {
    case Command::kRead:
    case Command::kWrite:
      column(c);
      break;
    case Command::kActivate: {
      Entry& e = queue_[static_cast<std::size_t>(c.entry)];
      Bank& b = bank_[static_cast<std::size_t>(c.bank)];
      e.opened = true;
      b.row = e.row;
      b.used = c.at;
      b.activate_ready = c.at + spec_.trc;
      b.column_ready = c.at + spec_.trcd;
      b.precharge_ready = c.at + spec_.tras;
      for (const Entry& other : queue_) b.wanted += other.bank == c.bank && other.row == b.row;
      activated(c);
      ++r.open;
      ++counters_.activates;
      settle(r, c.at);
      break;
    }
    case Command::kPrecharge:
      if (c.entry >= 0) queue_[static_cast<std::size_t>(c.entry)].conflict = true;
      close_row(c.bank, c.at, spec_.trp);
      r.precharge = c.at;
      settle(r, c.at);
      break;
    case Command::kPrechargeAll:
      for (std::int32_t bank = first; bank < first + banks_; ++bank) {
        close_row(bank, c.at, spec_.trpab);  // a bank that was closed already waits, too
        Ck& ready = bank_[static_cast<std::size_t>(bank)].activate_ready;
        ready = std::max(ready, c.at + spec_.trpab);
      }
      r.precharge = c.at;
      settle(r, c.at);
      break;
    case Command::kRefreshAll:
      for (std::int32_t bank = first; bank < first + banks_; ++bank)
        bank_[static_cast<std::size_t>(bank)].activate_ready = c.at + spec_.trfc;
      r.refresh_ready = c.at + spec_.trfc;
      r.quiet = std::max(r.quiet, r.refresh_ready);
      r.due += interval_;
      ++counters_.refreshes;
      break;
    case Command::kRefreshBank:
      bank_[static_cast<std::size_t>(c.bank)].activate_ready = c.at + spec_.trfc_pb;
      activated(c);  // the standards space it like an activate
      r.refresh_ready = c.at + spec_.trfc_pb;
      r.quiet = std::max(r.quiet, r.refresh_ready);
      r.due += interval_;
      r.refreshed |= std::uint64_t{1} << (c.bank - first);
      if (r.refreshed == (std::uint64_t{1} << banks_) - 1) r.refreshed = 0;
      ++counters_.bank_refreshes;
      break;
    case Command::kPowerDown:
      enter(r, r.open > 0 ? Power::kActiveDown : Power::kPrechargedDown, c.at);
      r.down = c.at;
      ++counters_.power_downs;
      break;
    case Command::kPowerDownExit:
      settle(r, c.at);
      r.ready = c.at + spec_.txp;
      break;
    case Command::kSelfRefresh:
      enter(r, Power::kSelfRefresh, c.at);
      r.down = c.at;
      ++counters_.self_refreshes;
      break;
    case Command::kSelfRefreshExit:
      settle(r, c.at);
      r.ready = c.at + spec_.txsr;
      r.refreshed = 0;
      if (refresh_ != Refresh::kNone)
        r.due = c.at;  // the standards ask for one more refresh after it
      break;
  }
}

}  // namespace deputy::soc::dram

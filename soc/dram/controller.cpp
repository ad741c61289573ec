#include "soc/dram/controller.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace deputy::soc::dram {

Controller::Controller(const Spec& spec, const ControllerConfig& config, std::uint64_t bytes)
    : spec_(spec),
      config_(config),
      map_(spec, config.mapping, bytes),
      page_(config.page_policy == "closed"    ? Page::kClosed
            : config.page_policy == "timeout" ? Page::kTimeout
                                              : Page::kOpen),
      refresh_(config.refresh == "none"       ? Refresh::kNone
               : config.refresh == "per_bank" ? Refresh::kBank
                                              : Refresh::kAll),
      groups_(spec.bank_groups),
      banks_(spec.banks),
      burst_shift_(std::countr_zero(static_cast<std::uint32_t>(spec.burst_bytes()))),
      bank_(static_cast<std::size_t>(spec.banks * spec.ranks)),
      group_(static_cast<std::size_t>(spec.bank_groups * spec.ranks)),
      rank_(static_cast<std::size_t>(spec.ranks)) {
  DEPUTY_CHECK(check(spec, config).ok(), "a DRAM device that nobody checked");
  if (refresh_ == Refresh::kAll) interval_ = spec.trefi, postponed_ = config.postpone * interval_;
  if (refresh_ == Refresh::kBank)
    interval_ = spec.trefi_pb, postponed_ = config.postpone * interval_ * banks_;
  for (std::size_t r = 0; r < rank_.size(); ++r)  // staggered: never all ranks at once
    rank_[r].due = refresh_ == Refresh::kNone
                       ? kNever / 2
                       : interval_ + interval_ * static_cast<Ck>(r) / spec.ranks;
}

Controller::Ticket Controller::submit(std::uint64_t offset, std::uint32_t bytes, bool write,
                                      std::uint64_t arrival_ps) {
  const auto tck = static_cast<std::uint64_t>(spec_.tck_ps);
  const Ck arrival = static_cast<Ck>((arrival_ps + tck - 1) / tck);
  const Ticket ticket = first_ticket_ + requests_.size();
  Request& request = requests_.emplace_back();
  const std::size_t begin = incoming_.size();
  const std::uint64_t last = (offset + bytes - 1) >> burst_shift_;
  for (std::uint64_t i = offset >> burst_shift_; i <= last; ++i) {
    const Place place = map_.place(i);
    std::size_t at = begin;
    while (at < incoming_.size() &&
           (incoming_[at].bank != place.bank || incoming_[at].row != place.row))
      ++at;
    if (at < incoming_.size()) {
      ++incoming_[at].bursts;
    } else {
      const std::int32_t rank = place.bank / banks_;
      incoming_.push_back({ticket, arrival, place.row, place.bank, rank,
                           rank * groups_ + place.bank % groups_, 1, 0, write, false, false});
    }
    ++request.left;
  }
  waiting_bursts_ += request.left;
  return ticket;
}

void Controller::advance(std::uint64_t now_ps) {
  const auto now = static_cast<Ck>(now_ps / static_cast<std::uint64_t>(spec_.tck_ps));
  while (step(now)) {
  }
}

Controller::Served Controller::finish(Ticket ticket) {
  while (!decided(ticket)) DEPUTY_CHECK(step(kNever), "a request that waits for nothing");
  Request& request = requests_[ticket - first_ticket_];
  const auto tck = static_cast<std::uint64_t>(spec_.tck_ps);
  const Served out{static_cast<std::uint64_t>(request.first) * tck,
                   static_cast<std::uint64_t>(request.end) * tck};
  request.forgotten = true;
  while (!requests_.empty() && requests_.front().forgotten) requests_.pop_front(), ++first_ticket_;
  return out;
}

std::uint64_t Controller::accepts_at_ps() {
  if (waiting_bursts_ < config_.window) return 0;
  while (waiting_bursts_ >= config_.window)
    DEPUTY_CHECK(step(kNever), "requests that wait for nothing");
  return static_cast<std::uint64_t>(now_) * static_cast<std::uint64_t>(spec_.tck_ps);
}

void Controller::close(std::uint64_t end_ps) {
  advance(end_ps);
  const auto tck = static_cast<std::uint64_t>(spec_.tck_ps);
  counters_.end = std::max(now_, static_cast<Ck>((end_ps + tck - 1) / tck));
  for (Rank& rank : rank_) enter(rank, rank.power, counters_.end);
}

bool Controller::step(Ck horizon) {
  for (;;) {
    while (!incoming_.empty() && incoming_.front().arrival <= now_ && room()) admit();
    const Choice choice = choose();
    if (!incoming_.empty() && room() && incoming_.front().arrival <= choice.at) {
      admit();
      continue;
    }
    if (choice.at >= horizon) return false;
    issue(choice);
    return true;
  }
}

void Controller::admit() {
  const Entry& e = incoming_.front();
  if (Bank& b = bank_[static_cast<std::size_t>(e.bank)]; b.row == e.row) ++b.wanted;
  ++rank_[static_cast<std::size_t>(e.rank)].queued;
  queued_bursts_ += e.bursts;
  queue_.push_back(e);
  incoming_.pop_front();
}

Ck Controller::activate_at(std::int32_t rank, std::int32_t group) const {
  const Rank& r = rank_[static_cast<std::size_t>(rank)];
  return std::max({r.ready, r.activate + spec_.trrd_s,
                   group_[static_cast<std::size_t>(group)].activate + spec_.trrd_l,
                   r.activates[r.activated % 4] + spec_.tfaw});
}

Ck Controller::column_at(const Entry& e, const Bank& b, const Rank& r) const {
  const Group& g = group_[static_cast<std::size_t>(e.group)];
  const bool other_rank = e.rank != last_rank_;
  Ck at = std::max(b.column_ready, r.ready), gap = other_rank ? spec_.trtrs : 0;
  if (e.write) {
    at = std::max({at, r.write + spec_.tccd_s, g.write + spec_.tccd_l});
    if (!last_write_) gap = std::max<Ck>(gap, spec_.trtw_gap);
    return std::max(at, bus_free_ + gap - spec_.wl);
  }
  const Ck written = spec_.wl + spec_.burst_ck;
  at = std::max({at, r.read + spec_.tccd_s, g.read + spec_.tccd_l, r.write + written + spec_.twtr_s,
                 g.write + written + spec_.twtr_l});
  return std::max(at, bus_free_ + gap - spec_.rl);
}

Controller::Choice Controller::choose() const {
  Choice best;
  const auto better = [&](Ck at, const Entry& e, Command command) {
    at = std::max({at, e.arrival, command_free_});
    const bool column = command == Command::kRead || command == Command::kWrite;
    const bool best_column = best.command == Command::kRead || best.command == Command::kWrite;
    if (at < best.at || (at == best.at && column && !best_column))
      best = {at, command, e.rank, e.bank, static_cast<std::int32_t>(&e - queue_.data())};
  };
  std::uint64_t claimed = 0;  // banks whose row an older entry decides
  const bool starved = !queue_.empty() && queue_.front().overtaken >= config_.overtakes;
  for (const Entry& e : queue_) {
    const Rank& r = rank_[static_cast<std::size_t>(e.rank)];
    // Its refresh comes first; out of power-down it is fetched all the same.
    if (refresh_ == Refresh::kAll && refresh_forced(r) && r.power < Power::kActiveDown) continue;
    if (r.power >= Power::kActiveDown) {
      const bool self = r.power == Power::kSelfRefresh;
      better(r.down + (self ? spec_.tsr : spec_.tcke), e,
             self ? Command::kSelfRefreshExit : Command::kPowerDownExit);
      continue;
    }
    const Bank& b = bank_[static_cast<std::size_t>(e.bank)];
    if (b.row == e.row) {
      better(column_at(e, b, r), e, e.write ? Command::kWrite : Command::kRead);
    } else if (const std::uint64_t bit = std::uint64_t{1} << e.bank; !(claimed & bit)) {
      claimed |= bit;
      if (b.row < 0)
        better(std::max(b.activate_ready, activate_at(e.rank, e.group)), e, Command::kActivate);
      else if (b.wanted == 0 || starved)
        better(std::max({b.precharge_ready, r.ready, r.precharge + spec_.tppd}), e,
               Command::kPrecharge);
    }
    if (starved) break;
  }
  for (std::int32_t rank = 0; rank < spec_.ranks; ++rank) keep_house(rank, best);
  return best;
}

// What is not done for a request: refresh, closing rows, sleeping. Goes behind the requests at the
// same clock.
void Controller::keep_house(std::int32_t rank, Choice& best) const {
  const Rank& r = rank_[static_cast<std::size_t>(rank)];
  const bool down = r.power >= Power::kActiveDown;
  if (refresh_ == Refresh::kAll && !down && (r.queued == 0 || refresh_forced(r)))
    refresh_all(rank, refresh_forced(r), best);
  if (refresh_ == Refresh::kBank && !down && (r.queued == 0 || now_ >= r.due))
    refresh_one(rank, best);
  if (page_ != Page::kOpen && !down && r.open > 0)
    for (std::int32_t bank = rank * banks_; bank < (rank + 1) * banks_; ++bank) {
      const Bank& b = bank_[static_cast<std::size_t>(bank)];
      if (b.row < 0 || b.wanted > 0) continue;
      const Ck at = std::max({b.precharge_ready, r.ready, r.precharge + spec_.tppd, command_free_,
                              page_ == Page::kTimeout ? b.used + config_.page_timeout : 0});
      if (at < best.at) best = {at, Command::kPrecharge, rank, bank, -1};
    }
  if (r.queued == 0 && (config_.power_down > 0 || config_.self_refresh > 0)) sleep(rank, best);
}

void Controller::refresh_all(std::int32_t rank, bool forced, Choice& best) const {
  const Rank& r = rank_[static_cast<std::size_t>(rank)];
  Ck at = std::max({forced ? 0 : r.due, r.ready, command_free_});
  for (std::int32_t bank = rank * banks_; bank < (rank + 1) * banks_; ++bank) {
    const Bank& b = bank_[static_cast<std::size_t>(bank)];
    if (r.open == 0) at = std::max(at, b.activate_ready);
    if (b.row >= 0) at = std::max(at, b.precharge_ready);
  }
  at = std::max(at, r.open > 0 ? r.precharge + spec_.tppd : r.refresh_ready);
  if (at < best.at)
    best = {at, r.open > 0 ? Command::kPrechargeAll : Command::kRefreshAll, rank, -1, -1};
}

// A bank that nothing waits for, in rounds that take every bank once; the first of the round when
// it is too late to choose.
void Controller::refresh_one(std::int32_t rank, Choice& best) const {
  const Rank& r = rank_[static_cast<std::size_t>(rank)];
  const bool forced = refresh_forced(r);
  std::uint64_t busy = 0;
  for (const Entry& e : queue_)
    if (e.rank == rank) busy |= std::uint64_t{1} << (e.bank - rank * banks_);
  for (std::int32_t k = 0; k < banks_; ++k) {
    if (r.refreshed >> k & 1) continue;
    if (!forced && (busy >> k & 1)) continue;
    const std::int32_t bank = rank * banks_ + k;
    const Bank& b = bank_[static_cast<std::size_t>(bank)];
    const bool open = b.row >= 0;
    const Ck ready = open ? std::max(b.precharge_ready, r.precharge + spec_.tppd)
                          : std::max({b.activate_ready, r.refresh_ready,
                                      activate_at(rank, rank * groups_ + k % groups_)});
    const Ck at = std::max({r.due, r.ready, ready, command_free_});
    if (at < best.at || (forced && best.bank == bank))
      best = {at, open ? Command::kPrecharge : Command::kRefreshBank, rank, bank, -1};
    return;
  }
}

void Controller::sleep(std::int32_t rank, Choice& best) const {
  const Rank& r = rank_[static_cast<std::size_t>(rank)];
  if (r.power == Power::kSelfRefresh) return;
  const Ck self = config_.self_refresh > 0 ? r.idle + config_.self_refresh : kNever;
  if (r.power >= Power::kActiveDown) {  // out of power-down to refresh, or into self-refresh
    const Ck at = std::max({std::min(self, deadline(r)), r.down + spec_.tcke, command_free_});
    if (at < best.at) best = {at, Command::kPowerDownExit, rank, -1, -1};
    return;
  }
  const Ck settled = std::max({r.quiet, r.ready, command_free_});
  if (config_.power_down > 0) {
    const Ck at = std::max(settled, r.idle + config_.power_down);
    if (at < self && at < r.due && at < best.at)
      best = {at, Command::kPowerDown, rank, -1, -1};  // a refresh that is owed comes first
  }
  if (self >= kNever) return;
  Ck at = std::max(settled, self);
  for (std::int32_t bank = rank * banks_; bank < (rank + 1) * banks_; ++bank) {
    const Bank& b = bank_[static_cast<std::size_t>(bank)];
    at = std::max(at, r.open > 0 ? (b.row >= 0 ? b.precharge_ready : 0) : b.activate_ready);
  }
  if (r.open > 0) at = std::max(at, r.precharge + spec_.tppd);
  if (at < best.at)
    best = {at, r.open > 0 ? Command::kPrechargeAll : Command::kSelfRefresh, rank, -1, -1};
}

}  // namespace deputy::soc::dram

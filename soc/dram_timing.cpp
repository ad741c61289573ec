#include "soc/dram_timing.h"

#include <algorithm>
#include <cmath>

namespace deputy::soc {

DramTiming::DramTiming(const DramConfig& config)
    : config_(config),
      tck_ps_(static_cast<std::uint64_t>(std::llround(config.tck_ns * 1000))),
      burst_bytes_(static_cast<std::uint64_t>(config.width_bits / 8 * config.burst_length)),
      burst_ps_(static_cast<std::uint64_t>(config.burst_length) * tck_ps_ / 2),
      fixed_(config.model == "fixed"),
      banks_(static_cast<std::size_t>(config.banks)),
      next_refresh_(ck(config.trefi)) {}

// Refresh closes every bank. Intervals that passed while the DRAM was idle cost nothing by
// themselves, but the rows are closed all the same.
void DramTiming::refresh_until(std::uint64_t t) {
  if (config_.trefi == 0 || next_refresh_ > t) return;
  const std::uint64_t interval = ck(config_.trefi);
  const std::uint64_t due = (t - next_refresh_) / interval;  // whole intervals beyond the first
  refreshes += due + 1;
  const std::uint64_t last = next_refresh_ + due * interval;
  std::uint64_t start = last;  // an all-bank refresh waits until every bank is precharged
  for (const Bank& bank : banks_)
    start = std::max(start,
                     bank.row >= 0 ? bank.precharge_ready + ck(config_.trp) : bank.activate_ready);
  for (Bank& bank : banks_) {
    bank.row = -1;
    bank.activate_ready = start + ck(config_.trfc);
  }
  next_refresh_ = last + interval;
}

std::uint64_t DramTiming::burst(std::uint64_t index, bool write, std::uint64_t arrival) {
  const std::uint64_t per_row = static_cast<std::uint64_t>(config_.row_bytes) / burst_bytes_;
  const std::uint64_t row_index = index / per_row;
  Bank& bank = banks_[row_index % banks_.size()];
  const auto row = static_cast<std::int64_t>(row_index / banks_.size());
  std::uint64_t column = arrival;
  if (bank.row == row) {
    ++hits;
    column = std::max(column, bank.column_ready);
  } else {
    std::uint64_t activate = std::max(arrival, bank.activate_ready);
    if (bank.row >= 0) {
      ++conflicts;
      activate = std::max(activate, std::max(arrival, bank.precharge_ready) + ck(config_.trp));
    } else {
      ++misses;
    }
    const std::size_t n = last_activates_.size();
    if (activates >= 1)
      activate = std::max(activate, last_activates_[(activates - 1) % n] + ck(config_.trrd));
    if (activates >= n)
      activate = std::max(activate, last_activates_[activates % n] + ck(config_.tfaw));
    last_activates_[activates++ % n] = activate;
    bank.row = row;
    bank.column_ready = activate + ck(config_.trcd);
    bank.precharge_ready = activate + ck(config_.tras);
    column = bank.column_ready;
  }
  if (any_column_) {
    column = std::max(column, last_column_ + ck(config_.tccd));
    if (last_write_ && !write) column = std::max(column, bus_free_ + ck(config_.twtr));
  }
  // The data bus carries one burst at a time, whichever way.
  const std::uint64_t latency = ck(write ? config_.write_latency : config_.read_latency);
  if (column + latency < bus_free_) column = bus_free_ - latency;
  const std::uint64_t data_end = column + latency + burst_ps_;
  last_column_ = column;
  any_column_ = true;
  last_write_ = write;
  bus_free_ = data_end;
  bank.precharge_ready = std::max(bank.precharge_ready,
                                  write ? data_end + ck(config_.twr) : column + ck(config_.trtp));
  return data_end;
}

// A serial flash or a bandwidth-capped port: latency to first data, then whole bursts at the rate.
std::uint64_t DramTiming::fixed(std::uint64_t offset, std::uint32_t bytes, std::uint64_t arrival) {
  const auto line = static_cast<std::uint64_t>(config_.fixed_burst_bytes);
  const std::uint64_t moved = ((offset + bytes - 1) / line - offset / line + 1) * line;
  const auto duration = static_cast<std::uint64_t>(
      std::llround(static_cast<double>(moved) * 1e6 / config_.fixed_mb_per_s));
  const auto latency = static_cast<std::uint64_t>(std::llround(config_.fixed_latency_ns * 1000));
  const std::uint64_t start = std::max(arrival + latency, bus_free_);
  first_data_ = start;
  bus_free_ = start + duration;
  return bus_free_;
}

std::uint64_t DramTiming::access(std::uint64_t offset, std::uint32_t bytes, bool write,
                                 std::uint64_t arrival_ps) {
  if (fixed_) return fixed(offset, bytes, arrival_ps);
  std::uint64_t end = arrival_ps;
  for (std::uint64_t i = offset / burst_bytes_; i <= (offset + bytes - 1) / burst_bytes_; ++i) {
    refresh_until(std::max(arrival_ps, last_column_));
    end = burst(i, write, arrival_ps);
    if (i == offset / burst_bytes_) first_data_ = end - burst_ps_;
  }
  return end;
}

std::uint64_t DramTiming::accepts_at_ps() const {
  const std::uint64_t lead =
      fixed_ ? static_cast<std::uint64_t>(std::llround(config_.fixed_latency_ns * 1000))
             : ck(config_.read_latency) + burst_ps_;
  return bus_free_ > lead ? bus_free_ - lead : 0;
}

}  // namespace deputy::soc

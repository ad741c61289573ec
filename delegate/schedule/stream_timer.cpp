#include "delegate/schedule/stream_timer.h"

#include <algorithm>
#include <cmath>

#include "arch/memory_map.h"
#include "arch/npu_timing.h"

namespace deputy::delegate {

bool StreamTimer::in_sram(const arch::Transfer& t) const {
  return region_in_sram(static_cast<arch::Region>(t.region), io_);
}

// A row is a stretch of its own: whole bursts of a DRAM, and at best one latency for `outstanding` of them.
double StreamTimer::row_cycles(const arch::Transfer& t) const {
  if (in_sram(t))
    return std::max(t.row_bytes / memory_.sram_bytes_per_cycle,
                    memory_.sram_latency_cycles / npu_.dma.outstanding);
  const double bursts = std::ceil(t.row_bytes / memory_.dram_burst_bytes);
  return std::max(bursts * memory_.dram_burst_bytes / memory_.dram_bytes_per_cycle,
                  memory_.dram_latency_cycles / npu_.dma.outstanding);
}

double StreamTimer::duration(const arch::Transfer& t) const {
  const double rows = static_cast<double>(t.rows) * t.planes;
  return npu_.dma.issue_cycles + (in_sram(t) ? memory_.sram_latency_cycles : memory_.dram_latency_cycles) +
         rows * row_cycles(t);
}

double StreamTimer::ready(const Waits& waits) const {
  double at = 0;
  if (waits.load) at = std::max(at, ends_[0][waits.load - 1]);
  if (waits.compute) at = std::max(at, ends_[1][waits.compute - 1]);
  if (waits.store) at = std::max(at, ends_[2][waits.store - 1]);
  return at;
}

double StreamTimer::end() const { return *std::max_element(free_.begin(), free_.end()); }

void StreamTimer::add(const arch::Operation& op, const Waits& waits, std::size_t words) {
  // Commands come over the DRAM's channel, ahead of their use and between other transfers.
  const double fetch = static_cast<double>(words) * 4 / memory_.dram_bytes_per_cycle;
  fetched_ += fetch;
  channel_free_[1] += fetch;
  dispatch_ = std::max(dispatch_, fetched_) + npu_.ctrl.decode_cycles;
  const arch::Queue name = std::visit([](const auto& o) { return o.kQueue; }, op);
  if (name == arch::Queue::kControl) return;
  const auto queue = static_cast<std::size_t>(static_cast<int>(name) - static_cast<int>(arch::Queue::kLoad));
  const auto depth = static_cast<std::size_t>(npu_.ctrl.queue_depth);
  if (starts_[queue].size() >= depth)
    dispatch_ = std::max(dispatch_, starts_[queue][starts_[queue].size() - depth]);

  double start = std::max({free_[queue], ready(waits), dispatch_}), end = start;
  const arch::Transfer* transfer = std::get_if<arch::Load>(&op);
  if (!transfer) transfer = std::get_if<arch::Store>(&op);
  if (transfer) {
    double& channel = channel_free_[!in_sram(*transfer)];
    const double rows = static_cast<double>(transfer->rows) * transfer->planes;
    const double latency = in_sram(*transfer) ? memory_.sram_latency_cycles : memory_.dram_latency_cycles;
    channel = std::max(channel, start + npu_.dma.issue_cycles) + rows * row_cycles(*transfer);
    end = channel + latency;
  } else {
    end = start + static_cast<double>(arch::compute_cost(op, npu_).cycles);
  }
  starts_[queue].push_back(start), ends_[queue].push_back(end);
  free_[queue] = end;
}

}  // namespace deputy::delegate

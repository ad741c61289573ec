#include "delegate/schedule/stream_timer.h"

#include <algorithm>
#include <cmath>

#include "arch/memory_map.h"
#include "arch/npu_timing.h"

namespace deputy::delegate {

std::optional<MovedBytes> moved_bytes(const arch::Operation& op, IoPlacement io) {
  MovedBytes out;
  const auto from = [&](std::uint32_t number) {
    const auto region = static_cast<arch::Region>(number);
    out.sram = region_in_sram(region, io), out.constants = region == arch::Region::kConstants;
  };
  if (const auto* weights = std::get_if<arch::LoadWeights>(&op)) {
    from(weights->region);
    out.bytes = static_cast<double>(weights->stream_bytes),
    out.decoded = static_cast<double>(weights->bytes);
    return out;
  }
  const arch::Transfer* transfer = std::get_if<arch::Load>(&op);
  if (!transfer) transfer = std::get_if<arch::Store>(&op);
  if (!transfer) return std::nullopt;
  from(transfer->region);
  out.stretches = static_cast<double>(transfer->rows) * transfer->planes,
  out.bytes = static_cast<double>(transfer->row_bytes);
  return out;
}

// A row is a stretch of its own: whole bursts of a DRAM, and at best one latency for `outstanding`
// of them. The decoder keeps the port when it is slower.
double StreamTimer::occupancy(const MovedBytes& moved) const {
  double stretch = moved.bytes / memory_.sram_bytes_per_cycle;
  if (!moved.sram)
    stretch = std::ceil(moved.bytes / memory_.dram_burst_bytes) * memory_.dram_burst_bytes /
              memory_.dram_bytes_per_cycle;
  stretch = std::max(stretch, latency(moved.sram) / npu_.dma.outstanding);
  return npu_.dma.issue_cycles +
         std::max(moved.stretches * stretch, moved.decoded / npu_.wdec.bytes_per_cycle);
}

double StreamTimer::ready(const Waits& waits) const {
  double at = 0;
  if (waits.load) at = std::max(at, ends_[0][waits.load - 1]);
  if (waits.compute) at = std::max(at, ends_[1][waits.compute - 1]);
  if (waits.store) at = std::max(at, ends_[2][waits.store - 1]);
  return at;
}

// Returns when it completes.
double StreamTimer::transfer(std::size_t queue, const MovedBytes& moved, double start) {
  const double set_up = start + npu_.dma.issue_cycles,
               alone = occupancy(moved) - npu_.dma.issue_cycles;
  double sent = 0;
  if (moved.sram) {
    const double busy = moved.stretches * std::ceil(moved.bytes / memory_.sram_bytes_per_cycle);
    front_[queue] = sent = sram_.take(queue == 2, set_up, alone, busy);
  } else if (queue == 0 && moved.constants) {
    // It leaves the front end when its port takes it, the others when their last request has left.
    front_[queue] = std::max(set_up, constants_port_);
    constants_port_ = sent = front_[queue] + alone;
  } else {
    double& port = maps_port_[queue == 2];
    front_[queue] = port = sent = std::max(set_up, port) + alone;
  }
  double end = std::max(sent + latency(moved.sram), last_end(queue));
  if (moved.decoded > 0) {
    const double slowest = std::max(set_up, decoder_free_) + npu_.wdec.setup_cycles +
                           moved.decoded / npu_.wdec.bytes_per_cycle;
    end = decoder_free_ = std::max(end, slowest);
  }
  return end;
}

std::optional<StreamTimer::Stall> StreamTimer::add(const arch::Operation& op, const Waits& waits,
                                                   std::size_t words) {
  // Commands come over the DRAM's channel, ahead of their use and between other transfers.
  const double fetch = static_cast<double>(words) * 4 / memory_.dram_bytes_per_cycle;
  fetched_ += fetch;
  constants_port_ += fetch;
  dispatch_ = std::max(dispatch_, fetched_) + npu_.ctrl.decode_cycles;
  const arch::Queue name = std::visit([](const auto& o) { return o.kQueue; }, op);
  if (name == arch::Queue::kControl) return std::nullopt;
  const auto queue =
      static_cast<std::size_t>(static_cast<int>(name) - static_cast<int>(arch::Queue::kLoad));
  const auto depth = static_cast<std::size_t>(npu_.ctrl.queue_depth),
             window = static_cast<std::size_t>(npu_.dma.outstanding);
  std::vector<double>& ends = ends_[queue];
  if (ends.size() >= depth) dispatch_ = std::max(dispatch_, starts_[queue][ends.size() - depth]);

  const double before = front_[queue];
  double start = std::max({before, ready(waits), dispatch_}), end = start;
  if (const auto moved = moved_bytes(op, io_)) {
    if (ends.size() >= window) start = std::max(start, ends[ends.size() - window]);
    end = transfer(queue, *moved, start);
  } else {
    end = front_[queue] = start + static_cast<double>(arch::compute_cost(op, npu_).cycles);
  }
  starts_[queue].push_back(start), ends.push_back(end);
  if (queue != 1 || waits.load == 0) return std::nullopt;
  const double since = std::max({before, ready({0, waits.compute, waits.store}), dispatch_});
  if (since >= start) return std::nullopt;
  return Stall{since, waits.load};
}

}  // namespace deputy::delegate

// When the instructions of a stream would run: the three queues, the command processor that feeds
// them and the ports to the two memories, by the formulas the NPU model follows. Loads and stores
// share the SRAM (codegen/shared_port.h); in program order a store comes before loads that run
// before it, so a time is an estimate; the compiler only chooses by it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "delegate/codegen/hazards.h"
#include "delegate/codegen/shared_port.h"
#include "delegate/compile.h"

namespace deputy::delegate {

/// The memory side of a transfer.
struct MovedBytes {
  bool sram = false;
  bool constants = false;  ///< loads of constants have a port of their own
  double stretches = 1;    ///< contiguous each
  double bytes = 0;        ///< of one stretch
  double decoded = 0;      ///< bytes out of the weight decoder; 0: not through it
};
std::optional<MovedBytes> moved_bytes(const arch::Operation& op, IoPlacement io);

class StreamTimer {
 public:
  StreamTimer(const arch::NpuConfig& npu, const MemoryEstimate& memory,
              IoPlacement io = IoPlacement::kArena)
      : npu_(npu), memory_(memory), io_(io) {}

  /// A computation that waited for LOADs: since when it could have run without them, and the last
  /// of them.
  struct Stall {
    double since = 0;
    std::uint32_t load = 0;  ///< counted from 1
  };
  /// Takes the next instruction of the stream. `words`: its encoded length. The stall is a
  /// computation's.
  std::optional<Stall> add(const arch::Operation& op, const Waits& waits, std::size_t words);

  /// When a load of constants could be sent, as far as the load queue and its port are concerned,
  /// in NPU cycles.
  double constants_free() const { return std::max(front_[0], constants_port_); }
  double compute_free() const { return last_end(1); }
  /// The same for loads from SRAM.
  double maps_free() const { return std::max(front_[0], sram_.free(0)); }
  /// When a store could start, as far as its queue is concerned.
  double stores_free() const { return front_[2]; }
  double load_end(std::uint32_t number) const { return ends_[0][number - 1]; }  ///< counted from 1
  double end() const { return std::max({last_end(0), last_end(1), last_end(2)}); }
  /// When an instruction with these waits could start at the earliest, its queue apart.
  double ready(const Waits& waits) const;
  /// When an instruction added now would reach a queue.
  double dispatched() const { return dispatch_; }
  /// Cycles that a transfer keeps its port busy when nothing disturbs it, set-up included.
  double occupancy(const MovedBytes& moved) const;
  /// From its start to its completion.
  double duration(const MovedBytes& moved) const { return occupancy(moved) + latency(moved.sram); }

 private:
  double latency(bool sram) const {
    return sram ? memory_.sram_latency_cycles : memory_.dram_latency_cycles;
  }
  double last_end(std::size_t queue) const {
    return ends_[queue].empty() ? 0 : ends_[queue].back();
  }
  double transfer(std::size_t queue, const MovedBytes& moved, double start);

  const arch::NpuConfig npu_;
  const MemoryEstimate memory_;
  const IoPlacement io_;
  std::array<double, 3> front_{};            ///< by queue: when the next instruction may start
  SharedPort sram_;                          ///< loads, stores
  double constants_port_ = 0;                ///< the DRAM's, for loads of constants
  std::array<double, 2> maps_port_{};        ///< the DRAM's for other loads, and for stores
  std::array<std::vector<double>, 3> ends_;  ///< by queue and sequence number
  std::array<std::vector<double>, 3> starts_;
  double decoder_free_ = 0, dispatch_ = 0, fetched_ = 0;
};

}  // namespace deputy::delegate

// When the instructions of a stream would run: the three queues, the command processor that feeds them and the
// two memory channels, by the formulas the NPU model follows. Contention within a transfer is not modelled, so a
// time is an estimate; the compiler only chooses by it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "delegate/codegen/hazards.h"
#include "delegate/compile.h"

namespace deputy::delegate {

class StreamTimer {
 public:
  StreamTimer(const arch::NpuConfig& npu, const MemoryEstimate& memory, IoPlacement io = IoPlacement::kArena)
      : npu_(npu), memory_(memory), io_(io) {}

  /// Takes the next instruction of the stream. `words`: its encoded length.
  void add(const arch::Operation& op, const Waits& waits, std::size_t words);

  /// When the load queue has finished all it has been given, in NPU cycles.
  double load_free() const { return free_[0]; }
  double compute_free() const { return free_[1]; }
  double end() const;
  /// When an instruction with these waits could start at the earliest, its queue apart.
  double ready(const Waits& waits) const;
  /// When an instruction added now would reach a queue.
  double dispatched() const { return dispatch_; }
  /// Cycles that a transfer keeps its queue busy when nothing disturbs it.
  double duration(const arch::Transfer& transfer) const;

 private:
  bool in_sram(const arch::Transfer& transfer) const;
  double row_cycles(const arch::Transfer& transfer) const;

  const arch::NpuConfig npu_;
  const MemoryEstimate memory_;
  const IoPlacement io_;
  std::array<double, 3> free_{};                 ///< by queue: load, compute, store
  std::array<std::vector<double>, 3> ends_;      ///< by queue and sequence number
  std::array<std::vector<double>, 3> starts_;
  std::array<double, 2> channel_free_{};         ///< SRAM, DRAM
  double dispatch_ = 0, fetched_ = 0;
};

}  // namespace deputy::delegate

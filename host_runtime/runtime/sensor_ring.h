// The sensor's ring as buffers and fences: frame n is a Buffer that a network's input can be bound
// to, and a fence that the host and the engines can wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host_runtime/hal/sensor_driver.h"
#include "host_runtime/runtime/device.h"

namespace deputy::host_runtime {

struct SensorRingOptions {
  MemoryKind kind = MemoryKind::kDram;
  std::uint32_t frames = 4;  ///< buffers in the ring
  std::uint32_t frame_bytes = 0;
  std::uint32_t period_ns = 0;  ///< 0: each frame as soon as a buffer is free
  bool twos_complement = true;  ///< else offset binary
};

/// One at a time: there is one sensor. Several host threads may use it under a lock of their own.
class SensorRing {
 public:
  /// Allocates the ring and starts the sensor. `device` must outlive it.
  static base::Result<std::unique_ptr<SensorRing>> start(Device& device,
                                                         const SensorRingOptions& options);
  /// Stops the sensor. Nobody may use its buffers any more.
  ~SensorRing();

  /// Over when frame n, counted from 0 over what was not dropped, is in memory.
  Fence ready(std::uint64_t n) const { return Fence(timeline_, n + 1, true); }
  /// Where frame n is or will be, until release(n).
  Buffer& buffer(std::uint64_t n) { return slots_[n % slots_.size()]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
  /// Frame n and all before it are the sensor's again. Takes the time of a register write, and of
  /// cleaning what the CPU wrote there.
  void release(std::uint64_t n);
  std::uint32_t dropped() { return driver_.dropped(); }
  /// Frames that the source did not deliver.
  std::uint32_t missed() { return driver_.missed(); }
  /// Frames written so far.
  std::uint32_t head() { return driver_.head(); }

 private:
  /// The sensor writes there behind the cache's back: whoever lets the CPU read it next invalidates
  /// first.
  static void hand_over(const Buffer& slot) { slot.before_engine(), slot.after_engine_write(); }
  explicit SensorRing(Device& device)
      : device_(device), intc_(device.port()), driver_(device.port(), intc_) {}

  Device& device_;
  IntcDriver intc_;
  SensorDriver driver_;
  std::uint8_t timeline_ = 0;
  bool started_ = false;
  std::uint64_t released_ = 0;  ///< frames before this one are the sensor's
  std::vector<Buffer> slots_;
};

}  // namespace deputy::host_runtime

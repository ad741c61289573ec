// One job of an engine as work in flight: its buffers, what it waits for, its fence. The DMA
// engine's copies and the DSP's programs are made of it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host_runtime/runtime/device.h"

namespace deputy::host_runtime {

class EngineWork : public HostWork {
 public:
  const Fence& fence() const { return fence_; }

  bool advance() override;
  bool done() const override { return !fence_.pending(); }
  std::uint32_t priority() const override { return context_->priority(); }
  std::uint64_t wake_ps() const override { return ~std::uint64_t{0}; }
  std::uint64_t bound_ps() const override;

 protected:
  EngineWork(Device& device, EngineId engine, std::shared_ptr<Context> context)
      : device_(device), engine_(engine), context_(std::move(context)) {}
  /// Maps what is in `reads_`, `writes_` and `commands_`, and takes a timeline. Once, when they and
  /// `entry_` are set.
  base::Status prepare(std::span<const Fence> waits);
  virtual JobLimits limits() const = 0;
  /// The engine did not do it. As it is: the fence fails.
  virtual void give_up(const base::Error& error) { end(error); }
  /// The fence is over; without an error it fails all the same when a buffer that was read is
  /// undefined.
  void end(std::optional<base::Error> error);

  Device& device_;
  EngineId engine_;
  std::shared_ptr<Context> context_;
  arch::QueueEntry entry_;
  std::vector<Buffer> reads_, writes_;  ///< what the job works on
  Buffer commands_;                     ///< its own descriptor or list
  std::vector<Fence> waits_;
  Fence fence_;

 private:
  std::vector<Mapping> mappings_;
  std::shared_ptr<Job> job_;
};

}  // namespace deputy::host_runtime

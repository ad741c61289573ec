// A copy by the DMA engine as work in flight: its descriptor, its job, its fence. When the engine has given it up and the
// policy degrades to the CPU, the CPU copies.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "host_runtime/runtime/device.h"

namespace deputy::host_runtime {

class DmaCopy final : public HostWork {
 public:
  static base::Result<std::shared_ptr<DmaCopy>> make(Device& device, std::shared_ptr<Context> context, Buffer to,
                                                     Buffer from, std::span<const Fence> waits);
  const Fence& fence() const { return fence_; }

  bool advance() override;
  bool done() const override { return !fence_.pending(); }
  std::uint32_t priority() const override { return context_->priority(); }
  std::uint64_t wake_ps() const override { return ~std::uint64_t{0}; }
  std::uint64_t bound_ps() const override;

 private:
  DmaCopy(Device& device, std::shared_ptr<Context> context, Buffer to, Buffer from)
      : device_(device), context_(std::move(context)), to_(std::move(to)), from_(std::move(from)) {}
  JobLimits limits() const;
  void give_up(const base::Error& error);
  bool advance_on_cpu();
  void end(std::optional<base::Error> error);

  Device& device_;
  std::shared_ptr<Context> context_;
  Buffer to_, from_, descriptor_;
  std::vector<Mapping> mappings_;
  std::vector<Fence> waits_;
  std::shared_ptr<Job> job_;
  Fence fence_;
  bool by_cpu_ = false;
};

}  // namespace deputy::host_runtime

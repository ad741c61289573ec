// A copy by the DMA engine. When the engine has given it up and the policy degrades to the CPU, the
// CPU copies.
#pragma once

#include <memory>
#include <span>

#include "host_runtime/runtime/engine_work.h"

namespace deputy::host_runtime {

class DmaCopy final : public EngineWork {
 public:
  static base::Result<std::shared_ptr<DmaCopy>> make(Device& device,
                                                     std::shared_ptr<Context> context, Buffer to,
                                                     Buffer from, std::span<const Fence> waits);

  bool advance() override { return by_cpu_ ? advance_on_cpu() : EngineWork::advance(); }
  std::uint64_t bound_ps() const override;

 private:
  DmaCopy(Device& device, std::shared_ptr<Context> context)
      : EngineWork(device, EngineId::kDma, std::move(context)) {}
  const Buffer& from() const { return reads_[0]; }
  JobLimits limits() const override;
  void give_up(const base::Error& error) override;
  bool advance_on_cpu();

  bool by_cpu_ = false;
};

}  // namespace deputy::host_runtime

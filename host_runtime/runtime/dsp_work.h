// Programs on the DSP: an image of kernels in shared memory, and jobs of them (arch/dsp_job.h) as
// work in flight.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/dsp_image.h"
#include "arch/dsp_job.h"
#include "host_runtime/runtime/engine_work.h"

namespace deputy::host_runtime {

/// An image that was checked and lies in shared memory, where jobs find it. Nobody writes there
/// while a job may run.
class DspFirmware {
 public:
  /// kInput: a damaged file; kConfig: it does not fit this DSP; kHardwareFault: there is none.
  static base::Result<std::shared_ptr<DspFirmware>> load(Device& device,
                                                         const std::vector<std::uint8_t>& file,
                                                         const std::string& name);
  /// Where a kernel begins; kUsage when there is none of this name.
  base::Result<std::uint32_t> entry(const std::string& kernel) const;
  const Buffer& words() const { return words_; }
  std::uint32_t hash() const { return hash_; }

 private:
  arch::DspImage image_;
  Buffer words_;
  std::uint32_t hash_ = 0;
};

/// What a job does: transfers and programs in order, on buffers that are its regions 1, 2, ... in
/// their order.
struct DspTask {
  std::shared_ptr<const DspFirmware> firmware;
  std::vector<arch::DspCommand> commands;
  struct Region {
    Buffer buffer;
    bool reads = false, writes = false;
  };
  std::vector<Region> regions;
  std::uint64_t budget_ps = 1'000'000'000'000;  ///< longer than this and it is stopped

  void load(std::uint8_t region, std::uint32_t offset, std::uint32_t tcm, std::uint32_t bytes);
  void store(std::uint8_t region, std::uint32_t offset, std::uint32_t tcm, std::uint32_t bytes);
  void run(std::uint32_t entry, std::span<const std::uint32_t> arguments);
};

class DspWork final : public EngineWork {
 public:
  /// kUsage: more regions, commands or arguments than a job can have.
  static base::Result<std::shared_ptr<DspWork>> make(Device& device,
                                                     std::shared_ptr<Context> context,
                                                     const DspTask& task,
                                                     std::span<const Fence> waits);

 private:
  DspWork(Device& device, std::shared_ptr<Context> context)
      : EngineWork(device, EngineId::kDsp, std::move(context)) {}
  JobLimits limits() const override;

  std::uint64_t budget_ps_ = 0;
  bool restartable_ = true;
};

}  // namespace deputy::host_runtime

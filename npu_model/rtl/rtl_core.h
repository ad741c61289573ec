// The NPU's compute path and weight decoder as RTL (rtl/), translated to C++ by Verilator: the same
// work as core/executor.h, and the cycles that the RTL took for it. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "arch/npu_config.h"
#include "npu_model/core/compute_path.h"

namespace deputy::npu_model {

/// Its spm() is the banks' bytes, in order of address: written between instructions only.
class RtlCore : public ComputePath {
 public:
  bool measures_time() const override { return true; }
  /// The accumulators that CONV holds between instructions.
  virtual std::span<std::int32_t> accumulators() = 0;
  /// Cycles of the clock so far.
  virtual std::uint64_t cycles() const = 0;
};

/// What a build without the RTL, or the RTL's shapes, do not let `config` be; empty when it can be
/// made.
std::string rtl_refusal(const arch::NpuConfig& config);

/// CHECKs that rtl_refusal has nothing to say.
std::unique_ptr<RtlCore> make_rtl_core(const arch::NpuConfig& config);

}  // namespace deputy::npu_model
